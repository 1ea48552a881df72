/// The versions of the formats of files that this library writes.
package enum FileFormats {
    /// Of keyrings (`Schemas/keyring`).
    package static var keyring: Int { Int(KeyringFile.versions.upperBound) }
    /// Of archives (`Schemas/archive`).
    package static var archive: Int { Int(ArchiveHeader.version) }
}
