import Foundation

extension Database {
    /// What ``trace(options:_:)`` reports.
    public struct TracingOptions: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: CInt

        /// Makes options from their bits.
        public init(rawValue: CInt) { self.rawValue = rawValue }

        /// Each statement when it starts.
        public static let statement = TracingOptions(rawValue: 1)
        /// Each statement when it has ended, with its duration.
        public static let profile = TracingOptions(rawValue: 2)
    }

    /// A statement that starts or has ended.
    ///
    /// No event shows a key, and none shows other arguments than through
    /// `expandedSQL` and `expandedDescription`, unless
    /// ``Configuration/publicStatementArguments`` is true.
    public enum TraceEvent: CustomStringConvertible {
        /// The statement of an event.
        public struct Statement {
            let traced: TracedStatement
            let showsArguments: Bool

            /// The SQL, without its arguments.
            public var sql: String { traced.sql }

            /// The SQL with its arguments in it. Do not log it.
            ///
            /// It is the same as `sql` for a statement that takes a key, and
            /// after the function that received the event has returned.
            public var expandedSQL: String { traced.expandedSQL }
        }

        /// A statement starts.
        case statement(Statement)
        /// A statement has ended; the duration is in seconds.
        case profile(statement: Statement, duration: TimeInterval)

        /// A text for logs: the SQL, after its duration if that is known.
        public var description: String { text { $0.showsArguments ? $0.expandedSQL : $0.sql } }

        /// A text with the arguments. Do not log it.
        public var expandedDescription: String { text(\.expandedSQL) }

        private func text(_ sql: (Statement) -> String) -> String {
            switch self {
            case .statement(let statement): sql(statement)
            case .profile(let statement, let duration):
                String(format: "%.3f", duration) + "s " + sql(statement)
            }
        }
    }

    /// Calls a function for each statement that runs on the connection.
    ///
    /// ```swift
    /// configuration.prepareDatabase { db in
    ///     db.trace { print("SQL> \($0)") }
    /// }
    /// ```
    ///
    /// What the library runs for itself, such as the pragmas of a new
    /// connection and the check that ends a read, is not reported. There is one
    /// function for a connection: a second call replaces the first.
    ///
    /// On SQLCipher 3, statements that call `sqlcipher_export`, by a view or trigger too, are reported when they start, but
    /// their end is not, nor what they run, nor what runs between their rows: a tracer would end the process there.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/c3ref/trace_v2.html>
    ///
    /// - parameters:
    ///     - options: What is reported; nothing when empty.
    ///     - trace: The function; nil stops the tracing. It must not use the connection.
    public func trace(
        options: TracingOptions = .statement, _ trace: ((_ event: TraceEvent) -> Void)? = nil
    ) {
        guard !isClosed else { return }
        tracer.install(
            on: handle, options: options, showsArguments: configuration.publicStatementArguments, trace)
        let losesTracer = tracer.isTracing && EngineFeatures.current.exportLosesTracer
        guard losesTracer != watch.losesTracer else { return }
        watch.losesTracer = losesTracer
        // Which of the statements export that are there already is known when they are prepared again.
        authorizer.install(on: self)
    }

    /// Traces again after a statement that was run without the tracer. It still runs, while a function does.
    func resumeTracing() {
        if watch.functionDepth == 0 && !isClosed { tracer.resume(on: handle) }
    }

    /// Runs a block whose statements are the library's own and not traced.
    func withoutTracing<T>(_ body: () throws -> T) rethrows -> T {
        tracer.muteCount += 1
        defer { tracer.muteCount -= 1 }
        return try body()
    }
}
