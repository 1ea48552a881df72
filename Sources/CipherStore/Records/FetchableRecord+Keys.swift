// Fetching the rows of a record's table: all of them, by primary key, by unique
// key, and by id.

extension FetchableRecord where Self: TableRecord {
    /// Returns a cursor of all records of the table.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> {
        try all().fetchCursor(db)
    }

    /// Returns all records of the table.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchAll(_ db: Database) throws -> [Self] {
        try all().fetchAll(db)
    }

    /// Returns the first record of the table, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchOne(_ db: Database) throws -> Self? {
        try all().fetchOne(db)
    }

    // MARK: By primary key

    /// Returns a cursor of the records with primary keys.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchCursor<Keys: Collection>(_ db: Database, keys: Keys) throws -> RecordCursor<Self>
    where Keys.Element: DatabaseValueConvertible {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Returns the records with primary keys, in no particular order.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchAll<Keys: Collection>(_ db: Database, keys: Keys) throws -> [Self]
    where Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }

    /// Returns the record with a primary key, or nil.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: 123)
    /// ```
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Self? {
        key.databaseValue.isNull ? nil : try fetchRecord(db, key: key)
    }

    /// Returns the record with a primary key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is none, a ``DatabaseError``, or what decoding throws.
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        if let record = try fetchOne(db, key: key) { return record }
        throw recordNotFound(db, key: key)
    }

    // MARK: By unique key

    /// Returns a cursor of the records with unique keys.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - keys: Keys such as `["email": "a@example.com"]`.
    /// - throws: A ``DatabaseError``.
    public static func fetchCursor(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> RecordCursor<Self> {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Returns the records with unique keys, in no particular order.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - keys: Keys such as `["email": "a@example.com"]`.
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> [Self] {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }

    /// Returns the record with a unique key, or nil.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: ["email": "arthur@example.com"])
    /// ```
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]?
    ) throws -> Self? {
        guard let key else { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// Returns the record with a unique key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is none, a ``DatabaseError``, or what decoding throws.
    public static func find(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Self {
        if let record = try fetchOne(db, key: key) { return record }
        throw recordNotFound(key: key)
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// Returns the set of all records of the table.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchSet(_ db: Database) throws -> Set<Self> {
        try all().fetchSet(db)
    }

    /// Returns the set of the records with primary keys.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchSet<Keys: Collection>(_ db: Database, keys: Keys) throws -> Set<Self>
    where Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }

    /// Returns the set of the records with unique keys.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - keys: Keys such as `["email": "a@example.com"]`.
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchSet(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Set<Self> {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// Returns a cursor of the records with ids.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchCursor<IDs: Collection>(_ db: Database, ids: IDs) throws -> RecordCursor<Self>
    where IDs.Element == ID {
        try filter(ids: ids).fetchCursor(db)
    }

    /// Returns the records with ids, in no particular order.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchAll<IDs: Collection>(_ db: Database, ids: IDs) throws -> [Self]
    where IDs.Element == ID {
        ids.isEmpty ? [] : try filter(ids: ids).fetchAll(db)
    }

    /// Returns the record with an id, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchOne(_ db: Database, id: ID) throws -> Self? {
        id.databaseValue.isNull ? nil : try fetchRecord(db, key: id)
    }

    /// Returns the record with an id.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is none, a ``DatabaseError``, or what decoding throws.
    public static func find(_ db: Database, id: ID) throws -> Self {
        if let record = try fetchOne(db, id: id) { return record }
        throw recordNotFound(db, id: id)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable & Hashable, ID: DatabaseValueConvertible {
    /// Returns the set of the records with ids.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public static func fetchSet<IDs: Collection>(_ db: Database, ids: IDs) throws -> Set<Self>
    where IDs.Element == ID {
        ids.isEmpty ? [] : try filter(ids: ids).fetchSet(db)
    }
}
