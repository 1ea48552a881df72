import CipherStore

/// The sync metadata: tables, version 3, in the encrypted file that they describe.
enum MetadataSchema {
    /// The version that this code reads and writes.
    static let version: Int64 = 3

    /// Whether a name belongs to the metadata.
    static func isReserved(_ name: String) -> Bool {
        // By bytes, as SQL does: what a combining mark follows is no prefix to Swift.
        ["_sync_", "sqlite_"].contains { name.foldedIdentifier.utf8.starts(with: $0.utf8) }
    }
}
