extension DatabaseWriter {
    /// Erases the content of the database: tables, indexes, views, triggers,
    /// and the header's `user_version` and `application_id`. The encryption stays.
    ///
    /// The file keeps its size until `vacuum()`.
    ///
    /// - throws: A ``DatabaseError``; the database is then as it was.
    @_disfavoredOverload public func erase() throws {
        try barrierWriteWithoutTransaction { try $0.eraseContent() }
    }

    /// Erases the content of the database, see the method that waits.
    ///
    /// - throws: A ``DatabaseError``; `CancellationError`.
    public func erase() async throws {
        try await barrierWriteWithoutTransaction { try $0.eraseContent() }
    }

    /// Rebuilds the database file, in the smallest number of pages. It takes as much memory as the new file has bytes.
    ///
    /// `VACUUM` in SQL gives rows other rowids in tables that have neither an `INTEGER PRIMARY KEY` nor an index, and a
    /// full-text table of the content of such a table finds other rows from then on. Here they keep their rowids where
    /// there are virtual tables.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_vacuum.html>
    ///
    /// - throws: A ``DatabaseError``.
    @_disfavoredOverload public func vacuum() throws {
        try writeWithoutTransaction { try $0.vacuum() }
    }

    /// Rebuilds the database file, see the method that waits.
    ///
    /// - throws: A ``DatabaseError``; `CancellationError`.
    public func vacuum() async throws {
        try await writeWithoutTransaction { try $0.vacuum() }
    }

    /// Writes a compact copy of the database into a new file. The copy of an
    /// encrypted database has the same passphrase, and is verified before it
    /// gets its name. That of a database with a ``Keyring`` gets a copy of the
    /// keyring beside it, and opens with the same slots. Rows keep their rowids as by `vacuum()`.
    ///
    /// - parameter filePath: Where the copy goes; no file may be there, and no keyring beside it.
    /// - throws: A ``StoreError`` or ``DatabaseError``. No file is left then.
    @_disfavoredOverload public func vacuum(into filePath: String) throws {
        try writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }

    /// Writes a compact copy of the database, see the method that waits.
    ///
    /// - throws: A ``StoreError`` or ``DatabaseError``; `CancellationError`.
    public func vacuum(into filePath: String) async throws {
        try await writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }
}
