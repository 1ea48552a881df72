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

    /// What was found in the history.
    struct Findings {
        /// The latest changes that are meant.
        let entries: [HistoryEntry]
        /// Whether there are changes of the table, whoever made them, and whenever; true where none is named.
        let hasTable: Bool
        /// The same of the row.
        let hasRow: Bool
    }

    private func isOfTable(_ entry: HistoryEntry) -> Bool {
        table.map { entry.table.isSameIdentifier(as: $0) } ?? true
    }

    private func isOfRow(_ entry: HistoryEntry) -> Bool {
        key.map { entry.key.lowercased().hasPrefix($0.lowercased()) } ?? true
    }

    /// Whether a change is meant.
    private func contains(_ entry: HistoryEntry) -> Bool {
        if let sinceMilliseconds, entry.milliseconds < sinceMilliseconds { return false }
        guard isOfTable(entry), isOfRow(entry) else { return false }
        guard let replica else { return true }
        return replica == "here" ? entry.isLocal : entry.replica.description.hasPrefix(replica.lowercased())
    }

    /// Looks for the latest changes that are meant.
    ///
    /// The history is read in growing parts, for most questions are about its end. Where nothing is found, the rest tells
    /// whether the table and the row are known.
    func findings(in synchronizer: Synchronizer, limit: Int) throws -> Findings {
        var size = isEmpty ? limit : max(limit, 1000)
        while true {
            try Interruption.check()
            let entries = try synchronizer.history(limit: size)
            let found = Array(entries.filter(contains).prefix(limit))
            let findings = Findings(
                entries: found, hasTable: table == nil || entries.contains(where: isOfTable),
                hasRow: key == nil || entries.contains(where: isOfRow))
            let isAtEnd = entries.count < size || isEmpty
            let isPast = sinceMilliseconds.map { (entries.last?.milliseconds ?? .min) < $0 } ?? false
            if found.count == limit || isAtEnd { return findings }
            if isPast, findings.hasTable, findings.hasRow { return findings }
            size = size > Int.max / 8 ? Int.max : size * 8
        }
    }
}
