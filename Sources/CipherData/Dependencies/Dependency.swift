/// Reads one of ``DependencyValues``.
///
/// ```swift
/// final class Model {
///     @Dependency(\.defaultDatabase) var database
/// }
/// ```
///
/// It keeps the values that were set where it was made, so that a model that is made in
/// `withDependencies` goes on with them. Those that are set where it is read come first.
@propertyWrapper public struct Dependency<Value>: Sendable {
    private let initial: DependencyValues
    private let keyPath: any KeyPath<DependencyValues, Value> & Sendable

    /// - parameter keyPath: The value.
    public init(_ keyPath: any KeyPath<DependencyValues, Value> & Sendable) {
        initial = DependencyValues.current
        self.keyPath = keyPath
    }

    /// The value.
    public var wrappedValue: Value { initial.merging(DependencyValues.current)[keyPath: keyPath] }
}
