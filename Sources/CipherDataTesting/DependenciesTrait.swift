import CipherData
import Testing

/// Sets dependencies for a test, or for each test of a suite.
///
/// ```swift
/// @Suite(.dependencies { $0.defaultDatabase = try appDatabase() })
/// struct ReminderTests {
///     @Dependency(\.defaultDatabase) var database
///     …
/// }
/// ```
///
/// The closure runs once for each test, so each has a database of its own.
public struct DependenciesTrait: SuiteTrait, TestTrait, TestScoping {
    /// Whether each test of the suite, and of those in it, has values of its own: always.
    public var isRecursive: Bool { true }

    private let updates: @Sendable (inout DependencyValues) async throws -> Void

    init(_ updates: @escaping @Sendable (inout DependencyValues) async throws -> Void) {
        self.updates = updates
    }

    /// Runs a test with its values.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // The suite's own scope is around all of its tests: they would share one database.
        guard testCase != nil else { return try await function() }
        // The closure may ask for the context, as `defaultDatabase()` does.
        try await withDependencies {
            $0.context = .test
        } operation: {
            try await withDependencies {
                try await updates(&$0)
            } operation: {
                try await function()
            }
        }
    }
}

extension Trait where Self == DependenciesTrait {
    /// Sets dependencies for each test.
    ///
    /// - parameter updates: Sets the values. Its error is that of the test.
    public static func dependencies(
        _ updates: @escaping @Sendable (inout DependencyValues) async throws -> Void
    ) -> Self {
        DependenciesTrait(updates)
    }

    /// Sets one dependency for each test.
    ///
    /// ```swift
    /// @Suite(.dependency(\.defaultDatabase, try appDatabase()))
    /// ```
    ///
    /// - parameters:
    ///     - keyPath: The value.
    ///     - value: What it is. It is made once for each test, and its error is that of the test.
    public static func dependency<Value: Sendable>(
        _ keyPath: any WritableKeyPath<DependencyValues, Value> & Sendable,
        _ value: @autoclosure @escaping @Sendable () throws -> Value
    ) -> Self {
        DependenciesTrait { $0[keyPath: keyPath] = try value() }
    }
}
