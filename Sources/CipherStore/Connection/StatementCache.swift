/// Prepared statements by their SQL.
///
/// The cache is bounded: when it is full, half of the statements that were not
/// used since the last round go.
struct StatementCache {
    /// An object, so that noting a use needs no second look into the dictionary.
    private final class Entry {
        let sql: String
        /// Nil while it is handed out.
        var statement: Statement?
        var isUsed = true

        init(_ sql: String, _ statement: Statement) {
            self.sql = sql
            self.statement = statement
        }
    }

    /// The entries that were found last, one for each of some lengths of texts: to hash a text takes longer than to
    /// compare it.
    private final class RecentEntries {
        private static let slotCount = 32

        private var entries = [Entry?](repeating: nil, count: slotCount)

        subscript(sql: String) -> Entry? {
            get {
                guard let entry = entries[Self.slot(of: sql)], entry.sql.hasSameBytes(as: sql) else {
                    return nil
                }
                return entry
            }
            set { entries[Self.slot(of: sql)] = newValue }
        }

        private static func slot(of sql: String) -> Int { sql.utf8.count & (slotCount - 1) }

        func removeAll() {
            for index in entries.indices { entries[index] = nil }
        }
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private let recent = RecentEntries()

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(sql: String) -> Statement? {
        get { entry(of: sql)?.statement }
        set {
            recent[sql] = nil
            guard let newValue else {
                entries[sql] = nil
                return
            }
            if entries.count >= capacity { evict() }
            entries[sql] = Entry(sql, newValue)
        }
    }

    private func entry(of sql: String) -> Entry? {
        if let entry = recent[sql] {
            entry.isUsed = true
            return entry
        }
        // Strings are equal when they look the same; SQLite tells their bytes apart.
        guard let entry = entries[sql], entry.sql.hasSameBytes(as: sql) else { return nil }
        entry.isUsed = true
        recent[sql] = entry
        return entry
    }

    /// Hands out the statement of a text, and keeps its place.
    func take(_ sql: String) -> Statement? {
        guard let entry = entry(of: sql) else { return nil }
        defer { entry.statement = nil }
        return entry.statement
    }

    /// Puts a statement into the place of its text, if that is there and empty.
    ///
    /// - returns: Whether it was.
    func putBack(_ sql: String, _ statement: Statement) -> Bool {
        guard let entry = entry(of: sql), entry.statement == nil else { return false }
        entry.statement = statement
        return true
    }

    mutating func removeAll() {
        entries.removeAll()
        recent.removeAll()
    }

    private mutating func evict() {
        recent.removeAll()
        let unused = entries.filter { !$0.value.isUsed }.keys
        for sql in unused.prefix(capacity / 2) { entries[sql] = nil }
        for entry in entries.values { entry.isUsed = false }
        if entries.count >= capacity { entries.removeAll() }
    }
}
