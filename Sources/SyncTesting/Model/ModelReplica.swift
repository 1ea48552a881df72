import SyncWire

/// What the model expects of one replica: how far it knows which replica, its clock, and what was
/// written to it since its last fold.
///
/// Stamps are predicted, not read: the timestamp of a change is
/// `max(clock + 1, min(time of the write, time of the fold) << 16)`, and above the stamps that it
/// replaces. The engine's stamps are compared with these.
struct ModelReplica {
    /// An entry of the log.
    struct Entry: Equatable {
        enum Operation: Equatable {
            case insert
            case update(Set<String>)
            /// An update by a migration, which is stamped just above what it replaces.
            case rewrite(Set<String>)
            case delete

            /// The columns that were written, when the row was there before and after.
            var columns: Set<String> {
                switch self {
                case .update(let names), .rewrite(let names): names
                default: []
                }
            }
        }

        let sequence: Int64
        let key: ModelKey
        let operation: Operation
        var milliseconds: Int64

        var isTurn: Bool { operation == .insert || operation == .delete }
    }

    /// What it holds of a table of which it holds some rows only.
    struct Partial {
        /// The values of the rows that it wants; nil for all.
        let wanted: Set<ModelValue>?
        /// How often it asked for something else, or got it.
        var revision: Int64
        /// The rows that left by what others wrote, and wait until somebody has what was written here.
        var left: Set<ModelKey> = []
    }

    private(set) var id: ReplicaID
    var vector: VersionVector
    /// What it knows of single tables beyond that.
    var parts: [String: VersionVector] = [:]
    /// The rows that it holds, when these are not all.
    var partial: Partial?
    private(set) var clock: Int64
    /// The last log entry that is part of the vector.
    private(set) var folded: Int64
    /// The changes that it knows.
    var known = ChangeSet()
    /// Those of them that belong to rows whose deletion was forgotten.
    var forgotten = ChangeSet()
    /// The entries after that one.
    private(set) var pending: [Entry] = []

    /// The furthest that a stamp can be ahead of a clock and move it.
    static let skewMillisecondsMax: Int64 = 10 * 60 * 1000

    init(id: ReplicaID, vector: VersionVector, clock: Int64, folded: Int64) {
        self.id = id
        self.vector = vector
        self.clock = clock
        self.folded = folded
    }

    /// What it knows of a table.
    func vector(of table: String) -> VersionVector {
        guard let part = parts[table.identifierKey] else { return vector }
        var joined = vector
        joined.join(part)
        return joined
    }

    /// What it knows once its log is folded, as it is before a bundle is applied.
    var vectorAfterFold: VersionVector {
        var vector = vector
        if let last = pending.last { vector[id] = last.sequence }
        return vector
    }

    /// Notes what a transaction wrote.
    mutating func append(_ entries: [Entry]) { pending += entries }

    /// Gives versions to what was written.
    ///
    /// - parameters:
    ///     - state: What the replica knew.
    ///     - rows: The values of its tables.
    ///     - columns: The columns of its tables.
    ///     - counters: Those that count.
    ///     - now: The time of the program that folds.
    ///     - increment: Makes an increment.
    ///     - writersKnown: What the writer of a row's change knew.
    /// - returns: The changes.
    mutating func fold(
        _ state: MergedState, _ rows: ModelRows, columns: [String: Set<String>],
        counters: [String: Set<String>], now: Int64, increment: (Int64) -> MergedState.Change.Increment,
        writersKnown: (ModelKey, Stamp) -> ChangeSet
    ) -> [MergedState.Change] {
        guard let last = pending.last else { return [] }
        let floor = clock + 1
        func timestamp(_ entry: Entry) -> Int64 { max(floor, min(entry.milliseconds, now) << 16) }
        let known = known
        var changes: [MergedState.Change] = []
        func add(
            _ key: ModelKey, _ life: Int64, _ time: Int64, _ sequence: Int64,
            _ content: MergedState.Change.Content, known other: ChangeSet? = nil
        ) {
            let stamp = Stamp(timestamp: HybridTimestamp(rawValue: time), replica: id, sequence: sequence)
            changes.append(.init(key: key, life: life, stamp: stamp, content: content, known: other ?? known))
        }
        for (key, entries) in Dictionary(grouping: pending, by: \.key).sorted(by: { $0.key < $1.key }) {
            guard let entry = entries.last else { continue }
            let row = state.rows[key]
            let isAlive = entry.operation != .delete
            let turns = Int64(entries.count { $0.isTurn })
            let replaced = (row?.stamps.map(\.timestamp.rawValue).max() ?? -1) + 1
            guard let row, turns == 0, row.isAlive == isAlive else {
                // Nobody saw a row that came and went between two folds.
                guard row != nil || isAlive else { continue }
                var life = (row?.life ?? 0) + turns
                if (life & 1 == 1) != isAlive { life += 1 }
                // A deletion that is re-issued replaces nothing that its writer did not know.
                if let row, !row.isAlive, !isAlive, turns == 1 {
                    add(
                        key, row.life, max(timestamp(entry), replaced), entry.sequence, .deletion,
                        known: writersKnown(key, row.base))
                    continue
                }
                let values = Self.values(rows[key] ?? [:], beside: row, columns[key.table] ?? [])
                add(
                    key, life, max(timestamp(entry), replaced), entry.sequence,
                    isAlive ? .row(values) : .deletion)
                continue
            }
            for (name, entry) in Self.columns(entries) {
                let isCounter = counters[key.table]?.contains(name) == true
                guard
                    let (stamp, content) = content(
                        entry, name, row, rows[key]?[name] ?? .null, isCounter: isCounter, increment)
                else { continue }
                let replaced = max(row.base.timestamp.rawValue, stamp?.timestamp.rawValue ?? 0) + 1
                let isRewrite = entry.operation == .rewrite(entry.operation.columns)
                add(
                    key, row.life, isRewrite ? replaced : max(timestamp(entry), replaced), entry.sequence,
                    content)
            }
        }
        let newest = pending.map(\.milliseconds).max() ?? 0
        let bound = (now + Self.skewMillisecondsMax) << 16
        let stamps = changes.map(\.stamp.timestamp.rawValue).filter { $0 <= bound }
        clock = max(floor, min(newest, now) << 16, stamps.max() ?? 0)
        folded = last.sequence
        vector[id] = folded
        pending = []
        return changes
    }

    /// The values of a row that is written as a whole. Columns that are not here are not written by whoever replaces it.
    private static func values(
        _ values: [String: ModelValue], beside row: MergedState.Row?, _ columns: Set<String>
    ) -> [String: ModelValue] {
        guard let row, row.isAlive else { return values }
        let others = row.cells.filter { !columns.contains($0.key) }.mapValues(\.value)
        return values.merging(others) { $1 }
    }

    /// The columns that entries of a row write, with the last entry of each.
    private static func columns(_ entries: [Entry]) -> [(String, Entry)] {
        var writes: [String: Entry] = [:]
        for entry in entries {
            for name in entry.operation.columns { writes[name] = entry }
        }
        return writes.sorted { $0.key < $1.key }
    }

    /// What a write of a column is, and the stamp that it replaces; nil when it changes nothing.
    private func content(
        _ entry: Entry, _ name: String, _ row: MergedState.Row, _ value: ModelValue, isCounter: Bool,
        _ increment: (Int64) -> MergedState.Change.Increment
    ) -> (replaced: Stamp?, content: MergedState.Change.Content)? {
        guard isCounter, case .integer(let shown) = value else {
            return (row.cells[name]?.stamp, .column(name, value))
        }
        let added = shown &- row.count(name)
        let isRewrite = entry.operation == .rewrite(entry.operation.columns)
        guard !isRewrite, case .integer(let base)? = row.cells[name]?.value else {
            // What replaces no number is written, not added.
            return (row.cells[name]?.stamp, .column(name, .integer(added)))
        }
        guard added != base else { return nil }
        let share = "\(name)+\(id)"
        return (row.shares[share]?.stamp, .count(name, share: share, [increment(added &- base)]))
    }

    /// Goes on under another identity.
    ///
    /// - parameter folded: The number of a change that holds what moved to it.
    mutating func renew(as id: ReplicaID, folded: Int64?) {
        self.id = id
        guard let folded else { return }
        self.folded = folded
        vector[id] = folded
    }

    /// Moves the clock to the newest stamp that came.
    mutating func adopt(_ timestamp: Int64) { clock = max(clock, timestamp) }
}
