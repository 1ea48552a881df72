/// A request that tells what its rows are decoded as.
public protocol TypedRequest<RowDecoder> {
    /// The type of what is fetched: ``Row``, a value, or a record.
    associatedtype RowDecoder
}

/// A request to which associations can be joined.
public protocol JoinableRequest<RowDecoder>: TypedRequest {
    /// Returns a request for other rows.
    ///
    /// - parameter change: What one of this library's own methods changes.
    func changing(_ change: RelationChange) -> Self
}

/// A request that can be refined: those of the query builder, and associations.
///
/// Extend it with the parts that your requests share:
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func filter(country: String) -> Self {
///         filter { $0.country == country }
///     }
///
///     func orderedByName() -> Self {
///         order { $0.name.collating(.localizedCaseInsensitiveCompare) }
///     }
/// }
///
/// let players = try Player.all().filter(country: "FR").orderedByName().fetchAll(db)
/// ```
public protocol DerivableRequest<RowDecoder>: AggregatingRequest, FilteredRequest, JoinableRequest,
    OrderedRequest, SelectionRequest, TableRequest
{
    /// Returns a request for different rows: `SELECT DISTINCT`.
    func distinct() -> Self

    /// Returns a request that can use a common table expression.
    ///
    /// An expression replaces one of the same name.
    func with<CTERowDecoder>(_ cte: CommonTableExpression<CTERowDecoder>) -> Self
}
