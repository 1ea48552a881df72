// Errors for records that are not there, for requests of the app's own:
// `guard let player = try request.fetchOne(db) else { throw Player.recordNotFound(db, key: 7) }`.

extension TableRecord {
    /// Returns the error that the table has no row of a primary key.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - key: The value of the primary key, which has one column.
    /// - returns: ``RecordError/recordNotFound(databaseTableName:key:)``, or the ``DatabaseError`` that kept the
    ///   primary key from being looked up.
    public static func recordNotFound(_ db: Database, key: some DatabaseValueConvertible) -> any Error {
        do {
            let columns = try db.primaryKey(databaseTableName).columns
            return RecordError.recordNotFound(
                databaseTableName: databaseTableName, key: [columns.first ?? "rowid": key.databaseValue])
        } catch { return error }
    }

    /// Returns the error that the table has no row of a key.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - key: The columns of the key and their values.
    /// - returns: ``RecordError/recordNotFound(databaseTableName:key:)``.
    public static func recordNotFound(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) -> any Error {
        recordNotFound(key: key)
    }

    /// Returns the error that the table has no row of a key.
    ///
    /// - parameter key: The columns of the key and their values.
    /// - returns: ``RecordError/recordNotFound(databaseTableName:key:)``.
    public static func recordNotFound(key: [String: (any DatabaseValueConvertible)?]) -> any Error {
        RecordError.recordNotFound(
            databaseTableName: databaseTableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns the error that the table has no row of an id.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - id: The id.
    /// - returns: ``RecordError/recordNotFound(databaseTableName:key:)``, or the ``DatabaseError`` that kept the
    ///   primary key from being looked up.
    public static func recordNotFound(_ db: Database, id: ID) -> any Error {
        recordNotFound(db, key: id)
    }
}

extension TableRecord where Self: EncodableRecord {
    /// Returns the error that the table has no row of the record's primary key.
    ///
    /// - parameter db: A connection.
    /// - returns: ``RecordError/recordNotFound(databaseTableName:key:)``, or the error that kept the key from being
    ///   looked up or encoded.
    public func recordNotFound(_ db: Database) -> any Error {
        do {
            let plan = try db.recordPlans.plan(db, for: type(of: self))
            return plan.recordNotFound(try plan.encode(self))
        } catch { return error }
    }
}
