/// The queries of a connection for one record by its primary key.
///
/// The text for a record type is the same for all keys. It is made once, so that only the key has to be bound.
final class KeyQueries {
    fileprivate struct Query {
        let tableName: String
        /// Its parameter is the key. Nil when the request itself has to be used.
        let sql: String?
        /// The column of the key.
        let column: String
        /// How the record type stores keys of some types.
        let encoding: KeyEncoding?

        func value<Key: DatabaseValueConvertible>(of key: Key) throws -> DatabaseValue {
            guard let encoding, KeyEncoding.isCustomizable(Key.self) else { return key.databaseValue }
            return try encoding.value(of: key)(column)
        }
    }

    private var queries: [ObjectIdentifier: Query] = [:]

    func removeAll() { queries.removeAll() }

    /// Returns the query for a record type.
    fileprivate func query<Record: FetchableRecord & TableRecord>(
        _ db: Database, for type: Record.Type
    ) throws -> Query {
        let identifier = ObjectIdentifier(type)
        let tableName = type.databaseTableName
        if let query = queries[identifier], query.tableName == tableName { return query }
        let request = try type.filter(key: 0).makePreparedRequest(db, forSingleResult: true)
        let isPlain =
            request.adapter == nil && request.completion == nil && request.statement.parameterNames == [nil]
        let query = Query(
            tableName: tableName, sql: isPlain ? request.statement.sql : nil,
            column: try db.singlePrimaryKeyColumn(of: tableName), encoding: KeyEncoding(ofRecord: type))
        queries[identifier] = query
        return query
    }
}

extension FetchableRecord where Self: TableRecord {
    /// Fetches the record with a primary key that is not NULL, if there is one.
    static func fetchRecord(_ db: Database, key: some DatabaseValueConvertible) throws -> Self? {
        let selection = databaseSelection
        // Who observes has to learn of which row this is.
        guard db.recordedRegion == nil, selection.count == 1, selection[0] is AllColumns else {
            return try filter(key: key).fetchOne(db)
        }
        db.noticeSchemaChange()
        let query = try db.recordPlans.keyQueries.query(db, for: self)
        guard let sql = query.sql else { return try filter(key: key).fetchOne(db) }
        let value = try query.value(of: key)
        return try db.withStatement(sql: sql) { try fetchOne($0, arguments: [value]) }
    }
}
