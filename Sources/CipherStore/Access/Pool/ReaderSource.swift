/// What gives the connections of a ``ReaderPool`` to those who ask for one.
protocol ReaderSource: AnyObject, Sendable {
    var configuration: Configuration { get }
    var readerPool: ReaderPool { get }

    /// Calls a function with a reader's connection when there is one, or another one with the reason
    /// why there is none.
    ///
    /// - returns: A number by which the wait can be given up.
    @discardableResult func withReader(
        or fail: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable (Database) -> Void
    ) -> Int
}

extension ReaderSource {
    /// Runs a read of a task on the first reader that is free.
    ///
    /// - throws: What the body throws; the reason why there is no reader; `CancellationError`.
    func readInTask<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let access = CancellableAccess()
        let executor = ReaderExecutor(self)
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
        _ slot: ReaderPool.Slot, _ reader: SerializedDatabase,
        afterwards: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable (Database) -> Void
    ) {
        reader.async { [self] db in
            body(db)
            readerPool.release(slot)
            afterwards()
        }
    }
}
