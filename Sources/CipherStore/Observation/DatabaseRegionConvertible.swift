/// A type that tells which region of a database it concerns.
///
/// Requests and tables do, and so does a ``DatabaseRegion``.
public protocol DatabaseRegionConvertible {
    /// Returns the region.
    ///
    /// - parameter db: A connection to the database.
    /// - throws: A ``DatabaseError``, when a table does not exist for one.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// The region of all tables.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

extension DatabaseRegion: DatabaseRegionConvertible {
    /// Returns the region itself.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

/// A region whose source is hidden.
///
/// ```swift
/// let region = AnyDatabaseRegionConvertible { db in try Player.all().databaseRegion(db) }
/// ```
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible, Sendable {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Makes a region that a function gives.
    public init(_ region: @escaping @Sendable (Database) throws -> DatabaseRegion) {
        self.region = region
    }

    /// Hides the type of a region.
    public init(_ region: some DatabaseRegionConvertible & Sendable) {
        self.region = { try region.databaseRegion($0) }
    }

    /// Returns the hidden region.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }
}

// MARK: - Requests

extension FetchRequest {
    /// Returns the region that the request reads.
    ///
    /// - throws: A ``DatabaseError`` when the statement can't be prepared.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }
}

extension AnyFetchRequest {
    /// Returns the region of the hidden request.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try base.databaseRegion(db) }
}

extension AdaptedFetchRequest {
    /// Returns the region of the base request.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try base.databaseRegion(db) }
}

extension QueryInterfaceRequest {
    /// Returns the region that the request reads, with the rows of its table
    /// that its filters leave, as far as they name rowids, and the regions of
    /// associated rows that are fetched afterwards.
    ///
    /// - throws: A ``DatabaseError`` when the statement can't be prepared.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try relation.databaseRegion(db)
    }
}

extension Relation {
    fileprivate func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try region(of: makePreparedRequest(db).statement.reads, db)
    }

    /// The region of a statement of the relation and of those that follow it.
    func region(of reads: StatementReads, _ db: Database) throws -> DatabaseRegion {
        let region = try ownRegion(of: reads, db)
        // Without rows, nothing is fetched afterwards.
        if region.isEmpty { return region }
        return try prefetchedRelations(db).reduce(region) { try $0.union($1.databaseRegion(db)) }
    }

    private func ownRegion(of reads: StatementReads, _ db: Database) throws -> DatabaseRegion {
        // Other rows may be read where the table appears once more: in a
        // subquery, or as the table of an association.
        guard let table = source.tableName, reads.selectCount <= 1, !joins(table),
            let rowIDs = try rowIDs(db)
        else { return reads.region }
        let column = try db.existingPrimaryKey(of: table)?.rowIDColumn
        return reads.region.restricted(toRowIDs: rowIDs, in: column, of: table)
    }
}

extension Relation {
    /// Whether a table is joined somewhere.
    fileprivate func joins(_ table: String) -> Bool {
        children.contains { child in
            child.relation.source.name.foldedIdentifier == table.foldedIdentifier
                || child.relation.joins(table)
        }
    }
}

extension Table: DatabaseRegionConvertible {
    /// Returns the region of all columns and rows of the table, or of what a view reads.
    ///
    /// - throws: A ``DatabaseError`` when the table does not exist.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let table = try db.find(.table, tableName).map { DatabaseRegion(table: $0.name) }
        return try table ?? request.databaseRegion(db)
    }
}

extension DatabaseCursor {
    /// The region that the statement of the cursor reads.
    public var databaseRegion: DatabaseRegion { statement.databaseRegion }
}
