/// Prepared statements by their SQL.
///
/// The cache is bounded: when it is full, half of the statements that were not
/// used since the last round go.
struct StatementCache {
    private struct Entry {
        let statement: Statement
        var isUsed: Bool
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(sql: String) -> Statement? {
        mutating get {
            entries[sql]?.isUsed = true
            return entries[sql]?.statement
        }
        set {
            guard let newValue else {
                entries[sql] = nil
                return
            }
            if entries.count >= capacity { evict() }
            entries[sql] = Entry(statement: newValue, isUsed: true)
        }
    }

    mutating func removeAll() {
        entries.removeAll()
    }

    private mutating func evict() {
        let unused = entries.filter { !$0.value.isUsed }.keys
        for sql in unused.prefix(capacity / 2) { entries[sql] = nil }
        for sql in entries.keys { entries[sql]?.isUsed = false }
        if entries.count >= capacity { entries.removeAll() }
    }
}
