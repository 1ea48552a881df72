// Selections that change what rows are decoded as.

extension QueryInterfaceRequest {
    /// Returns a request for other values.
    ///
    /// ```swift
    /// let names = try Player.all().select([Column("name")], as: String.self).fetchAll(db)
    /// ```
    public func select<OtherDecoder>(
        _ selection: [any SQLSelectable], as type: OtherDecoder.Type = OtherDecoder.self
    ) -> QueryInterfaceRequest<OtherDecoder> {
        select(selection).asRequest(of: type)
    }

    /// Returns a request for other values.
    public func select<OtherDecoder>(
        _ selection: any SQLSelectable..., as type: OtherDecoder.Type = OtherDecoder.self
    ) -> QueryInterfaceRequest<OtherDecoder> {
        select(selection, as: type)
    }

    /// Returns a request for other values, in plain SQL.
    public func select<OtherDecoder>(
        sql: String, arguments: StatementArguments = StatementArguments(),
        as type: OtherDecoder.Type = OtherDecoder.self
    ) -> QueryInterfaceRequest<OtherDecoder> {
        select(literal: SQL(sql: sql, arguments: arguments), as: type)
    }

    /// Returns a request for other values, in an SQL literal.
    public func select<OtherDecoder>(
        literal: SQL, as type: OtherDecoder.Type = OtherDecoder.self
    ) -> QueryInterfaceRequest<OtherDecoder> {
        select([literal], as: type)
    }

    /// Returns a request for primary keys.
    ///
    /// ```swift
    /// let codes = try Country.all().selectPrimaryKey(as: String.self).fetchAll(db)
    /// ```
    ///
    /// - parameter type: The type of the key: a value, or ``Row`` for keys of
    ///   several columns.
    public func selectPrimaryKey<Key>(as type: Key.Type = Key.self) -> QueryInterfaceRequest<Key> {
        let table = databaseTableName
        return selectWhenConnected { db in try db.primaryKey(table).columns.map { Column($0) } }
            .asRequest(of: type)
    }
}

extension QueryInterfaceRequest where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns a request for the ids of records.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        selectPrimaryKey()
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Returns a request for other values: `select({ $0.name }, as: String.self)`.
    public func select<OtherDecoder>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable,
        as type: OtherDecoder.Type = OtherDecoder.self
    ) rethrows -> QueryInterfaceRequest<OtherDecoder> {
        try select([selection(RowDecoder.databaseComponents)], as: type)
    }

    /// Returns a request for other values: `select({ [$0.name, $0.score] }, as: Row.self)`.
    public func select<OtherDecoder>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable],
        as type: OtherDecoder.Type = OtherDecoder.self
    ) rethrows -> QueryInterfaceRequest<OtherDecoder> {
        try select(selection(RowDecoder.databaseComponents), as: type)
    }
}
