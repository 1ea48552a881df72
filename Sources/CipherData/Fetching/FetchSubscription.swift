/// What goes on after a property was given a request by `load`.
///
/// ```swift
/// func task() async throws {
///     try await $reminders.load(Reminder.where(\.isCompleted)).task
/// }
/// ```
public struct FetchSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Waits until the current task is cancelled, and ends the subscription then: the property keeps its last value.
    ///
    /// - throws: `CancellationError`, always.
    public var task: Void {
        get async throws {
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            await withTaskCancellationHandler {
                for await _ in stream {}
            } onCancel: {
                continuation.finish()
            }
            cancel()
            throw CancellationError()
        }
    }

    /// Ends the subscription. The property keeps its last value, and is told of no changes any more.
    public func cancel() { end() }
}
