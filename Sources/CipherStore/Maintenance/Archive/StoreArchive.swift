import Foundation

/// A database in one encrypted file for backups: authenticated as a whole, and
/// locked by a passphrase or for the holder of a private key.
///
/// `Schemas/archive/v1.md` describes the format. Inside is an SQLCipher
/// database under a key of its own, so that no plaintext is written anywhere.
public enum StoreArchive {
    /// The word in the names of its temporary files.
    private static let purpose = "archive"

    /// Writes an archive of a database. The source may be read and written meanwhile; without a WAL, others can't
    /// commit before its pages are copied.
    ///
    /// - parameters:
    ///     - source: An encrypted connection outside of a transaction.
    ///     - path: Where the archive goes; no file may be there.
    ///     - lock: Who can open it.
    ///     - preparation: What has to hold of the source when it is copied.
    ///     - now: What the archive says about when it was made.
    ///     - isShared: Whether other users of the machine may read the file, as its mode says. What is in it
    ///       only they read who open it.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    ///     - finishing: Changes the copy before it is sealed.
    /// - throws: A ``StoreError``: `exists`, `reservedName`, `encryptionMismatch` when the source is not encrypted,
    ///   `damaged`, `full`, …; a ``DatabaseError``; what `finishing` throws. No file is left at `path` then.
    public static func write(
        of source: Database, to path: String, lock: ArchiveLock,
        preparation: StorePreparation? = nil, now: Date = Date(), isShared: Bool = false,
        progress: StoreProgressHandler? = nil, finishing: ((Database) throws -> Void)? = nil
    ) throws {
        try FileReplacement.requireNoOwner(of: path)
        guard FileIdentity(path: path) == nil else {
            throw StoreError(.exists, "there is a file already", path: path)
        }
        let content = try Draft(of: source)
        try FileReplacement.removingLeftovers(of: path, purpose: Self.purpose, sparing: source.filePath) {
            let inner = try FileReplacement(destination: path, purpose: Self.purpose)
            defer { inner.discard() }
            let archive = try FileReplacement(destination: path, purpose: Self.purpose)
            do {
                try content.write(
                    source, inner, lock, preparation, now, path: path, progress: progress,
                    finishing: finishing
                ) { try OutputDescriptor(archive).write }
                if isShared { archive.allowReading() }
                try archive.moveIntoPlace()
            } catch {
                archive.discard()
                throw StoreError.explaining(error, path: path)
            }
        }
    }

    /// Writes an archive of a database whose bytes go where a function brings them.
    ///
    /// - parameters:
    ///     - source: An encrypted connection to a file, outside of a transaction.
    ///     - lock: Who can open it.
    ///     - preparation: What has to hold of the source when it is copied.
    ///     - finishing: Changes the copy before it is sealed.
    ///     - now: What the archive says about when it was made.
    ///     - output: Takes the bytes, in their order and in pieces of at most 128 KiB.
    /// - throws: A ``StoreError``, a ``DatabaseError``, what `output` throws. The copy that is made beside the
    ///   source meanwhile, encrypted too, is removed in any case; that of a process that was killed, by the next one.
    package static func write(
        of source: Database, lock: ArchiveLock, preparation: StorePreparation?,
        finishing: ((Database) throws -> Void)? = nil, now: Date,
        progress: StoreProgressHandler? = nil, to output: @escaping (Data) throws -> Void
    ) throws {
        let content = try Draft(of: source)
        try FileReplacement.removingLeftovers(of: source.filePath, purpose: Self.purpose) {
            let inner = try FileReplacement(destination: source.filePath, purpose: Self.purpose)
            defer { inner.discard() }
            do {
                try content.write(
                    source, inner, lock, preparation, now, path: source.path, progress: progress,
                    finishing: finishing
                ) { output }
            } catch {
                throw StoreError.explaining(error, path: source.path)
            }
        }
    }

    /// An archive that is being made.
    private struct Draft {
        let fileKey: ArchiveFileKey
        let settings: CipherSettings

        init(of source: Database) throws {
            guard let settings = source.encryptionKey?.settings else {
                throw StoreError(
                    .encryptionMismatch, "the source is not encrypted; import it instead", path: source.path)
            }
            self.settings = settings
            fileKey = try ArchiveFileKey.random()
        }

        /// Copies the source under a key of the archive's own, and seals the copy.
        ///
        /// - parameter output: Makes what takes the bytes, when the copy is complete.
        func write(
            _ source: Database, _ inner: FileReplacement, _ lock: ArchiveLock,
            _ preparation: StorePreparation?, _ now: Date, path: String, progress: StoreProgressHandler?,
            finishing: ((Database) throws -> Void)? = nil, to output: () throws -> (Data) throws -> Void
        ) throws {
            let key = try fileKey.databaseKey(
                salt: KeyDerivation.randomSalt(),
                settings: CipherSettings(format: settings.format, pageSize: settings.pageSize))
            try StoreCopy.fill(
                inner.temporary, key: key, from: source, preparation: preparation, verifiesSource: true,
                progress: progress, finishing: finishing)
            try StoreVerification.verify(
                path: inner.temporary, key: key, definitions: source.functions.definitions, rowCounts: nil,
                progress: progress)
            let header = ArchiveHeader(
                stanza: try .lock(fileKey, for: lock), content: .database(key.settings),
                createdMilliseconds: Int64(now.timeIntervalSince1970 * 1000),
                payloadNonce: SlotKey.randomBytes(ArchiveHeader.nonceByteCount))
            let cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: header.payloadNonce)
            try ArchiveFile.seal(
                inner.temporary, header: header.encoded(fileKey: fileKey), cipher: cipher, path: path,
                to: output())
        }
    }

    /// What an archive says about itself, once it was opened.
    public struct Information: Sendable {
        /// When it was made, in milliseconds since 1970.
        public let createdMilliseconds: Int64
        /// The format and page size of the database.
        public let settings: CipherSettings
        /// The size of the database, in bytes.
        public let databaseByteCount: Int
    }

    /// Checks all of an archive: each byte of the file, each page, and the database's structure.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase`, `archiveDamaged`, `damaged`, `formatTooNew`, …
    @discardableResult
    public static func verify(
        _ path: String, opening secret: ArchiveSecret, limit: ScryptCost = .defaultLimit,
        progress: StoreProgressHandler? = nil
    ) throws -> Information {
        let name = NSTemporaryDirectory() + "cipherstore-" + UUID().uuidString
        let inner = try FileReplacement(destination: name, purpose: Self.purpose)
        defer { inner.discard() }
        do {
            return try unpack(
                ArchiveFile(path), into: inner, opening: secret, limit: limit, progress: progress
            ).information
        } catch {
            throw StoreError.explaining(error, path: path)
        }
    }

    /// Makes a store of an archive, under a passphrase.
    ///
    /// The whole archive is verified before the store gets its name.
    ///
    /// - parameters:
    ///     - path: The archive.
    ///     - destination: Where the store goes; no file may be there.
    ///     - secret: What opens the archive.
    ///     - passphrase: The passphrase of the store.
    ///     - limit: The most that is paid for trying a passphrase.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    ///     - finishing: Changes to the store before it gets its name.
    /// - throws: A ``StoreError``: `exists`, `reservedName`, `wrongPassphrase`, `archiveDamaged`, `damaged`,
    ///   `formatTooNew`, `full`, …; a ``DatabaseError``. No file is left at `destination` then.
    public static func restore(
        _ path: String, to destination: String, opening secret: ArchiveSecret,
        passphrase: borrowing Passphrase, limit: ScryptCost = .defaultLimit,
        progress: StoreProgressHandler? = nil, finishing: ((Database) throws -> Void)? = nil
    ) throws {
        try restore(
            to: destination, sparing: path, opening: secret, passphrase: passphrase, limit: limit,
            progress: progress, finishing: finishing
        ) {
            try ArchiveFile(path)
        }
    }

    /// Makes a store of an archive whose bytes come from elsewhere.
    ///
    /// - parameters:
    ///     - source: The archive, open at its start.
    ///     - path: How errors name the archive.
    /// - throws: As ``restore(_:to:opening:passphrase:limit:progress:finishing:)``; what the source throws.
    package static func restore(
        _ source: any ByteSource, path: String, to destination: String, opening secret: ArchiveSecret,
        passphrase: borrowing Passphrase, progress: StoreProgressHandler? = nil,
        finishing: ((Database) throws -> Void)? = nil
    ) throws {
        try restore(
            to: destination, sparing: nil, opening: secret, passphrase: passphrase, limit: .defaultLimit,
            progress: progress, finishing: finishing
        ) { try ArchiveFile(source, path: path) }
    }

    /// Makes a store of an archive that `open` opens.
    ///
    /// It is open before anything is removed, and its file stays whatever its name is: that of the only backup may look
    /// like one of a temporary file.
    private static func restore(
        to destination: String, sparing path: String?, opening secret: ArchiveSecret,
        passphrase: borrowing Passphrase, limit: ScryptCost, progress: StoreProgressHandler?,
        finishing: ((Database) throws -> Void)?, open: () throws -> ArchiveFile
    ) throws {
        try FileReplacement.requireFree(destination)
        let passphrase = passphrase.copy()
        let archive = try open()
        try FileReplacement.removingLeftovers(of: destination, purpose: Self.purpose, sparing: path) {
            let inner = try FileReplacement(destination: destination, purpose: Self.purpose)
            defer { inner.discard() }
            do {
                let content = try unpack(
                    archive, into: inner, opening: secret, limit: limit, progress: progress)
                let source = try Database.open(path: inner.temporary, key: content.key)
                defer { source.dispose() }
                try StoreCopy.make(
                    of: source, at: destination, passphrase: passphrase, progress: progress,
                    finishing: finishing)
            } catch {
                throw StoreError.explaining(error, path: destination)
            }
        }
    }

    private struct Content {
        let key: EncryptionKey
        let information: Information
    }

    /// Decrypts an archive into a database file, and verifies both.
    private static func unpack(
        _ archive: ArchiveFile, into inner: FileReplacement, opening secret: ArchiveSecret,
        limit: ScryptCost, progress: StoreProgressHandler?
    ) throws -> Content {
        let path = archive.path
        guard case .database(let settings) = archive.header.content else {
            throw StoreError(.archiveDamaged, "the archive holds no database", path: path)
        }
        let fileKey = try archive.header.stanza.unlock(with: secret, limit: limit, path: path)
        try ArchiveHeader.verify(archive.headerBytes, fileKey: fileKey, path: path)
        guard !settings.format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
            throw StoreError.formatTooNew(path: path)
        }
        let cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: archive.header.payloadNonce)
        let (salt, byteCount) = try archive.open(into: inner, cipher: cipher)
        let key = try fileKey.databaseKey(salt: salt, settings: settings)
        try StoreVerification.verify(path: inner.temporary, key: key, rowCounts: nil, progress: progress)
        return Content(
            key: key,
            information: Information(
                createdMilliseconds: archive.header.createdMilliseconds, settings: settings,
                databaseByteCount: byteCount))
    }
}
