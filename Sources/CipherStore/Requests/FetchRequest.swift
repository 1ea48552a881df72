/// A request for rows, and the type that they are decoded as.
///
/// ```swift
/// let request: some FetchRequest<Player> = Player.filter { $0.score > 1000 }
/// let players = try request.fetchAll(db)
/// ```
public protocol FetchRequest<RowDecoder>: SQLSubqueryable, DatabaseRegionConvertible {
    /// The type of what is fetched: ``Row``, a value, or a record.
    associatedtype RowDecoder

    /// Returns the request as a statement that is ready to run.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - singleResult: Whether only the first row will be read. The request
    ///       may add a limit.
    /// - throws: A ``DatabaseError`` when the statement can't be prepared.
    func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool
    ) throws -> PreparedRequest

    /// Returns the number of rows of the request.
    ///
    /// - throws: A ``DatabaseError``.
    func fetchCount(_ db: Database) throws -> Int
}

extension FetchRequest {
    /// Returns the request as a statement that is ready to run, for all its rows.
    public func makePreparedRequest(_ db: Database) throws -> PreparedRequest {
        try makePreparedRequest(db, forSingleResult: false)
    }

    /// Returns a request whose rows are presented by an adapter.
    ///
    /// ```swift
    /// let request = Player.all().adapted { _ in SuffixRowAdapter(fromIndex: 1) }
    /// ```
    ///
    /// - parameter adapter: Makes the adapter. It adapts what the adapters that
    ///   the request has already present.
    public func adapted(
        _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter
    ) -> AdaptedFetchRequest<Self> {
        AdaptedFetchRequest(base: self, adapter: adapter)
    }
}

/// A request whose rows are presented by an adapter: ``FetchRequest/adapted(_:)``.
public struct AdaptedFetchRequest<Base: FetchRequest> {
    let base: Base
    let adapter: @Sendable (Database) throws -> any RowAdapter
}

extension AdaptedFetchRequest: FetchRequest {
    /// The type of what is fetched.
    public typealias RowDecoder = Base.RowDecoder

    /// The base request as a subquery.
    public var sqlSubquery: SQLSubquery { base.sqlSubquery }

    /// Returns the base request with the adapter.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool
    ) throws -> PreparedRequest {
        var request = try base.makePreparedRequest(db, forSingleResult: singleResult)
        let outer = try adapter(db)
        request.adapter = request.adapter.map { ChainedRowAdapter(inner: $0, outer: outer) } ?? outer
        return request
    }

    /// Returns the number of rows of the base request.
    public func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }
}

extension AdaptedFetchRequest: Sendable where Base: Sendable {}
