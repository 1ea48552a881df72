import CipherStore

/// A foreign key of a tracked table to a tracked table.
///
/// A key to any other table is not judged: its rows are nobody's but this store's,
/// and what refers to them is shown.
struct ForeignKey {
    let child: SyncedTable
    let parent: SyncedTable
    /// Pairs of child and parent columns.
    let columns: [(from: String, to: String)]
    /// The collation of the parent's key, by which children are compared with it.
    let collation: String

    /// Reads the foreign keys between tables.
    static func loadAll(_ db: Database, tables: [SyncedTable]) throws -> [ForeignKey] {
        let tracked = tables.filter(\.isTracked)
        return try tracked.flatMap { try load(db, of: $0, to: tracked) }
    }

    private static func load(
        _ db: Database, of child: SyncedTable, to tables: [SyncedTable]
    ) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            db, sql: "PRAGMA main.foreign_key_list(\(child.name.quotedDatabaseIdentifier))")
        let groups = try Dictionary(grouping: rows) { try $0.decode(Int.self, forColumn: "id") }
        return try groups.sorted { $0.key < $1.key }.compactMap { _, rows in
            guard let name = try rows.first?.decode(String.self, forColumn: "table"),
                let parent = tables.first(where: { $0.name.isSameIdentifier(as: name) })
            else {
                return nil
            }
            return ForeignKey(
                child: child, parent: parent,
                columns: try rows.map {
                    (
                        from: try $0.decode(forColumn: "from"),
                        to: try $0.decodeIfPresent(forColumn: "to") ?? parent.key
                    )
                },
                collation: try TableIndexes.load(db, parent).keyCollation)
        }
    }

    /// The child's column, when the parent's key alone is referred to.
    var keyColumn: String? {
        guard let single = columns.first, columns.count == 1,
            single.to.isSameIdentifier(as: parent.key)
        else { return nil }
        return single.from
    }

    /// The collation as SQL, where it is not that of most columns.
    var collate: String {
        collation.uppercased() == "BINARY" ? "" : " COLLATE \(collation.quotedDatabaseIdentifier)"
    }

    /// A text that is the same for the same foreign key.
    var signature: String {
        "\(child.number)>\(parent.number):"
            + columns.map { "\($0.from.identifierKey)=\($0.to.identifierKey)" }.sorted().joined(
                separator: ",")
    }

    /// The condition that a row `c` of the child table has no parent.
    ///
    /// As SQLite has it, the child's value is compared by the type and collation of the
    /// parent's column; the sign takes the child's type away.
    var isOrphan: String {
        let isSet = columns.map { "c.\($0.from.quotedDatabaseIdentifier) IS NOT NULL" }
        let matches = columns.map {
            "p.\($0.to.quotedDatabaseIdentifier) = +c.\($0.from.quotedDatabaseIdentifier)"
        }
        return """
            \(isSet.joined(separator: " AND ")) AND NOT EXISTS (
                SELECT 1 FROM \(parent.qualifiedName) AS p WHERE \(matches.joined(separator: " AND ")))
            """
    }
}

/// What the indexes of a table say.
struct TableIndexes {
    /// The collation of the key.
    let keyCollation: String
    /// Whether two rows can collide: by an index other than the key's, or
    /// because the key's collation takes different keys for one.
    let canCollide: Bool

    static func load(_ db: Database, _ table: SyncedTable) throws -> TableIndexes {
        let name = table.storageName.quotedDatabaseIdentifier
        var collation = "BINARY"
        var hasOthers = false
        for index in try Row.fetchAll(db, sql: "PRAGMA main.index_list(\(name))") {
            guard try index.decode(Int.self, forColumn: "unique") != 0 else { continue }
            guard try index.decode(String.self, forColumn: "origin") == "pk" else {
                hasOthers = true
                continue
            }
            let indexName = try index.decode(String.self, forColumn: "name").quotedDatabaseIdentifier
            let columns = try Row.fetchAll(db, sql: "PRAGMA main.index_xinfo(\(indexName))")
            if let key = try columns.first(where: { try $0.decode(Int.self, forColumn: "key") != 0 }) {
                collation = try key.decodeIfPresent(forColumn: "coll") ?? collation
            }
        }
        return TableIndexes(
            keyCollation: collation, canCollide: hasOthers || collation.uppercased() != "BINARY")
    }
}
