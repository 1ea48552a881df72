extension SealedFileReader {
    /// The salt of a file that a passphrase opens, which tells the group that it belongs to; nil for any other file. The file
    /// stays at its start, and nothing of that is authentic yet.
    ///
    /// - throws: What the source throws.
    package static func salt(of source: any ByteSource) throws -> [UInt8]? {
        let head = [UInt8](try source.peek(upToCount: ArchiveHeader.byteCountMax))
        guard head.starts(with: ArchiveHeader.magic),
            case .passphrase(_, let salt, _)? = (try? ArchiveHeader.parse(head, path: ""))?.0.stanza
        else { return nil }
        return salt
    }
}
