import CipherStore
import Foundation
import Synchronization

/// The values that a program depends on, such as its database.
///
/// They are set once, at the start of the program, by ``prepareDependencies(_:)``, and otherwise for the time of a
/// closure, by ``withDependencies(_:operation:)-(_,()->R)``. ``Dependency`` reads them.
public struct DependencyValues: Sendable {
    /// The values of the current task.
    @TaskLocal static var current = DependencyValues()

    /// What was set by `prepareDependencies`.
    static let prepared = PreparedDependencies()

    private var storage: [ObjectIdentifier: any Sendable] = [:]
    fileprivate private(set) var ownContext: DependencyContext?

    /// Makes values of which none is set.
    public init() {}

    /// What the program runs for: what was set for this task, or at the start of the program, or what it was found to be.
    public var context: DependencyContext {
        get { ownContext ?? Self.prepared.context ?? .detected }
        set { ownContext = newValue }
    }

    /// The value of a key: the one that was set for this task, or at the start of the program, or the key's own.
    public subscript<Key: TestDependencyKey>(key: Key.Type) -> Key.Value {
        get {
            if let value = storage[ObjectIdentifier(key)] as? Key.Value { return value }
            let context = context
            return Self.prepared.value(key) {
                switch context {
                case .live:
                    (key as? any DependencyKey.Type).flatMap { $0.live as? Key.Value } ?? key.testValue
                case .preview: key.previewValue
                case .test: key.testValue
                }
            }
        }
        set { storage[ObjectIdentifier(key)] = newValue }
    }

    /// These values, with those instead that others have set.
    func merging(_ others: DependencyValues) -> DependencyValues {
        var merged = self
        merged.storage.merge(others.storage) { $1 }
        merged.ownContext = others.ownContext ?? ownContext
        return merged
    }

    fileprivate var all: [ObjectIdentifier: any Sendable] { storage }
}

extension DependencyKey {
    fileprivate static var live: any Sendable { liveValue }
}

extension DependencyContext {
    /// What shows from how the program was started.
    static let detected = detect(
        CommandLine.arguments, ProcessInfo.processInfo.environment, ProcessInfo.processInfo.processName)

    /// What shows from how a program was started: Xcode and SwiftPM start tests and previews in their own ways. Tests of an
    /// app run in the app's process, which only its environment tells.
    static func detect(
        _ arguments: [String], _ environment: [String: String], _ processName: String
    ) -> DependencyContext {
        if environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" { return .preview }
        let isTest =
            arguments.contains("--testing-library") || arguments.contains { $0.hasSuffix(".xctest") }
            || ["xctest", "swiftpm-testing-helper"].contains(processName)
            || ["XCTestConfigurationFilePath", "XCTestBundlePath"].contains { environment[$0] != nil }
        return isTest ? .test : .live
    }
}

/// The values that hold for the whole program.
final class PreparedDependencies: Sendable {
    private struct State {
        var values: [ObjectIdentifier: any Sendable] = [:]
        /// What the program runs for, where it said that.
        var context: DependencyContext?
        /// The keys that were set by the program, not by default.
        var set: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    /// What the program runs for, where it said that.
    var context: DependencyContext? { state.withLock { $0.context } }

    /// The value of a key, which is made once.
    func value<Key: TestDependencyKey>(_ key: Key.Type, _ make: () -> Key.Value) -> Key.Value {
        let id = ObjectIdentifier(key)
        if let value = state.withLock({ $0.values[id] }) as? Key.Value { return value }
        // Made without the lock, because it may need others.
        let made = make()
        return state.withLock { state in
            if let value = state.values[id] as? Key.Value { return value }
            state.values[id] = made
            return made
        }
    }

    /// Sets values for the whole program.
    ///
    /// - returns: How many of them were there already.
    func set(_ values: DependencyValues) -> Int {
        state.withLock { state in
            let ids = values.all.keys
            var again = ids.count { state.values[$0] != nil }
            if let context = values.ownContext {
                if state.context != nil { again += 1 }
                state.context = context
            }
            state.values.merge(values.all) { $1 }
            state.set.formUnion(ids)
            return again
        }
    }
}

/// Sets values for the whole program, before anything uses them. Its ``DependencyValues/context`` is one of them.
///
/// ```swift
/// @main struct RemindersApp {
///     static func main() throws {
///         try prepareDependencies {
///             $0.defaultDatabase = try DatabasePool(path: "app.db", configuration: encrypted)
///         }
///         …
///     }
/// }
/// ```
///
/// To set a value that was set or used already is a mistake, because somebody may go on with the old one: the new
/// one is taken, and a warning goes to `Database.logError`.
///
/// - parameter updates: Sets the values.
/// - throws: What the closure throws.
public func prepareDependencies(_ updates: (inout DependencyValues) throws -> Void) rethrows {
    var values = DependencyValues()
    try updates(&values)
    let again = DependencyValues.prepared.set(values)
    guard again > 0 else { return }
    Database.logError?(
        .SQLITE_WARNING,
        "prepareDependencies: \(again) of the values were set or used before; prepare them once, at the start"
    )
}

/// Runs a closure for which some values are others.
///
/// - parameters:
///     - updates: Sets the values.
///     - operation: What sees them, and the tasks that it starts.
/// - throws: What the closures throw.
public func withDependencies<R>(
    _ updates: (inout DependencyValues) throws -> Void, operation: () throws -> R
) rethrows -> R {
    var values = DependencyValues.current
    try updates(&values)
    return try DependencyValues.$current.withValue(values, operation: operation)
}

/// Runs an asynchronous closure for which some values are others.
///
/// - parameters:
///     - isolation: Where it runs.
///     - updates: Sets the values.
///     - operation: What sees them, and the tasks that it starts.
/// - throws: What the closures throw.
public func withDependencies<R>(
    isolation: isolated (any Actor)? = #isolation,
    _ updates: (inout DependencyValues) async throws -> Void, operation: () async throws -> R
) async rethrows -> R {
    var values = DependencyValues.current
    try await updates(&values)
    return try await DependencyValues.$current.withValue(values, operation: operation, isolation: isolation)
}
