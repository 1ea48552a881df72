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
    /// The aggregate as the record layer registers it, and its other form, which every engine has: views and triggers
    /// that an engine without `FILTER` made call it.
    var registrations: [DatabaseFunction] {
        [
            DatabaseFunction(name, argumentCount: argumentCount, pure: isDeterministic) {
                CollectedRows(function: self, isFiltered: false)
            },
            DatabaseFunction(
                FilteredAggregate.name(name), argumentCount: FilteredAggregate.argumentCount(argumentCount),
                pure: isDeterministic
            ) {
                CollectedRows(function: self, isFiltered: true)
            },
        ]
    }
}

/// What is called in the place of an aggregate that has a condition, where the engine has no `FILTER`.
///
/// The arguments are the condition, whether equal arguments count once, and those of the aggregate. The function has a
/// name of its own: with more arguments than the aggregate it could be another function of the app.
enum FilteredAggregate {
    static func name(_ name: String) -> String { "cipherstore_filtered_\(name)" }

    /// The number of arguments for an aggregate's number, so that aggregates of one name have a function each. A number
    /// beyond what SQLite registers is none: nobody can call such a function.
    static func argumentCount(_ count: Int) -> Int? { (0...125).contains(count) ? count + 2 : nil }
}

/// The rows of a group that an aggregate has seen.
private struct CollectedRows<Function: AggregateDatabaseFunction>: DatabaseAggregate {
    private let function: Function?
    /// Whether it is the form of ``FilteredAggregate``.
    private let isFiltered: Bool
    private var rows: [Function.Element] = []
    /// The arguments that were seen, if equal ones count once.
    private var known: Set<[DatabaseValue]> = []

    init(function: Function, isFiltered: Bool) {
        self.function = function
        self.isFiltered = isFiltered
    }

    /// The protocol asks for it. An aggregate without its function has no rows.
    init() {
        function = nil
        isFiltered = false
    }

    mutating func step(_ values: [DatabaseValue]) throws {
        guard let function else { return }
        var values = values
        if isFiltered {
            guard values.count >= 2, Bool.fromDatabaseValue(values[0]) ?? false else { return }
            let isDistinct: Bool = Bool.fromDatabaseValue(values[1]) ?? false
            values.removeFirst(2)
            guard !isDistinct || known.insert(values).inserted else { return }
        }
        var decoder = ArgumentDecoder(values)
        rows.append(try function.step(&decoder))
    }

    mutating func finalize() throws -> (any DatabaseValueConvertible)? {
        try function?.invoke(rows).databaseValue()
    }
}
