extension Database {
    /// Refuses `VACUUM` where what SQLite makes for it could be a file with other settings than the database has.
    ///
    /// SQLCipher gives its temporary file a codec with the settings that new files get, whatever those of the database
    /// are. With another size of pages, or of what each page ends with, the pages that come back from it are damaged, and
    /// `VACUUM` ends without an error. Connections keep the copy in memory, unless somebody changes `temp_store`.
    ///
    /// The file of `VACUUM INTO` gets these settings too, under the key that was derived for others: no passphrase opens it
    /// then. Where they are the same, it may be under the data key of a keyring, and has none beside it.
    ///
    /// - parameter sql: The `VACUUM` that is to run.
    /// - throws: A ``DatabaseError``.
    func checkMayVacuum(_ sql: String) throws {
        let (isEncrypted, setting) = withoutTracing {
            authorizer.trusting {
                // The key may be of a pragma, or of the C API.
                (codecPageSize != nil, SQLiteHandle.text(handle, "PRAGMA temp_store"))
            }
        }
        guard isEncrypted else { return }
        if SQLTokens(sql).tokens.contains(where: { $0.isKeyword("into") }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "VACUUM INTO can make a file of an encrypted database that nothing opens; "
                    + "call vacuum(into:) of the queue or pool instead",
                sql: sql)
        }
        guard setting != "2" else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "VACUUM can damage an encrypted database while temporary tables may be files; "
                + "run PRAGMA temp_store = MEMORY before it",
            sql: sql)
    }
}
