import CSQLCipher

/// Registers functions and collations on a connection.
enum FunctionRegistration {
    /// What a function promises, so that SQLite optimizes and allows more.
    struct Traits: OptionSet, Sendable {
        let rawValue: CInt

        /// The result depends on the arguments only.
        static let deterministic = Traits(rawValue: SQLITE_DETERMINISTIC)
        /// The schema of an untrusted file may call it; it has no side effect
        /// and reveals nothing.
        static let innocuous = Traits(rawValue: 0x0020_0000)
        /// It reads the marks of its arguments.
        static let readsSubtypes = Traits(rawValue: 0x0010_0000)
        /// It marks its result.
        static let marksResult = Traits(rawValue: 0x0100_0000)

        /// The flags that the library knows.
        var known: CInt {
            EngineFeatures.current.supportsTrustedSchema ? rawValue : rawValue & SQLITE_DETERMINISTIC
        }
    }

    typealias Function = @Sendable (FunctionCall) throws -> Void
    typealias MakeAggregate = @Sendable () -> any AggregateState

    private final class FunctionBox {
        let function: Function
        let watch: ConnectionWatch?

        init(_ function: @escaping Function, _ watch: ConnectionWatch?) {
            self.function = function
            self.watch = watch
        }
    }

    private final class AggregateFactory {
        let make: MakeAggregate
        let watch: ConnectionWatch?

        init(_ make: @escaping MakeAggregate, _ watch: ConnectionWatch?) {
            self.make = make
            self.watch = watch
        }
    }

    /// Registers a function. A count of -1 stands for any number of arguments.
    ///
    /// - parameter watch: What is told about calls, or nil for a function that is
    ///   known not to use the connection.
    /// - returns: An SQLite result code.
    static func add(
        _ function: @escaping Function, name: String, argumentCount: CInt, traits: Traits,
        to handle: SQLiteConnection, _ watch: ConnectionWatch?
    ) -> CInt {
        sqlite3_create_function_v2(
            handle, name, argumentCount, SQLITE_UTF8 | traits.known,
            Unmanaged.passRetained(FunctionBox(function, watch)).toOpaque(),
            { context, count, arguments in
                let call = FunctionCall(context, count, arguments)
                guard let box = call.registered(FunctionBox.self) else { return }
                run(box.watch) { call.run(box.function) }
            }, nil, nil, { release($0) })
    }

    /// Registers an aggregate.
    ///
    /// - returns: An SQLite result code.
    static func add(
        aggregate make: @escaping MakeAggregate, name: String, argumentCount: CInt, traits: Traits,
        to handle: SQLiteConnection, _ watch: ConnectionWatch?
    ) -> CInt {
        sqlite3_create_function_v2(
            handle, name, argumentCount, SQLITE_UTF8 | traits.known,
            Unmanaged.passRetained(AggregateFactory(make, watch)).toOpaque(), nil,
            { context, count, arguments in
                let call = FunctionCall(context, count, arguments)
                guard let factory = call.registered(AggregateFactory.self) else { return }
                run(factory.watch) {
                    call.run(call.aggregateState(orMake: { FailingState(factory.make()) }).step)
                }
            },
            { context in
                let call = FunctionCall(context, 0, nil)
                guard let factory = call.registered(AggregateFactory.self) else { return }
                run(factory.watch) {
                    call.run((call.takeAggregateState() ?? factory.make()).finalize)
                }
            }, { release($0) })
    }

    /// Removes a function or an aggregate.
    static func remove(name: String, argumentCount: CInt, from handle: SQLiteConnection) -> CInt {
        sqlite3_create_function_v2(handle, name, argumentCount, SQLITE_UTF8, nil, nil, nil, nil, nil)
    }

    // MARK: Collations

    /// Compares UTF-8 texts: less than, equal to or more than 0.
    typealias Comparison = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> CInt

    private final class ComparisonBox {
        let compare: Comparison
        let watch: ConnectionWatch?

        init(_ compare: @escaping Comparison, _ watch: ConnectionWatch?) {
            self.compare = compare
            self.watch = watch
        }
    }

    /// Registers a collation.
    ///
    /// - returns: An SQLite result code.
    static func add(
        collation compare: @escaping Comparison, name: String, to handle: SQLiteConnection,
        _ watch: ConnectionWatch?
    ) -> CInt {
        let box = Unmanaged.passRetained(ComparisonBox(compare, watch))
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, box.toOpaque(),
            { box, leftCount, left, rightCount, right in
                guard let box else { return 0 }
                let comparison = Unmanaged<ComparisonBox>.fromOpaque(box).takeUnretainedValue()
                let left = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
                let right = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
                guard let watch = comparison.watch else { return comparison.compare(left, right) }
                return watch.duringCall { comparison.compare(left, right) }
            }, { release($0) })
        // Unlike a function's, this object is not released by a failure.
        if code != SQLITE_OK { box.release() }
        return code
    }

    /// Removes a collation.
    static func remove(collation name: String, from handle: SQLiteConnection) -> CInt {
        sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil)
    }
}

private func run(_ watch: ConnectionWatch?, _ body: () -> Void) {
    if let watch { watch.duringCall(body) } else { body() }
}

private func release(_ object: UnsafeMutableRawPointer?) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
}

/// An aggregation that has no result once a step failed: SQLite asks for it nevertheless.
private final class FailingState: AggregateState {
    private let state: any AggregateState
    private var hasFailed = false

    init(_ state: any AggregateState) { self.state = state }

    func step(_ call: FunctionCall) throws {
        guard !hasFailed else { return }
        do {
            try state.step(call)
        } catch {
            hasFailed = true
            throw error
        }
    }

    func finalize(_ call: FunctionCall) throws {
        if !hasFailed { try state.finalize(call) }
    }
}
