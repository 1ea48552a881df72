import SyncWire

/// The model: what the rows of a database are, as a pure function of the changes that are known.
///
/// It shares no code with the engine's merge. A change is a write of a whole row, of one column, or
/// a deletion, with the life of the row that it belongs to. Of a row,
/// 1. only the changes of its latest life count, which is odd while the row exists;
/// 2. the last write of the whole row is its base;
/// 3. each column has the value that was written last, by the base and by later writes of the column:
///    one that the base's writer does not have is at its default until it is written;
/// 4. later means a greater (timestamp, replica);
/// 5. a counter shows that value, and if it is an integer, every increment of this life on top of it,
///    once, modulo 2⁶⁴.
struct MergedState {
    /// A write that somebody made.
    struct Change {
        enum Content {
            /// The whole row.
            case row([String: ModelValue])
            /// One column.
            case column(String, ModelValue)
            /// What a counter was counted on by, in the share of a replica. A file that goes on under
            /// another identity tells of its increments again.
            case count(String, share: String, [Increment])
            /// The end of the life.
            case deletion
        }

        /// What somebody added to a counter, once and for all.
        struct Increment: Hashable {
            let number: Int
            let value: Int64
        }

        let key: ModelKey
        let life: Int64
        var stamp: Stamp
        let content: Content
        /// What its writer knew.
        let known: ChangeSet

        /// The value that it gives a column.
        func value(_ column: String) -> ModelValue? {
            switch content {
            case .row(let values): values[column]
            case .column(let name, let value): name == column ? value : nil
            case .deletion, .count: nil
            }
        }

        /// The columns that it writes.
        var values: [String: ModelValue] {
            switch content {
            case .row(let values): values
            case .column(let name, let value): [name: value]
            case .deletion, .count: [:]
            }
        }

        var isWhole: Bool {
            switch content {
            case .row, .deletion: true
            case .column, .count: false
            }
        }
    }

    /// A value and who wrote it.
    struct Cell: Equatable {
        var stamp: Stamp
        var value: ModelValue
    }

    /// What a replica has added to a counter.
    struct Share: Equatable {
        let column: String
        var stamp: Stamp
        var increments: Set<Change.Increment> = []
    }

    /// A row, or the grave of one.
    struct Row: Equatable {
        var life: Int64
        var base: Stamp
        /// The values, those of counters without what was added.
        var cells: [String: Cell] = [:]
        /// The shares of counters, by the names of their columns.
        var shares: [String: Share] = [:]

        var isAlive: Bool { life & 1 == 1 }

        /// The stamps that say everything of it: its base, and what was written later.
        var stamps: Set<Stamp> {
            Set(cells.values.map(\.stamp)).union(shares.values.map(\.stamp)).union([base])
        }

        /// What was added to a counter.
        func count(_ column: String) -> Int64 {
            let increments = shares.values.filter { $0.column == column }.reduce(into: Set()) {
                $0.formUnion($1.increments)
            }
            return increments.reduce(0) { $0 &+ $1.value }
        }

        /// The values as a table shows them.
        var shown: [String: ModelValue] {
            var shown = cells.mapValues(\.value)
            for column in Set(shares.values.map(\.column)) {
                if case .integer(let number) = shown[column] ?? .integer(0) {
                    shown[column] = .integer(number &+ count(column))
                }
            }
            return shown
        }
    }

    private(set) var rows: [ModelKey: Row] = [:]

    /// Merges changes, in whatever order they are.
    init(_ changes: some Sequence<Change>) {
        for (key, all) in Dictionary(grouping: changes, by: \.key) {
            let life = all.map(\.life).max() ?? 0
            let latest = all.filter { $0.life == life }
            guard let base = latest.filter(\.isWhole).map(\.stamp).max(by: { $1.isNewer(than: $0) }) else {
                continue
            }
            var row = Row(life: life, base: base)
            for change in latest where !base.isNewer(than: change.stamp) {
                for (column, value) in change.values {
                    if let other = row.cells[column], !change.stamp.isNewer(than: other.stamp) { continue }
                    row.cells[column] = Cell(stamp: change.stamp, value: value)
                }
            }
            for change in latest {
                guard case .count(let column, let name, let increments) = change.content else { continue }
                var share = row.shares[name] ?? Share(column: column, stamp: change.stamp)
                if change.stamp.isNewer(than: share.stamp) { share.stamp = change.stamp }
                share.increments.formUnion(increments)
                row.shares[name] = share
            }
            rows[key] = row
        }
    }

    /// The newest timestamp, up to a bound, of what somebody has to be told.
    ///
    /// - parameter base: What is known of a table there.
    func newestTimestamp(beyond base: (String) -> VersionVector, upTo bound: Int64) -> Int64 {
        var newest: Int64 = 0
        for (key, row) in rows {
            let base = base(key.table)
            // Of a row that was written as a whole, all is sent, and so also what was known.
            let isWhole = !base.contains(row.base)
            for stamp in row.stamps
            where (isWhole || !base.contains(stamp)) && stamp.timestamp.rawValue <= bound {
                newest = max(newest, stamp.timestamp.rawValue)
            }
        }
        return newest
    }
}
