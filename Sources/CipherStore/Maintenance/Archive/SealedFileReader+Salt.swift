extension SealedFileReader {
    /// The salt of a file that a passphrase opens, which tells the group that it belongs to; nil for any other file. The file
    /// stays at its start, and nothing of that is authentic yet.
    ///
    /// - throws: What the source throws.
    package static func salt(of source: any ByteSource) throws -> [UInt8]? {
        guard case .passphrase(_, let salt, _)? = try stanza(of: source) else { return nil }
        return salt
    }

    /// What the key of a file depends on beside the passphrase: files for which it is equal cost one derivation together. nil for
    /// a file that no passphrase opens. As of ``salt(of:)``, the file stays at its start, and nothing is authentic.
    ///
    /// - throws: What the source throws.
    package static func derivation(of source: any ByteSource) throws -> [UInt8]? {
        guard case .passphrase(let cost, let salt, _)? = try stanza(of: source) else { return nil }
        return [UInt8(truncatingIfNeeded: cost.logN)] + salt
    }

    /// Whether a file is locked for a recipient, so that no passphrase opens it. The file stays at its start.
    ///
    /// - throws: What the source throws.
    package static func isForRecipient(_ source: any ByteSource) throws -> Bool {
        guard case .recipient? = try stanza(of: source) else { return false }
        return true
    }

    private static func stanza(of source: any ByteSource) throws -> ArchiveStanza? {
        let head = [UInt8](try source.peek(upToCount: ArchiveHeader.byteCountMax))
        guard head.starts(with: ArchiveHeader.magic) else { return nil }
        return (try? ArchiveHeader.parse(head, path: ""))?.0.stanza
    }
}
