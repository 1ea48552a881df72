import SyncEngine

/// Which changes of the history are meant.
struct HistoryFilter {
    /// The table, as it is called.
    let table: String?
    /// The beginning of the row's key.
    let key: String?
    /// The beginning of a replica's identifier, or `here`.
    let replica: String?
    /// The earliest moment.
    let sinceMilliseconds: Int64?

    private var isEmpty: Bool { table == nil && key == nil && replica == nil && sinceMilliseconds == nil }

    /// Whether a change is meant.
    func contains(_ entry: HistoryEntry) -> Bool {
        if let sinceMilliseconds, entry.milliseconds < sinceMilliseconds { return false }
        if let table, !entry.table.isSameIdentifier(as: table) { return false }
        if let key, !entry.key.lowercased().hasPrefix(key.lowercased()) { return false }
        guard let replica else { return true }
        return replica == "here" ? entry.isLocal : entry.replica.description.hasPrefix(replica.lowercased())
    }

    /// The latest changes that are meant.
    ///
    /// The history is read in growing parts, for most questions are about its end.
    func entries(of synchronizer: Synchronizer, limit: Int) throws -> [HistoryEntry] {
        var size = isEmpty ? limit : max(limit, 1000)
        while true {
            try Interruption.check()
            let entries = try synchronizer.history(limit: size)
            let found = entries.filter(contains).prefix(limit)
            let isAtEnd = entries.count < size || isEmpty
            let isPast = sinceMilliseconds.map { (entries.last?.milliseconds ?? .min) < $0 } ?? false
            if found.count == limit || isAtEnd || isPast { return Array(found) }
            size = size > Int.max / 8 ? Int.max : size * 8
        }
    }
}
