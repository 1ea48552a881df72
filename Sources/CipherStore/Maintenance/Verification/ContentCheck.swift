import Foundation

/// The check of a copy's content by SQLite, on a thread of its own: it takes most of the time that a
/// verification does, and the other checks have a processor to themselves meanwhile.
final class ContentCheck: Sendable {
    private struct State {
        var result: Result<[String: Int], any Error>?
        var interruption: Interruption?
        var isCancelled = false
    }

    private let state = Lock(State())
    private let end = DispatchSemaphore(value: 0)

    /// Begins to open a file anew and to check it.
    ///
    /// - parameters:
    ///     - definitions: What the schema of the file may need.
    ///     - unfit: Indexes that may not fit their tables.
    ///     - countsRows: Whether the rows of each table are counted.
    init(
        path: String, key: EncryptionKey, definitions: SchemaDefinitions, allowing unfit: UnfitIndexes,
        countsRows: Bool
    ) {
        Thread.detachNewThread { [self] in
            let result = Result {
                try check(path, key, definitions, allowing: unfit, countsRows: countsRows)
            }
            state.withLock { $0.result = result }
            end.signal()
        }
    }

    private func check(
        _ path: String, _ key: EncryptionKey, _ definitions: SchemaDefinitions, allowing unfit: UnfitIndexes,
        countsRows: Bool
    ) throws -> [String: Int] {
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        definitions.add(to: db)
        let isCancelled = state.withLock { state in
            state.interruption = db.interruption
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
        try StoreVerification.verifyStructure(db, allowing: unfit)
        let counts = countsRows ? try StoreVerification.rowCounts(db) : [:]
        // The file must stand alone when it is renamed.
        try db.execute(sql: "PRAGMA journal_mode = DELETE")
        return counts
    }

    /// Has the check end soon.
    func cancel() {
        let interruption = state.withLock { state in
            state.isCancelled = true
            return state.interruption
        }
        interruption?.insert(.cancelled)
    }

    /// Waits for the end. It must be called once.
    ///
    /// - returns: The number of rows of each table, where they were to be counted.
    /// - throws: A ``StoreError`` of code `damaged`; an ``IndexDamage``; a ``DatabaseError``.
    func result() throws -> [String: Int] {
        end.wait()
        guard let result = state.withLock({ $0.result }) else { throw CancellationError() }
        return try result.get()
    }
}
