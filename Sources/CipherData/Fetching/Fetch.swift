import CipherStore

#if canImport(SwiftUI)
    import SwiftUI
#endif

/// A property with what a request fetches, which changes with the database.
///
/// ```swift
/// @Observable final class Model {
///     @ObservationIgnored @Fetch(Overview()) var overview = Overview.Value()
/// }
/// ```
///
/// The value is there when the property has been made, unless that happens in an access to a database. After a
/// commit that changes what was read, by this process or another one, there is another one. `$overview` has
/// the rest: ``load(_:database:)``, ``isLoading``, ``loadError``, ``values``.
@propertyWrapper public struct Fetch<Value: Sendable>: Sendable {
    #if canImport(SwiftUI)
        // A view makes its properties anew each time, and SwiftUI keeps the first box for them.
        @State var box: FetchBox<Value>
    #else
        let box: FetchBox<Value>
    #endif

    /// Makes a property that has a value of its own until it is given a request by ``load(_:database:)``.
    public init(wrappedValue: Value) { box = FetchBox(wrappedValue) }

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

    /// Makes a property of a request, nil until there is a value.
    public init<Wrapped: Sendable>(
        _ request: some FetchKeyRequest<Value>, database: (any DatabaseReader)? = nil
    ) where Value == Wrapped? {
        self.init(wrappedValue: nil, request, database: database)
    }

    /// What was fetched last.
    public var wrappedValue: Value { box.value }

    /// The property itself.
    public var projectedValue: Self {
        get { self }
        nonmutating set {}
    }

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
