/// What gives the connections of a ``ReaderPool`` to those who ask for one.
protocol ReaderSource: AnyObject, Sendable {
    var configuration: Configuration { get }
    var readerPool: ReaderPool { get }

    /// Calls a function with a reader's connection when there is one, or another one with the reason
    /// why there is none.
    ///
    /// - parameters:
    ///     - isSnapshot: Whether the body is one read of a snapshot.
    ///     - fail: Called with the reason.
    ///     - body: Called with the connection.
    /// - returns: A number by which the wait can be given up.
    @discardableResult func withReader(
        isSnapshot: Bool, or fail: @escaping @Sendable (any Error) -> Void,
        _ body: @escaping @Sendable (Database) -> Void
    ) -> Int
}

extension ReaderSource {
    /// Runs a read of a task on the first reader that is free.
    ///
    /// - parameters:
    ///     - isSnapshot: Whether the body is one read of a snapshot.
    ///     - body: The read.
    /// - throws: What the body throws; the reason why there is no reader; `CancellationError`.
    func readInTask<T: Sendable>(
        isSnapshot: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let access = CancellableAccess()
        let executor = ReaderExecutor(self, isSnapshot: isSnapshot)
        let actor = ReaderActor(executor)
        return try await withTaskCancellationHandler {
            try await actor.run { db in try access.run(db, body) }
        } onCancel: {
            access.cancel()
            executor.giveUp()
        }
    }

    /// Runs a block on a reader, gives its slot back after it, and then calls a function.
    func read(
        _ slot: ReaderPool.Slot, _ reader: SerializedDatabase, isSnapshot: Bool = false,
        afterwards: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable (Database) -> Void
    ) {
        reader.async(isSnapshot: isSnapshot) { [self] db in
            body(db)
            readerPool.release(slot)
            afterwards()
        }
    }
}
