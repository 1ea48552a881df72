import SyncWire

/// Rows that go to a remote as a repair: all at once, and in portions where it finds that too much.
///
/// A portion is whole rows with all of their versions. So both sides come to the same whatever the portions are, and what
/// was taken in before a portion failed is right.
struct RepairPortions {
    private let rows: [StateRows]
    /// How many rows go at once.
    private var countMax = Int.max
    /// The first row that has not gone yet: its table, and its place among the keys.
    private var position = (table: 0, key: 0)
    /// Where the last portion began, and how many rows it had.
    private var last = (position: (table: 0, key: 0), count: 0)
    private var hasAskedForMoreTime = false

    init(_ rows: [StateRows]) {
        self.rows = rows
    }

    /// - returns: nil when all have gone.
    mutating func next() -> [StateRows]? {
        last = (position, 0)
        var portion: [StateRows] = []
        while position.table < rows.count, last.count < countMax {
            let table = rows[position.table]
            let end = min(table.keys.count, position.key.addingSaturated(countMax - last.count))
            if position.key < end {
                portion.append(StateRows(table: table.table, keys: Array(table.keys[position.key..<end])))
                last.count += end - position.key
            }
            position = end < table.keys.count ? (position.table, end) : (position.table + 1, 0)
        }
        assert(last.count <= countMax && last.count == portion.reduce(0) { $0 + $1.keys.count })
        return portion.isEmpty ? nil : portion
    }

    /// Begins the last portion again, with an eighth of its rows; when it had only one, the remote is asked for more time.
    ///
    /// - returns: Whether that can help.
    mutating func divide(for remote: any SyncPeer) -> Bool {
        if last.count > 1 {
            countMax = max(1, last.count / 8)
        } else {
            guard !hasAskedForMoreTime, let remote = remote as? any PacedPeer else { return false }
            remote.askForMoreTime()
            hasAskedForMoreTime = true
        }
        position = last.position
        return true
    }
}
