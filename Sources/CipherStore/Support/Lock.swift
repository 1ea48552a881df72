#if THREAD_SANITIZER
    import Foundation

    /// A value that one thread at a time may use.
    ///
    /// Thread Sanitizer sees what is done with a POSIX mutex, and reports
    /// races where the standard library's own one is used, which it can't see.
    /// It is `@unchecked Sendable` because the value is touched only while the
    /// lock is held.
    struct Lock<Value>: ~Copyable, @unchecked Sendable {
        private final class Storage {
            let lock = NSLock()
            var value: Value

            init(_ value: consuming Value) { self.value = value }
        }

        private let storage: Storage

        init(_ value: consuming sending Value) { storage = Storage(value) }

        borrowing func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
            try storage.lock.withLock { try body(&storage.value) }
        }
    }
#else
    import Synchronization

    /// A value that one thread at a time may use.
    typealias Lock<Value: ~Copyable> = Mutex<Value>
#endif
