/// Prepared statements by their SQL.
///
/// The cache is bounded: when it is full, half of the statements that were not
/// used since the last round go.
struct StatementCache {
    /// An object, so that noting a use needs no second look into the dictionary.
    private final class Entry {
        let sql: String
        let statement: Statement
        var isUsed = true

        init(_ sql: String, _ statement: Statement) {
            self.sql = sql
            self.statement = statement
        }
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(sql: String) -> Statement? {
        get {
            // Strings are equal when they look the same; SQLite tells their bytes apart.
            guard let entry = entries[sql], entry.sql.utf8.elementsEqual(sql.utf8) else { return nil }
            entry.isUsed = true
            return entry.statement
        }
        set {
            guard let newValue else {
                entries[sql] = nil
                return
            }
            if entries.count >= capacity { evict() }
            entries[sql] = Entry(sql, newValue)
        }
    }

    mutating func removeAll() {
        entries.removeAll()
    }

    private mutating func evict() {
        let unused = entries.filter { !$0.value.isUsed }.keys
        for sql in unused.prefix(capacity / 2) { entries[sql] = nil }
        for entry in entries.values { entry.isUsed = false }
        if entries.count >= capacity { entries.removeAll() }
    }
}
