import Synchronization

/// Something that goes on until it is cancelled.
public protocol DatabaseCancellable {
    /// Ends it. Cancelling again does nothing.
    func cancel()
}

/// An observation that goes on until it is cancelled, or nobody needs this
/// object any longer.
public final class AnyDatabaseCancellable: DatabaseCancellable, Sendable {
    private let function: Mutex<(@Sendable () -> Void)?>

    /// Makes an object that calls a function, once, when it is cancelled.
    public init(cancel: @escaping @Sendable () -> Void) {
        function = Mutex(cancel)
    }

    /// Makes an object that cancels another one.
    public convenience init(_ base: some DatabaseCancellable & Sendable) {
        self.init { base.cancel() }
    }

    deinit { cancel() }

    /// Ends the observation. Cancelling again does nothing.
    public func cancel() {
        let function = function.withLock { function in
            defer { function = nil }
            return function
        }
        function?()
    }
}
