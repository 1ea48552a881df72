/// Indexes of a database do not fit its tables, and all else is sound.
///
/// That is how a database looks whose indexes have the order of another language or system than that of this process: the
/// tables have all of the data.
struct IndexDamage: Error {
    /// What to throw where indexes can't be made anew, or that does not help.
    let error: StoreError

    /// Makes the indexes of a file anew whose order a language, a system or the app decides.
    ///
    /// Nobody else may know of the file yet.
    ///
    /// - returns: Whether that was possible. In the order of this process, two values of a unique index may be one, and
    ///   then the index stays as it is, because no row may be lost.
    /// - throws: A ``DatabaseError``, such as that of a full disk.
    static func rebuildIndexes(
        path: String, key: EncryptionKey, definitions: SchemaDefinitions
    ) throws -> Bool {
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        definitions.add(to: db)
        // The file is fsynced as a whole before it gets its name.
        try db.execute(sql: "PRAGMA synchronous = OFF")
        var isComplete = true
        for collation in DatabaseCollation.builtIns + definitions.collations {
            do {
                try db.reindex(collation: collation)
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_CONSTRAINT || StructureCheck.lacksDefinition(error)
            {
                isComplete = false
            }
        }
        return isComplete
    }
}
