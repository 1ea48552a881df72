import CipherStore

/// What a store knows of its snapshot in a mailbox: a setting, of no use to copies of the file.
struct SnapshotRecord: Equatable {
    private static let prefix = "snapshot "

    /// The name of the file.
    let name: String
    /// The SHA-256 of the file that was written, in hexadecimal digits.
    let sha256: String
    /// When the file was last known to be that one.
    let checkedMilliseconds: Int64

    /// Reads what is known; nil for nothing.
    ///
    /// - parameter mailbox: The name of the mailbox.
    static func load(_ db: Database, mailbox: String) throws -> SnapshotRecord? {
        let words = try SyncSetting.text(db, prefix + mailbox)?.split(separator: " ") ?? []
        guard words.count == 3, let checked = Int64(words[2]) else { return nil }
        return SnapshotRecord(
            name: String(words[0]), sha256: String(words[1]), checkedMilliseconds: checked)
    }

    /// Keeps it, in the place of what was known before.
    ///
    /// - parameter mailbox: The name of the mailbox.
    func save(_ db: Database, mailbox: String) throws {
        try SyncSetting.set(db, Self.prefix + mailbox, "\(name) \(sha256) \(checkedMilliseconds)")
    }

    /// Forgets all.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }
}
