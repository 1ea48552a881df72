/// A request for rows of a table.
public protocol TableRequest {
    /// The name of the table.
    var databaseTableName: String { get }

    /// Returns a request whose table has an alias, by which expressions can refer to it.
    func aliased<AliasDecoder>(_ alias: TableAlias<AliasDecoder>) -> Self
}

extension TableRequest where Self: FilteredRequest {
    /// Returns a request for the row with a primary key.
    ///
    /// ```swift
    /// // SELECT * FROM country WHERE code = 'FR'
    /// let request = Country.all().filter(key: "FR")
    /// ```
    ///
    /// NULL is no key: there are no rows then. When it is fetched, the request
    /// throws unless the primary key of the table is one column, or the rowid.
    /// A column called `rowid` hides the rowid: then it has to be unique.
    public func filter(key: some DatabaseValueConvertible) -> Self {
        filter(keys: CollectionOfOne(key))
    }

    /// Returns a request for the rows with primary keys.
    ///
    /// ```swift
    /// // SELECT * FROM country WHERE code IN ('FR', 'US')
    /// let request = Country.all().filter(keys: ["FR", "US"])
    /// ```
    public func filter<Keys: Collection>(keys: Keys) -> Self where Keys.Element: DatabaseValueConvertible {
        let keys = keys.filter { !$0.databaseValue.isNull }
        if let encoding = KeyEncoding(of: Self.self, keys: Keys.Element.self) {
            let values = keys.map { encoding.value(of: $0) }
            return filterPrimaryKey(isKnownEmpty: values.isEmpty) { column in
                try values.map { try $0(column) }
            }
        }
        let values = keys.map(\.databaseValue)
        return filterPrimaryKey(isKnownEmpty: values.isEmpty) { _ in values }
    }

    private func filterPrimaryKey(
        isKnownEmpty: Bool, values: @escaping @Sendable (_ column: String) throws -> [DatabaseValue]
    ) -> Self {
        let table = databaseTableName
        return filterWhenConnected { db in
            // Nothing needs to be known of the table to find no row in it.
            if isKnownEmpty { return false.databaseValue }
            let column = try db.columnFindingRow(of: table)
            return try SQLExpression.isIn(values(column).map { .value($0) }, .column(column))
        }
    }

    /// Returns a request for the row with a unique key.
    ///
    /// ```swift
    /// let request = Citizenship.all().filter(key: ["citizenId": 1, "countryCode": "FR"])
    /// ```
    ///
    /// - parameter key: The values of a primary key or a unique index, and maybe
    ///   of other columns; nil for no rows. Without such a key, the request
    ///   throws when it is fetched.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        guard let key else { return none() }
        return filter(keys: [key])
    }

    /// Returns a request for the rows with unique keys.
    ///
    /// - parameter keys: As in `filter(key:)`.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> Self {
        let keys = keys.map { $0.mapValues { $0?.databaseValue ?? .null } }
        let table = databaseTableName
        return filterWhenConnected { db in
            try SQLExpression.anyOf(keys.map { try db.condition(onKey: $0, in: table) })
        }
    }
}

extension TableRequest
where Self: FilteredRequest & TypedRequest, RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible
{
    /// Returns a request for the row with an id: `filter(id: 1)`.
    public func filter(id: RowDecoder.ID) -> Self {
        filter(key: id)
    }

    /// Returns a request for the rows with some ids: `filter(ids: [1, 2, 3])`.
    public func filter<IDs: Collection>(ids: IDs) -> Self where IDs.Element == RowDecoder.ID {
        filter(keys: ids)
    }
}

extension TableRequest where Self: OrderedRequest {
    /// Returns a request that is sorted by primary key.
    public func orderByPrimaryKey() -> Self {
        let table = databaseTableName
        return orderWhenConnected { db in try db.primaryKey(table).columns.map { Column($0) } }
    }
}

extension TableRequest where Self: AggregatingRequest {
    /// Returns a request with a group for each row of the table, which makes
    /// sense for joined requests.
    public func groupByPrimaryKey() -> Self {
        let table = databaseTableName
        return groupWhenConnected { db in try db.fastPrimaryKeyColumns(of: table).map { Column($0) } }
    }
}

extension TableRequest where Self: FilteredRequest {
    /// Returns a request for the rows of a full-text table that match a pattern.
    ///
    /// - parameter pattern: A pattern; nil matches nothing.
    public func matching(_ pattern: (any DatabaseValueConvertible)?) -> Self {
        guard let pattern, !pattern.databaseValue.isNull else { return none() }
        return filter(SQLExpression(.tableMatch(.value(pattern.databaseValue))))
    }
}
