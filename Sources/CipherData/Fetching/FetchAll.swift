import CipherStore

#if canImport(SwiftUI)
    import SwiftUI
#endif

/// A property with all rows of a query, which changes with the database.
///
/// ```swift
/// @Observable final class Model {
///     @ObservationIgnored @FetchAll(Reminder.where { !$0.isCompleted }.order(by: \.title)) var open
/// }
/// ```
///
/// It is a ``Fetch`` whose value is a list: the rows are there when the property has been made, and after each commit
/// that changes what was read.
@propertyWrapper public struct FetchAll<Element: Sendable>: Sendable {
    #if canImport(SwiftUI)
        // A view makes its properties anew each time, and SwiftUI keeps the first box for them.
        @State var box: FetchBox<FetchedRows<Element>>
    #else
        let box: FetchBox<FetchedRows<Element>>
    #endif

    /// What makes sections of the rows.
    var divide: (@Sendable ([Element]) -> ResultsSectionCollection<Element>)?

    // Of rows of a table, `init(wrappedValue:database:)` shows all.
    /// Makes a property that has rows of its own until it is given a query by `load`.
    @_disfavoredOverload
    public init(wrappedValue: [Element] = []) { self.init(unobserved: wrappedValue) }

    /// Makes a property that observes nothing yet.
    init(unobserved rows: [Element]) { box = FetchBox(FetchedRows(elements: rows)) }

    /// Makes a property of a request.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - request: What to fetch.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init(
        wrappedValue: [Element] = [], _ request: some FetchKeyRequest<[Element]>,
        database: (any DatabaseReader)? = nil
    ) {
        self.init(unobserved: wrappedValue)
        box.observe(request, in: database) { rows in FetchedRows(elements: rows) }
    }

    /// The rows that were fetched last.
    public var wrappedValue: [Element] { box.value.elements }

    /// The property itself.
    public var projectedValue: Self {
        get { self }
        nonmutating set {}
    }

    /// Whether the first rows of a query are still to come.
    public var isLoading: Bool { box.isLoading }

    /// Why there are no new rows: the error of the last fetch, until one succeeds.
    public var loadError: (any Error)? { box.error }

    /// The rows, and those that follow. A loop that is slow sees the last ones only.
    public var values: AsyncStream<[Element]> { box.values { rows in rows.elements } }

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
    /// - throws: What the first fetch throws. The property goes on, and has rows when the cause has ended.
    ///   `CancellationError` when the task is cancelled before: the property goes on with its former request.
    @discardableResult public func load(
        _ request: some FetchKeyRequest<[Element]>, database: (any DatabaseReader)? = nil
    ) async throws -> FetchSubscription {
        try await box.load(request, in: database) { rows in FetchedRows(elements: rows) }
    }
}
