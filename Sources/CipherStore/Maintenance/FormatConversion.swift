extension StoreCopy {
    /// Moves the content of an encrypted database into a new store of the newest format, whatever
    /// the format of the source is: that of SQLCipher 1, for one, whose pages can't be copied.
    ///
    /// Rows are copied, not pages. Rows of a table that has no `INTEGER PRIMARY KEY` may get other
    /// rowids; full-text tables that index the rows of such a table are made anew. The source stays as it is.
    ///
    /// - parameters:
    ///     - source: A connection outside of a transaction.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func makeStore(
        of source: Database, at path: String, passphrase: borrowing Passphrase,
        progress: StoreProgressHandler? = nil
    ) throws {
        try FileReplacement.requireFree(path)
        guard source.encryptionKey != nil else {
            throw StoreError(
                .encryptionMismatch, "the source is not encrypted; import it instead", path: source.path)
        }
        let file = try FileReplacement(destination: path, purpose: "import")
        do {
            let key = try KeyDerivation.derive(
                passphrase: passphrase.bytes, salt: KeyDerivation.newSalt(), settings: .default)
            let problems = try String.fetchAll(source, sql: "PRAGMA integrity_check(10)")
            guard problems == ["ok"] else {
                throw StoreError(
                    .damaged, "integrity check: " + problems.joined(separator: "; "), path: source.path)
            }
            var counts: [String: Int] = [:]
            let rebuild = try source.export(to: file.temporary, key: key) {
                counts = try StoreVerification.rowCounts(source)
            }
            try StoreVerification.verify(
                path: file.temporary, key: key, definitions: source.functions.definitions,
                rowCounts: { rebuild.withoutIndexes(counts) }, progress: progress)
            try file.moveIntoPlace()
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }
}
