import CipherStore

#if canImport(SwiftUI)
    import SwiftUI
#endif

/// A property with the first row of a query, or with one value of it, which changes with the database.
///
/// ```swift
/// @Observable final class Model {
///     @ObservationIgnored @FetchOne(Reminder.where(\.isCompleted).count()) var done = 0
/// }
/// ```
///
/// A property that is no optional keeps its value when the query has no row; `loadError` is ``NoRow`` then.
@propertyWrapper public struct FetchOne<Value: Sendable>: Sendable {
    #if canImport(SwiftUI)
        // A view makes its properties anew each time, and SwiftUI keeps the first box for them.
        @State var box: FetchBox<Value>
    #else
        let box: FetchBox<Value>
    #endif

    // Of a row with a key, `init(wrappedValue:database:)` shows what becomes of it.
    /// Makes a property that has a value of its own until it is given a query by `load`.
    @_disfavoredOverload
    public init(wrappedValue: Value) { self.init(unobserved: wrappedValue) }

    /// Makes a property that observes nothing yet.
    init(unobserved value: Value) { box = FetchBox(value) }

    /// Makes a property of a request.
    ///
    /// - parameters:
    ///     - wrappedValue: The value until there is another one.
    ///     - request: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(
        wrappedValue: Value, _ request: some FetchKeyRequest<Value>, database: (any DatabaseReader)? = nil
    ) {
        box = FetchBox(wrappedValue)
        box.observe(request, in: database) { $0 }
    }

    /// What was fetched last.
    public var wrappedValue: Value { box.value }

    /// The property itself.
    public var projectedValue: Self {
        get { self }
        nonmutating set {}
    }

    /// Whether the first value of a query is still to come.
    public var isLoading: Bool { box.isLoading }

    /// Why there is no new value: the error of the last fetch, until one succeeds.
    public var loadError: (any Error)? { box.error }

    /// The value, and each that follows. A loop that is slow sees the last one only.
    public var values: AsyncStream<Value> { box.values() }

    /// Fetches once more, and waits for it.
    ///
    /// - throws: What the fetch throws.
    public func load() async throws { try await box.reload() }

    /// Fetches something else from now on.
    ///
    /// - parameters:
    ///     - request: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    /// - returns: What ends it.
    /// - throws: What the first fetch throws. The property goes on, and has a value when the cause has ended.
    ///   `CancellationError` when the task is cancelled before: the property goes on with its former request.
    @discardableResult public func load(
        _ request: some FetchKeyRequest<Value>, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription {
        try await box.load(request, in: database) { $0 }
    }
}
