import SyncWire

/// The model: what the rows of a database are, as a pure function of the changes that are known.
///
/// It shares no code with the engine's merge. A change is a write of a whole row, of one column, or
/// a deletion, with the life of the row that it belongs to. Of a row,
/// 1. only the changes of its latest life count, which is odd while the row exists;
/// 2. the last write of the whole row is its base;
/// 3. each column has the value that was written last, by whole-row writes and writes of the column;
/// 4. later means a greater (timestamp, replica).
struct MergedState {
    /// A write that somebody made.
    struct Change {
        enum Content {
            /// The whole row.
            case row([String: ModelValue])
            /// One column.
            case column(String, ModelValue)
            /// The end of the life.
            case deletion
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
            case .deletion: nil
            }
        }

        /// The columns that it writes.
        var values: [String: ModelValue] {
            switch content {
            case .row(let values): values
            case .column(let name, let value): [name: value]
            case .deletion: [:]
            }
        }

        var isWhole: Bool {
            if case .column = content { return false }
            return true
        }
    }

    /// A value and who wrote it.
    struct Cell: Equatable {
        var stamp: Stamp
        var value: ModelValue
    }

    /// A row, or the grave of one.
    struct Row: Equatable {
        var life: Int64
        var base: Stamp
        var cells: [String: Cell] = [:]

        var isAlive: Bool { life & 1 == 1 }

        /// The stamps that say everything of it: its base, and what was written later.
        var stamps: Set<Stamp> { Set(cells.values.map(\.stamp)).union([base]) }
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
            for change in latest {
                for (column, value) in change.values {
                    if let other = row.cells[column], !change.stamp.isNewer(than: other.stamp) { continue }
                    row.cells[column] = Cell(stamp: change.stamp, value: value)
                }
            }
            rows[key] = row
        }
    }

    /// The newest timestamp, up to a bound, of what somebody who knows `base` has to be told.
    func newestTimestamp(beyond base: VersionVector, upTo bound: Int64) -> Int64 {
        var newest: Int64 = 0
        for row in rows.values {
            for stamp in row.stamps where !base.contains(stamp) && stamp.timestamp.rawValue <= bound {
                newest = max(newest, stamp.timestamp.rawValue)
            }
        }
        return newest
    }
}
