extension Prefetch {
    /// Which keys of parents SQLite takes for equal to those of rows.
    ///
    /// By the collation and the type of the column, they can be equal and differ.
    ///
    /// - parameter keys: The keys of parents, each of them once and none NULL.
    /// - returns: The positions of the parents' keys, by the key of the rows.
    func parents(among keys: [[DatabaseValue]], _ db: Database) throws -> [[DatabaseValue]: Set<Int>] {
        guard let table = path[0].relation.source.tableName else { return [:] }
        let names = columns.map { "t.\($0.right.quotedDatabaseIdentifier)" }
        // With a sign, a value has no type of its own, and is compared as an argument is.
        let conditions = names.enumerated().map { index, name in "\(name) = +p.k\(index)" }
        let keyNames = columns.indices.map { ", k\($0)" }.joined()
        let marks = "(" + Array(repeating: "?", count: columns.count + 1).joined(separator: ", ") + ")"
        var parents: [[DatabaseValue]: Set<Int>] = [:]
        for batch in Self.batches(of: keys, size: max(1, 500 / (columns.count + 1))) {
            var values: [DatabaseValue] = []
            for index in batch.indices {
                values.append(index.databaseValue)
                values += batch[index]
            }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    WITH p(number\(keyNames)) AS (VALUES \(Array(repeating: marks, count: batch.count).joined(separator: ", ")))
                    SELECT p.number, \(names.joined(separator: ", ")) FROM p
                    JOIN \(table.quotedDatabaseIdentifier) AS t ON \(conditions.joined(separator: " AND "))
                    """,
                arguments: StatementArguments(values))
            for row in rows {
                let key = (1...columns.count).map { row.databaseValue(atIndex: $0) }
                parents[key, default: []].insert(try row.decode(Int.self, atIndex: 0))
            }
        }
        return parents
    }
}
