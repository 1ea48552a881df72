// Fetching all the rows of a table.

extension Table where RowDecoder == Row {
    /// Returns a cursor of all rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCursor(_ db: Database) throws -> RowCursor {
        try request.fetchCursor(db)
    }

    /// Returns all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchAll(_ db: Database) throws -> [Row] {
        try request.fetchAll(db)
    }

    /// Returns the first row, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchOne(_ db: Database) throws -> Row? {
        try request.fetchOne(db)
    }
}

extension Table where RowDecoder == Row {
    /// Returns the set of all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchSet(_ db: Database) throws -> Set<Row> {
        try request.fetchSet(db)
    }
}

extension Table where RowDecoder: FetchableRecord {
    /// Returns a cursor of all rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try request.fetchCursor(db)
    }

    /// Returns all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try request.fetchAll(db)
    }

    /// Returns the first row, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try request.fetchOne(db)
    }
}

extension Table where RowDecoder: FetchableRecord & Hashable {
    /// Returns the set of all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try request.fetchSet(db)
    }
}

extension Table where RowDecoder: DatabaseValueConvertible {
    /// Returns a cursor of all rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try request.fetchCursor(db)
    }

    /// Returns all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try request.fetchAll(db)
    }

    /// Returns the first row, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try request.fetchOne(db)
    }
}

extension Table where RowDecoder: DatabaseValueConvertible & Hashable {
    /// Returns the set of all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try request.fetchSet(db)
    }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// Returns a cursor of all rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try request.fetchCursor(db)
    }

    /// Returns all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try request.fetchAll(db)
    }

    /// Returns the first row, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try request.fetchOne(db)
    }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// Returns the set of all rows.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try request.fetchSet(db)
    }
}
