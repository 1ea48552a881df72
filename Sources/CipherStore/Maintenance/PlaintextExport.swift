import Foundation

/// A copy of an encrypted database as a plain SQLite file.
public enum PlaintextExport {
    /// Exports a database into a new, unencrypted SQLite file.
    ///
    /// Whoever reads that file reads everything: this is the only function of
    /// the library that writes plaintext, and its name says so. What a process that
    /// was killed left of an export to the same place is removed first.
    ///
    /// - parameters:
    ///     - source: A connection outside of a transaction.
    ///     - path: Where the file goes; no file may be there.
    ///     - finishing: Changes to the copy before it gets its name.
    /// - throws: ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func writePlaintext(
        of source: Database, at path: String, finishing: ((Database) throws -> Void)? = nil
    ) throws {
        try FileReplacement.requireFree(path)
        try FileReplacement.removingLeftovers(of: path, purpose: "export", sparing: source.filePath) {
            try writeFile(of: source, at: path, finishing)
        }
    }

    private static func writeFile(
        of source: Database, at path: String, _ finishing: ((Database) throws -> Void)?
    ) throws {
        let file = try FileReplacement(destination: path, purpose: "export")
        do {
            if source.canWrite {
                try source.export(to: file.temporary, key: nil)
            } else {
                try exportCopy(of: source, to: file.temporary, besides: path)
            }
            let copy = try Database(
                path: file.temporary, configuration: Configuration(), keyCache: KeyCache())
            defer { copy.dispose() }
            source.functions.definitions.add(to: copy)
            try finishing?(copy)
            try StoreVerification.verifyContent(copy, rowCounts: nil)
            copy.dispose()
            try file.moveIntoPlace()
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }

    /// Exports by way of an encrypted copy: what a connection attaches that may not write, it can't write
    /// either.
    private static func exportCopy(
        of source: Database, to temporary: String, besides path: String
    ) throws {
        let inner = try FileReplacement(destination: path, purpose: "export")
        defer { inner.discard() }
        try StoreCopy.fill(
            inner.temporary, key: source.encryptionKey, from: source, progress: nil, finishing: nil)
        let copy = try Database.open(path: inner.temporary, key: source.encryptionKey)
        defer { copy.dispose() }
        source.functions.definitions.add(to: copy)
        try copy.export(to: temporary, key: nil)
    }
}

/// An encrypted database made of a plain SQLite file.
public enum PlaintextImport {
    /// Encrypts a plain SQLite file into a new store. The plain file stays as it is.
    ///
    /// - throws: ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func makeStore(
        from plaintextPath: String, at path: String, passphrase: borrowing Passphrase,
        progress: StoreProgressHandler? = nil
    ) throws {
        try FileReplacement.requireFree(path)
        try StoreFile.requireContent(plaintextPath)
        let file = try FileReplacement(destination: path, purpose: "import")
        do {
            let key = try KeyDerivation.derive(
                passphrase: passphrase.bytes, salt: KeyDerivation.newSalt(), settings: .default)
            var configuration = Configuration()
            configuration.requiresExistingFile = true
            configuration.busyMode = .timeout(2)
            let source = try Database(
                path: plaintextPath, configuration: configuration, keyCache: KeyCache())
            defer { source.dispose() }
            let problems = try String.fetchAll(source, sql: "PRAGMA integrity_check(10)")
            guard problems == ["ok"] else {
                throw StoreError(
                    .damaged, "integrity check: " + problems.joined(separator: "; "), path: plaintextPath)
            }
            var counts: [String: Int] = [:]
            let rebuild = try source.export(to: file.temporary, key: key) {
                counts = try StoreVerification.rowCounts(source)
            }
            try StoreVerification.verify(
                path: file.temporary, key: key, rowCounts: { rebuild.withoutIndexes(counts) },
                progress: progress)
            try file.moveIntoPlace()
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }
}

extension Database {
    /// Copies everything into a new file, and makes the full-text indexes anew that this needs.
    ///
    /// - parameters:
    ///     - path: The new file.
    ///     - key: The key of the new file; nil writes plaintext.
    ///     - reading: What else is read of the state that is copied.
    /// - returns: What was made anew.
    /// - throws: A ``DatabaseError``, or what `reading` throws.
    @discardableResult
    func export(
        to path: String, key: EncryptionKey?, reading: () throws -> Void = {}
    ) throws -> FullTextRebuild {
        let rebuild = try exportRows(to: path, key: key, reading)
        guard !rebuild.tables.isEmpty else { return rebuild }
        // The connection that exported does not know the virtual tables of the other file.
        let copy = try Database.open(path: path, key: key)
        defer { copy.dispose() }
        // The file is fsynced as a whole before it gets its name.
        try copy.execute(sql: "PRAGMA synchronous = OFF")
        try rebuild.run(copy)
        return rebuild
    }

    /// Copies everything into an attached file with SQLCipher's export, in one
    /// transaction: what is read beside the rows is of the same state.
    ///
    /// - returns: What has to be made anew in the file.
    private func exportRows(
        to path: String, key: EncryptionKey?, _ reading: () throws -> Void
    ) throws -> FullTextRebuild {
        try attach(path, key: key)
        defer { detachExported() }
        if let key {
            for pragma in CodecParameters.pragmas(key.settings, schema: "exported") {
                try execute(sql: pragma)
            }
        }
        var rebuild: FullTextRebuild?
        try inTransaction(.deferred) {
            rebuild = try FullTextRebuild(of: self)
            try reading()
            // The export loses these numbers of the file's header.
            let userVersion = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            let applicationID = try Int.fetchOne(self, sql: "PRAGMA application_id") ?? 0
            let autoVacuum = try Int.fetchOne(self, sql: "PRAGMA auto_vacuum") ?? 0
            // Once a file has content, this does nothing.
            try execute(sql: "PRAGMA exported.auto_vacuum = \(autoVacuum)")
            try execute(sql: "SELECT sqlcipher_export('exported')")
            try execute(sql: "PRAGMA exported.user_version = \(userVersion)")
            try execute(sql: "PRAGMA exported.application_id = \(applicationID)")
            return .commit
        }
        return try rebuild ?? FullTextRebuild(of: self)
    }

    /// Lets go of the file, also when the task is cancelled or the connection is suspended: otherwise its name would be
    /// taken for the next export, and a plaintext file that was removed would stay open.
    private func detachExported() {
        guard !isClosed else { return }
        let sql = "DETACH DATABASE exported"
        do {
            try executeProtected(sql)
        } catch {
            owe(sql)
        }
    }

    /// Attaches a file. The key is bound, so that no trace shows it.
    private func attach(_ path: String, key: EncryptionKey?) throws {
        let statement = try makeStatement(sql: "ATTACH DATABASE ?1 AS exported KEY ?2")
        try statement.setArguments([path, ""])
        if let key {
            _ = try key.withRawKeyText { RawBinding.text(statement.sqliteStatement, 2, $0) }
        }
        _ = try statement.step()
        statement.reset()
    }
}
