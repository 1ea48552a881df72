/// A request whose own type is hidden.
///
/// ```swift
/// let request = AnyFetchRequest(Player.all())
/// ```
public struct AnyFetchRequest<RowDecoder> {
    let base: any FetchRequest<RowDecoder>

    /// Hides the type of a request.
    public init(_ request: some FetchRequest<RowDecoder>) {
        base = request
    }
}

extension AnyFetchRequest: FetchRequest {
    /// The hidden request as a subquery.
    public var sqlSubquery: SQLSubquery { base.sqlSubquery }

    /// Returns the statement of the hidden request.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool
    ) throws -> PreparedRequest {
        try base.makePreparedRequest(db, forSingleResult: singleResult)
    }

    /// Returns the number of rows of the hidden request.
    public func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }

    /// Returns a request whose rows are decoded as another type.
    ///
    /// - parameter type: The type.
    public func asRequest<OtherDecoder>(of type: OtherDecoder.Type) -> AnyFetchRequest<OtherDecoder> {
        AnyFetchRequest<OtherDecoder>(OtherwiseDecodedRequest<RowDecoder, OtherDecoder>(base: base))
    }
}

/// A request whose rows are decoded as another type than it says.
private struct OtherwiseDecodedRequest<BaseDecoder, RowDecoder>: FetchRequest {
    let base: any FetchRequest<BaseDecoder>

    var sqlSubquery: SQLSubquery { base.sqlSubquery }

    func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool
    ) throws -> PreparedRequest {
        try base.makePreparedRequest(db, forSingleResult: singleResult)
    }

    func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }
}
