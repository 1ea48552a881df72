import Foundation

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
    /// - returns: Those that stay as they are. In the order of this process, two values of a unique index may be one, and
    ///   no row may be lost.
    /// - throws: A ``DatabaseError``, such as that of a full disk.
    static func rebuildIndexes(
        path: String, key: EncryptionKey, definitions: SchemaDefinitions
    ) throws -> UnfitIndexes {
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        definitions.add(to: db)
        // The file is fsynced as a whole before it gets its name.
        try db.execute(sql: "PRAGMA synchronous = OFF")
        var unfit = UnfitIndexes()
        for collation in DatabaseCollation.builtIns + definitions.collations {
            do {
                try db.reindex(collation: collation)
            } catch let error as DatabaseError where isRefusal(error) {
                // One of them can't be made anew, and then none was.
                for index in try indexes(ordered: collation, db) where try !rebuild(index, db) {
                    unfit.insert(index)
                }
            }
        }
        return unfit
    }

    /// An index, also the one that a table without rowids is kept in.
    fileprivate struct Index {
        let name: String
        let table: String
        /// Whether the index is that of the table's primary key.
        let isPrimaryKey: Bool
    }

    /// The indexes that need a collation, for their columns or those of the keys that they end with.
    private static func indexes(ordered collation: DatabaseCollation, _ db: Database) throws -> [Index] {
        // Virtual tables have no pages of their own.
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return try tables.flatMap { table in
            try Row.fetchAll(db, sql: "PRAGMA index_list(\(table.quotedDatabaseIdentifier))").map {
                Index(
                    name: try $0.decode(String.self, forColumn: "name"), table: table,
                    isPrimaryKey: try $0.decode(String.self, forColumn: "origin") == "pk")
            }
        }.filter { index in
            let columns = try Row.fetchAll(
                db, sql: "PRAGMA index_xinfo(\(index.name.quotedDatabaseIdentifier))")
            return try columns.contains {
                try $0.decode(String.self, forColumn: "coll").isSameIdentifier(as: collation.name)
            }
        }
    }

    private static func rebuild(_ index: Index, _ db: Database) throws -> Bool {
        do {
            // With the schema, the name is not taken for that of a collation.
            try db.execute(sql: "REINDEX main.\(index.name.quotedDatabaseIdentifier)")
            return true
        } catch let error as DatabaseError where isRefusal(error) {
            return false
        }
    }

    private static func isRefusal(_ error: DatabaseError) -> Bool {
        error.resultCode == .SQLITE_CONSTRAINT || StructureCheck.lacksDefinition(error)
    }
}

/// Indexes that do not fit their tables in the order of this process, and can't be made anew.
struct UnfitIndexes: Sendable {
    private var names: Set<String> = []
    /// Of those of primary keys.
    private var tables: Set<String> = []

    var isEmpty: Bool { names.isEmpty }

    fileprivate mutating func insert(_ index: IndexDamage.Index) {
        names.insert(index.name)
        if index.isPrimaryKey { tables.insert(index.table) }
    }

    /// Whether a problem that SQLite's check names is that of one of them.
    func explain(_ problem: String) -> Bool {
        // A name may have these words in it, too: what follows the first of them is all of it.
        if let words = problem.range(of: " index ") {
            return names.contains(String(problem[words.upperBound...]))
        }
        guard let words = problem.range(of: " PRIMARY KEY order for ") else { return false }
        return tables.contains(String(problem[words.upperBound...]))
    }
}
