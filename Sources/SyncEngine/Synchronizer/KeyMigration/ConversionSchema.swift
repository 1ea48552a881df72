import CipherStore

/// The tables of a database as a conversion of their keys sees them.
struct ConversionSchema {
    /// A foreign key, of one or more columns.
    struct Reference {
        /// The table that it refers to, as it is called there.
        let parent: String
        let columns: [(from: String, to: String)]
        /// Whether the columns of the parent are left out of the definition.
        let isImplicit: Bool
    }

    /// An ordinary table of the user.
    struct Table {
        let name: String
        let sql: String
        let columns: [ColumnInfo]
        /// The columns of the primary key, in its order.
        let key: [String]
        /// Whether the key is the rowid by another name.
        let isRowIDKey: Bool
        let hasRowID: Bool
        let references: [Reference]

        func column(_ name: String) -> ColumnInfo? {
            columns.first { $0.name.isSameIdentifier(as: name) }
        }

        /// A name by which the rowid can be read and written, if a column has not taken it.
        var rowIDName: String? {
            guard hasRowID else { return nil }
            return ["rowid", "_rowid_", "oid"].first { column($0) == nil }
        }
    }

    /// By the keys of their names.
    let tables: [String: Table]
    /// The names of virtual tables and how they were made, by the keys of their names.
    let virtualTables: [String: (name: String, sql: String)]

    /// Reads the schema. Tables of the library, of SQLite and of virtual tables are left out.
    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql IS NOT NULL ORDER BY rowid"
        )
        var texts: [(name: String, sql: String)] = []
        var virtual: [String: (name: String, sql: String)] = [:]
        for row in rows {
            let name: String = try row.decode(atIndex: 0)
            let sql: String = try row.decode(atIndex: 1)
            if SQLTokens(sql).tokens.dropFirst().first?.isKeyword("virtual") == true {
                virtual[name.identifierKey] = (name, sql)
            } else {
                texts.append((name, sql))
            }
        }
        virtualTables = virtual
        var tables: [String: Table] = [:]
        for text in texts {
            let key = text.name.identifierKey
            let isShadow = virtual.keys.contains { key.hasPrefix($0 + "_") }
            guard !MetadataSchema.isReserved(text.name), !isShadow, key != "grdb_migrations" else {
                continue
            }
            tables[key] = try Self.table(db, text.name, text.sql)
        }
        self.tables = tables.mapValues { $0.completed(by: tables) }
    }

    func table(_ name: String) -> Table? { tables[name.identifierKey] }

    private static func table(_ db: Database, _ name: String, _ sql: String) throws -> Table {
        let columns = try db.columns(in: name, in: "main")
        let key = columns.filter { $0.primaryKeyIndex > 0 }.sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }
        let info = try db.primaryKey(name, in: "main")
        return Table(
            name: name, sql: sql, columns: columns, key: key.map(\.name), isRowIDKey: info.rowIDColumn != nil,
            hasRowID: info.tableHasRowID, references: try references(db, name))
    }

    private static func references(_ db: Database, _ name: String) throws -> [Reference] {
        let rows = try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_list(\(name.quotedDatabaseIdentifier))")
        var found: [Int: (parent: String, columns: [(seq: Int, from: String, to: String?)])] = [:]
        for row in rows {
            let id: Int = try row.decode(forColumn: "id")
            let column = (
                seq: try row.decode(Int.self, forColumn: "seq"),
                from: try row.decode(String.self, forColumn: "from"),
                to: try row.decode(String?.self, forColumn: "to")
            )
            let parent: String = try row.decode(forColumn: "table")
            found[id, default: (parent, [])].columns.append(column)
        }
        return found.sorted { $0.key < $1.key }.map { _, reference in
            let columns = reference.columns.sorted { $0.seq < $1.seq }
            return Reference(
                parent: reference.parent, columns: columns.map { ($0.from, $0.to ?? "") },
                isImplicit: columns.contains { $0.to == nil })
        }
    }
}

extension ConversionSchema.Table {
    /// Names the columns that references leave out.
    fileprivate func completed(by tables: [String: ConversionSchema.Table]) -> Self {
        let references = references.map { reference in
            guard reference.isImplicit, let parent = tables[reference.parent.identifierKey],
                parent.key.count == reference.columns.count
            else { return reference }
            let columns = zip(reference.columns, parent.key).map { (from: $0.from, to: $1) }
            return ConversionSchema.Reference(
                parent: parent.name, columns: columns, isImplicit: true)
        }
        return Self(
            name: name, sql: sql, columns: columns, key: key, isRowIDKey: isRowIDKey, hasRowID: hasRowID,
            references: references)
    }
}
