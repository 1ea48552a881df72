/// A key under which ``DependencyValues`` keeps a value, with what it is where nobody has set it.
///
/// ```swift
/// private enum APIClientKey: DependencyKey {
///     static let liveValue = APIClient.live
///     static let testValue = APIClient.mock
/// }
/// extension DependencyValues {
///     var apiClient: APIClient {
///         get { self[APIClientKey.self] }
///         set { self[APIClientKey.self] = newValue }
///     }
/// }
/// ```
public protocol DependencyKey: TestDependencyKey {
    /// What is kept under the key.
    // Without this declaration, the compiler does not infer the type from `liveValue`.
    associatedtype Value: Sendable

    /// The value in a program that runs for its user.
    static var liveValue: Value { get }
}

/// A key whose value for the user is given elsewhere, or not at all.
public protocol TestDependencyKey {
    /// What is kept under the key.
    associatedtype Value: Sendable

    /// The value in previews. By default, that of tests.
    static var previewValue: Value { get }

    /// The value in tests. By default, the one for the user, where there is one.
    static var testValue: Value { get }
}

extension TestDependencyKey {
    /// The value of tests.
    public static var previewValue: Value { testValue }
}

extension DependencyKey {
    /// The value for the user.
    public static var testValue: Value { liveValue }

    /// The value for the user.
    public static var previewValue: Value { liveValue }
}

/// What a program runs for.
public enum DependencyContext: Sendable, Equatable {
    /// For its user.
    case live
    /// For a preview in an editor.
    case preview
    /// For tests.
    case test
}
