/// An SQL function in Swift that queries call with typed expressions: what `@DatabaseFunction` makes of a function.
///
/// ```swift
/// @DatabaseFunction(isDeterministic: true)
/// func folded(_ text: String) -> String { text.lowercased() }
///
/// configuration.prepareDatabase { db in db.add(function: $folded) }
/// Book.where { $folded($0.title).eq("dune") }
/// // SELECT … FROM "books" WHERE ("folded"("books"."title")) = (?)
/// ```
public protocol ScalarDatabaseFunction<Output>: Sendable {
    /// The type of its result: how it is stored.
    associatedtype Output

    /// The name in SQL.
    var name: String { get }

    /// The number of arguments; a row that is passed has one for each of its columns.
    var argumentCount: Int { get }

    /// Whether the result depends on the arguments only. An index may use only such functions, and with SQLCipher 4
    /// only these can be called by views and triggers of the file.
    var isDeterministic: Bool { get }

    /// Computes the result.
    ///
    /// - parameter decoder: Reads the arguments, one after the other.
    /// - throws: Any error; the statement fails with it.
    func invoke(_ decoder: inout some QueryDecoder) throws -> QueryBinding
}

/// An SQL aggregate in Swift: what `@DatabaseFunction` makes of a function that takes `some Sequence<Element>`.
///
/// ```swift
/// @DatabaseFunction
/// func median(_ numbers: some Sequence<Double>) -> Double? {
///     let sorted = numbers.sorted()
///     return sorted.isEmpty ? nil : sorted[sorted.count / 2]
/// }
///
/// Order.group(by: \.customerID).select { ($0.customerID, $median($0.amount)) }
/// ```
///
/// The rows of a group are kept until it is complete.
public protocol AggregateDatabaseFunction<Output>: Sendable {
    /// What one row gives.
    associatedtype Element

    /// The type of its result: how it is stored.
    associatedtype Output

    /// The name in SQL.
    var name: String { get }

    /// The number of arguments.
    var argumentCount: Int { get }

    /// Whether the result depends on the arguments only.
    var isDeterministic: Bool { get }

    /// Reads the arguments of one row.
    ///
    /// - throws: An error that makes the statement fail.
    func step(_ decoder: inout some QueryDecoder) throws -> Element

    /// Computes the result of a group.
    ///
    /// - throws: Any error; the statement fails with it.
    func invoke(_ rows: [Element]) throws -> QueryBinding
}

extension QueryBinding {
    /// The value as a type stores it.
    ///
    /// - parameters:
    ///     - value: The value.
    ///     - type: How it is stored.
    public init<Value: QueryBindable>(_ value: Value.QueryOutput, as type: Value.Type) {
        self = Value(queryOutput: value).queryBinding
    }
}

extension Database {
    /// Adds a function to the connection, in the place of one with the same name and number of arguments.
    ///
    /// Call it in `Configuration.prepareDatabase`, so that all connections of a pool have it.
    public func add(function: some ScalarDatabaseFunction) { add(function: function.registration) }

    /// Adds an aggregate to the connection, in the place of one with the same name and number of arguments.
    ///
    /// Call it in `Configuration.prepareDatabase`, so that all connections of a pool have it.
    public func add(function: some AggregateDatabaseFunction) {
        for registration in function.registrations { add(function: registration) }
    }

    /// Removes a function from the connection.
    public func remove(function: some ScalarDatabaseFunction) { remove(function: function.registration) }

    /// Removes an aggregate from the connection.
    public func remove(function: some AggregateDatabaseFunction) {
        for registration in function.registrations { remove(function: registration) }
    }
}

extension ScalarDatabaseFunction {
    /// The function as the record layer registers it.
    var registration: DatabaseFunction {
        DatabaseFunction(name, argumentCount: argumentCount, pure: isDeterministic) { values in
            var decoder = ArgumentDecoder(values)
            return try invoke(&decoder).databaseValue()
        }
    }
}

extension AggregateDatabaseFunction {
    /// The aggregate as the record layer registers it. Where the engine has no `FILTER`, the condition is one more
    /// argument.
    var registrations: [DatabaseFunction] {
        [argumentCount, argumentCount + 1].map { count in
            DatabaseFunction(name, argumentCount: count, pure: isDeterministic) {
                CollectedRows(function: self, argumentCount: self.argumentCount)
            }
        }
    }
}

/// The rows of a group that an aggregate has seen.
private struct CollectedRows<Function: AggregateDatabaseFunction>: DatabaseAggregate {
    private let function: Function?
    private let argumentCount: Int
    private var rows: [Function.Element] = []

    init(function: Function, argumentCount: Int) {
        self.function = function
        self.argumentCount = argumentCount
    }

    /// The protocol asks for it. An aggregate without its function has no rows.
    init() {
        function = nil
        argumentCount = 0
    }

    mutating func step(_ values: [DatabaseValue]) throws {
        guard let function else { return }
        if values.count > argumentCount, !(Bool.fromDatabaseValue(values[argumentCount]) ?? false) { return }
        var decoder = ArgumentDecoder(Array(values.prefix(argumentCount)))
        rows.append(try function.step(&decoder))
    }

    mutating func finalize() throws -> (any DatabaseValueConvertible)? {
        try function?.invoke(rows).databaseValue()
    }
}
