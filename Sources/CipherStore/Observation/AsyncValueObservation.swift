/// The values of an observation, for a loop: ``ValueObservation/values(in:scheduling:bufferingPolicy:)``.
///
/// Each loop starts an observation, which ends with the loop or with its task.
public struct AsyncValueObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// What becomes of values that come faster than the loop takes them.
    public typealias BufferingPolicy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy

    typealias Start =
        @Sendable (
            _ onError: @escaping @Sendable (any Error) -> Void,
            _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

    private let bufferingPolicy: BufferingPolicy
    private let start: Start

    init(bufferingPolicy: BufferingPolicy, start: @escaping Start) {
        self.bufferingPolicy = bufferingPolicy
        self.start = start
    }

    /// Starts an observation.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Element.self, throwing: (any Error).self, bufferingPolicy: bufferingPolicy)
        let cancellable = start({ continuation.finish(throwing: $0) }, { continuation.yield($0) })
        continuation.onTermination = { [weak cancellable] _ in cancellable?.cancel() }
        return Iterator(base: stream.makeAsyncIterator(), cancellable: cancellable)
    }

    /// The iterator of a loop, which ends the observation when it is released.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.AsyncIterator
        fileprivate let cancellable: AnyDatabaseCancellable

        /// Waits for the next value.
        ///
        /// - returns: The value, or nil when the task was cancelled.
        /// - throws: The error that ended the observation.
        public mutating func next() async throws -> Element? { try await base.next() }
    }
}
