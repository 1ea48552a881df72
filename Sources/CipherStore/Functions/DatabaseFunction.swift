/// An SQL function or aggregate that is written in Swift.
///
/// ```swift
/// let reverse = DatabaseFunction("reverse", argumentCount: 1, pure: true) { values in
///     String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
/// }
/// configuration.prepareDatabase { db in
///     db.add(function: reverse)
/// }
/// try dbQueue.read { db in
///     try String.fetchOne(db, sql: "SELECT reverse('foo')")  // "oof"
/// }
/// ```
///
/// ## Functions in the schema
///
/// Connections don't trust the schema of a file, because whoever made the file
/// chose what its views, triggers and defaults call, and with which arguments. With
/// SQLCipher 4 they may call *innocuous* functions only: the pure ones, and
/// those that say so. Others make such a statement fail with "unsafe use of
/// f()". SQLCipher 3 knows no such rule and allows any function.
///
/// Temporary views and triggers, which no file has, may call any function. An audit trigger of the app can be one:
/// make it after the migrations, on the connection that writes, with which it goes.
///
/// ```swift
/// try dbPool.write { db in
///     try db.execute(
///         sql: "CREATE TEMP TRIGGER audit AFTER INSERT ON player BEGIN INSERT INTO log VALUES (currentUser()); END")
/// }
/// ```
///
/// What stays in the file needs `innocuous: true`. Say so only of functions that do nothing and tell nothing which
/// others may not do or know, with whatever arguments they are called.
///
/// Related SQLite documentation: <https://www.sqlite.org/c3ref/c_deterministic.html#sqliteinnocuous>
public struct DatabaseFunction: Sendable {
    private enum Implementation: Sendable {
        case function(FunctionRegistration.Function)
        case aggregate(FunctionRegistration.MakeAggregate)
    }

    /// The name of the function in SQL.
    public let name: String

    /// The number of arguments, -1 for any.
    let argumentCount: CInt
    private let traits: FunctionRegistration.Traits
    private let implementation: Implementation

    /// Whether the result depends on the arguments only.
    var isPure: Bool { traits.contains(.deterministic) }

    /// Makes a function.
    ///
    /// An error that the function throws makes the statement fail: a
    /// ``DatabaseError`` with its code and message, another one with
    /// `SQLITE_ERROR` and its description.
    ///
    /// - parameters:
    ///     - name: The name in SQL.
    ///     - argumentCount: The number of arguments; any number when nil.
    ///     - pure: Whether the result depends on the arguments only, and the function has no side effect.
    ///     - innocuous: Whether the schema of a file may call it, see above; as `pure` when nil.
    ///     - function: Computes the result of the arguments.
    public init(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, innocuous: Bool? = nil,
        function: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) {
        self.init(name, argumentCount: argumentCount, traits: Self.traits(pure, innocuous)) { call in
            call.returnValue(try function(call.databaseValues)?.databaseValue ?? .null)
        }
    }

    /// Makes an aggregate.
    ///
    /// - parameters:
    ///     - name: The name in SQL.
    ///     - argumentCount: The number of arguments; any number when nil.
    ///     - pure: Whether the result depends on the arguments only.
    ///     - innocuous: Whether the schema of a file may call it, see above; as `pure` when nil.
    ///     - aggregate: The type that aggregates. An instance is made for each group.
    public init<Aggregate: DatabaseAggregate>(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, innocuous: Bool? = nil,
        aggregate: Aggregate.Type
    ) {
        // It captures nothing but a type, which is the same on every thread.
        nonisolated(unsafe) let make: () -> any AggregateState = { ValueAggregate(aggregate.init()) }
        self.init(
            name, argumentCount: argumentCount, traits: Self.traits(pure, innocuous),
            makeAggregate: { make() })
    }

    /// Makes an aggregate whose instances, one for each group, a function makes.
    package init<Aggregate: DatabaseAggregate>(
        _ name: String, argumentCount: Int?, pure: Bool, makeAggregate: @escaping @Sendable () -> Aggregate
    ) {
        self.init(
            name, argumentCount: argumentCount, traits: Self.traits(pure, nil),
            makeAggregate: { ValueAggregate(makeAggregate()) })
    }

    /// Makes a function that decodes its arguments itself.
    init(
        _ name: String, argumentCount: Int?, traits: FunctionRegistration.Traits,
        body: @escaping FunctionRegistration.Function
    ) {
        self.name = name
        self.argumentCount = CInt(argumentCount ?? -1)
        self.traits = traits
        implementation = .function(body)
    }

    /// Makes an aggregate that decodes its arguments itself.
    init(
        _ name: String, argumentCount: Int?, traits: FunctionRegistration.Traits,
        makeAggregate: @escaping FunctionRegistration.MakeAggregate
    ) {
        self.name = name
        self.argumentCount = CInt(argumentCount ?? -1)
        self.traits = traits
        implementation = .aggregate(makeAggregate)
    }

    private static func traits(_ pure: Bool, _ innocuous: Bool?) -> FunctionRegistration.Traits {
        var traits: FunctionRegistration.Traits = pure ? .deterministic : []
        if innocuous ?? pure { traits.insert(.innocuous) }
        return traits
    }

    fileprivate func add(
        to handle: SQLiteConnection, _ watch: ConnectionWatch?, argumentCount: CInt
    ) -> ResultCode {
        let code =
            switch implementation {
            case .function(let function):
                FunctionRegistration.add(
                    function, name: name, argumentCount: argumentCount, traits: traits, to: handle, watch)
            case .aggregate(let make):
                FunctionRegistration.add(
                    aggregate: make, name: name, argumentCount: argumentCount, traits: traits, to: handle,
                    watch)
            }
        return ResultCode(rawValue: code)
    }

    fileprivate func remove(from handle: SQLiteConnection, argumentCount: CInt) -> ResultCode {
        ResultCode(
            rawValue: FunctionRegistration.remove(name: name, argumentCount: argumentCount, from: handle))
    }
}

extension DatabaseFunction: Identifiable {
    /// The name and the number of arguments, by which SQLite tells functions apart.
    public struct ID: Hashable, Sendable {
        /// The name in lower case.
        fileprivate let name: String
        fileprivate let argumentCount: CInt
    }

    /// The name and the number of arguments: of two functions with the same ones, the last that is added to a
    /// connection counts.
    public var id: ID { ID(name: name.foldedIdentifier, argumentCount: argumentCount) }
}

extension DatabaseFunction: Hashable {
    /// Returns whether two functions replace each other on a connection.
    public static func == (left: DatabaseFunction, right: DatabaseFunction) -> Bool {
        left.id == right.id
    }

    /// Hashes the name and the number of arguments.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension Database {
    /// Adds a function to the connection, in the place of one with the same
    /// name and number of arguments.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, so that all the
    /// connections of a pool have the function. It is a programming error to
    /// replace a function that a running statement uses.
    public func add(function: DatabaseFunction) {
        add(function: function, watch)
        functions.definitions.note(function)
    }

    /// Adds a function.
    ///
    /// - parameter watch: What is told about its calls, or nil when it does not
    ///   use the connection.
    func add(function: DatabaseFunction, _ watch: ConnectionWatch?) {
        guard !isClosed else { return }
        for count in functions.argumentCounts(of: function) { add(function, watch, argumentCount: count) }
        functions.add(function, watch)
    }

    private func add(_ function: DatabaseFunction, _ watch: ConnectionWatch?, argumentCount: CInt) {
        let code = function.add(to: handle, watch, argumentCount: argumentCount)
        precondition(code == .SQLITE_OK, "could not add the function \(function.name): \(code)")
    }

    /// Removes a function from the connection.
    ///
    /// A function that the library adds to each connection, such as `uuid`, takes the place of the app's own again.
    public func remove(function: DatabaseFunction) {
        guard !isClosed else { return }
        functions.definitions.forget(function)
        if let builtIn = DatabaseFunction.builtIns.last(where: { $0 == function }) {
            return add(function: builtIn, nil)
        }
        for count in functions.argumentCounts(of: function) {
            let code = function.remove(from: handle, argumentCount: count)
            precondition(code == .SQLITE_OK, "could not remove the function \(function.name): \(code)")
        }
        functions.remove(function)
        // SQLite would call none of any number of arguments in its place.
        guard function.argumentCount >= 0, let rest = functions.variadic(named: function.name) else { return }
        add(rest.function, rest.watch, argumentCount: function.argumentCount)
    }
}
