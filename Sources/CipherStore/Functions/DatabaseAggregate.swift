/// A type that computes one value of many rows.
///
/// ```swift
/// struct MaxLength: DatabaseAggregate {
///     private var length = 0
///
///     mutating func step(_ dbValues: [DatabaseValue]) {
///         guard let text = String.fromDatabaseValue(dbValues[0]) else { return }
///         length = max(length, text.count)
///     }
///
///     func finalize() -> (any DatabaseValueConvertible)? { length }
/// }
///
/// db.add(function: DatabaseFunction("maxLength", argumentCount: 1, pure: true, aggregate: MaxLength.self))
/// let length = try Int.fetchOne(db, sql: "SELECT maxLength(name) FROM player")
/// ```
public protocol DatabaseAggregate {
    /// Makes an aggregate that has seen no row.
    init()

    /// Takes the arguments of one row.
    ///
    /// - throws: An error that makes the statement fail; ``finalize()`` is not called then.
    mutating func step(_ dbValues: [DatabaseValue]) throws

    /// Returns the result; it is called once, after the last row.
    ///
    /// - throws: An error that makes the statement fail.
    mutating func finalize() throws -> (any DatabaseValueConvertible)?
}

/// The state of an aggregate of an app.
final class ValueAggregate<Aggregate: DatabaseAggregate>: AggregateState {
    private var aggregate: Aggregate

    init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    func step(_ call: FunctionCall) throws { try aggregate.step(call.databaseValues) }

    func finalize(_ call: FunctionCall) throws {
        call.returnValue(try aggregate.finalize()?.databaseValue ?? .null)
    }
}
