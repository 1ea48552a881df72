// A request fetches what its `RowDecoder` says.

extension FetchRequest<Row> {
    /// Returns a cursor of the rows of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func fetchCursor(_ db: Database) throws -> RowCursor {
        try Row.fetchCursor(db, self)
    }

    /// Returns all rows of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, self)
    }

    /// Returns the first row of the request, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> Row? {
        try Row.fetchOne(db, self)
    }

    /// Returns the set of the rows of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<Row> {
        try Row.fetchSet(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible {
    /// Returns a cursor of the values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the first value of the request, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & Hashable {
    /// Returns the set of the values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// Returns a cursor of the values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the first value of the request, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// Returns the set of the values of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(db, self)
    }
}

extension FetchRequest where RowDecoder: FetchableRecord {
    /// Returns a cursor of the records of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all records of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the first record of the request, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: FetchableRecord & Hashable {
    /// Returns the set of the records of the request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        try RowDecoder.fetchSet(db, self)
    }
}
