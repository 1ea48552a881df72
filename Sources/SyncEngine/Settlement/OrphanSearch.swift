import CipherStore

/// Finds the orphans of one foreign key among the rows that were touched, and among their children.
///
/// A chain of rows is gone through link by link. Where no index finds the children of a row, each link would take reading the
/// whole table, so from the third time on they are found in a list that is made once.
final class OrphanSearch {
    let reference: ForeignKey
    private let db: Database
    /// The list of children, with the values that refer to parents.
    private let list: String
    private var isListed = false
    private var lookupCount = 0

    /// Prepares the search.
    ///
    /// - parameter number: A number that no other search has meanwhile.
    init(_ db: Database, _ reference: ForeignKey, number: Int) {
        assert(reference.child.isTracked && reference.parent.isTracked, "rows of others are not judged")
        self.db = db
        self.reference = reference
        list = "_sync_child\(number)"
    }

    /// Finds the orphans. A table is read only where something happened to its rows, or to what they refer to.
    ///
    /// - parameter lost: The tables of which rows are gone that were touched.
    func orphans(_ touched: TouchedRows, lost: Set<Int64>) throws -> [TouchedRows.Orphan] {
        let child = reference.child
        var halves: [String] = []
        if touched.tables.contains(child.number) {
            halves.append(
                """
                \(selection) FROM temp.\(TouchedRows.name) AS t
                CROSS JOIN \(child.qualifiedName) AS c ON \(key) = t.pk AND \(key) = t.pk COLLATE BINARY
                WHERE t.tbl = \(child.number) AND \(reference.isOrphan)
                """)
        }
        // A parent that is there may have had another value in a column that is not its key.
        let concerned = column == nil ? touched.tables : lost
        if concerned.contains(reference.parent.number) {
            halves.append("\(selection) FROM \(try children())")
        }
        guard !halves.isEmpty else { return [] }
        return try Row.fetchAll(db, sql: halves.joined(separator: "\nUNION ") + "\nORDER BY 1, 2").map {
            row in
            let parent = try row.decode(DatabaseValue.self, atIndex: 1)
            return TouchedRows.Orphan(
                key: OwnedValue.make(try row.decode(atIndex: 0)),
                parent: parent.isNull ? nil : OwnedValue.make(parent))
        }
    }

    private var key: String { "c.\(reference.child.key.quotedDatabaseIdentifier)" }
    private var column: String? { reference.keyColumn.map { "c.\($0.quotedDatabaseIdentifier)" } }
    private var selection: String { "SELECT \(key), \(column ?? "NULL")" }

    /// The children without a parent of rows that were touched, as SQL.
    private func children() throws -> String {
        let parents = "SELECT pk FROM temp.\(TouchedRows.name) WHERE tbl = \(reference.parent.number)"
        let table = "\(reference.child.qualifiedName) AS c"
        // What columns other than the key held before is not known, so all children are looked at.
        guard let column else { return "\(table) WHERE EXISTS (\(parents)) AND \(reference.isOrphan)" }
        try makeListIfDue()
        guard isListed else {
            return "\(table) WHERE \(column)\(reference.collate) IN (\(parents)) AND \(reference.isOrphan)"
        }
        return """
            temp.\(list) AS l CROSS JOIN \(table) ON \(key) = l.pk AND \(key) = l.pk COLLATE BINARY
            WHERE l.parent\(reference.collate) IN (\(parents)) AND \(reference.isOrphan)
            """
    }

    /// Lists the children. No row gets another parent while orphans are taken out, so the list holds until the end.
    private func makeListIfDue() throws {
        lookupCount += 1
        guard lookupCount == 3, let column, try !hasIndex() else { return }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(list);
                CREATE TEMP TABLE \(list) AS
                SELECT \(column) AS parent, \(key) AS pk FROM \(reference.child.qualifiedName) AS c
                WHERE \(column) IS NOT NULL;
                CREATE INDEX temp.\(list)_parent ON \(list) (parent\(reference.collate));
                """)
        isListed = true
    }

    /// Whether an index finds the children of a row.
    private func hasIndex() throws -> Bool {
        guard let column = reference.keyColumn else { return false }
        let table = reference.child.storageName.quotedDatabaseIdentifier
        for index in try Row.fetchAll(db, sql: "PRAGMA main.index_list(\(table))") {
            let name = try index.decode(String.self, forColumn: "name").quotedDatabaseIdentifier
            guard try index.decode(Int.self, forColumn: "partial") == 0,
                let first = try Row.fetchOne(db, sql: "PRAGMA main.index_xinfo(\(name))"),
                try first.decodeIfPresent(String.self, forColumn: "name")?.isSameIdentifier(as: column)
                    == true
            else { continue }
            let collation: String = try first.decodeIfPresent(forColumn: "coll") ?? ""
            if reference.collate.isEmpty || collation.isSameIdentifier(as: reference.collation) {
                return true
            }
        }
        return false
    }

    /// Ends the search.
    func finish() {
        if isListed { try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(list)") }
    }
}
