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
    /// What the mailbox called the file when it was that one; nil where that is not known.
    let version: String?

    /// What a mailbox calls a version of a file, if that can be kept.
    static func usable(_ version: String?) -> String? {
        guard let version, (1...256).contains(version.utf8.count),
            version.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return version
    }

    /// Reads what is known; nil for nothing.
    ///
    /// - parameter mailbox: The name of the mailbox.
    static func load(_ db: Database, mailbox: String) throws -> SnapshotRecord? {
        let words = try SyncSetting.text(db, prefix + mailbox)?.split(separator: " ") ?? []
        guard (3...4).contains(words.count), let checked = Int64(words[2]) else { return nil }
        return SnapshotRecord(
            name: String(words[0]), sha256: String(words[1]), checkedMilliseconds: checked,
            version: words.count > 3 ? String(words[3]) : nil)
    }

    /// Keeps it, in the place of what was known before.
    ///
    /// - parameter mailbox: The name of the mailbox.
    func save(_ db: Database, mailbox: String) throws {
        let words = [name, sha256, "\(checkedMilliseconds)"] + [version].compactMap { $0 }
        try SyncSetting.set(db, Self.prefix + mailbox, words.joined(separator: " "))
    }

    /// Forgets all.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }
}
