import Dispatch
import Foundation

/// A connection that one serial queue owns.
///
/// It is `@unchecked Sendable` because the connection is touched only in blocks
/// of `queue`, except for `interrupt`, which SQLite allows from any thread.
final class SerializedDatabase: @unchecked Sendable {
    private let db: Database
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    let path: String
    let configuration: Configuration

    init(path: String, configuration: Configuration, keyCache: KeyCache, label: String) throws {
        self.path = path
        self.configuration = configuration
        db = try Database(path: path, configuration: configuration, keyCache: keyCache)
        queue = DispatchQueue(label: configuration.label ?? label)
        queue.setSpecific(key: key, value: true)
    }

    /// Runs a block on the queue and waits for it.
    func sync<T>(_ body: (Database) throws -> T) throws -> T {
        precondition(
            DispatchQueue.getSpecific(key: key) == nil, "Database methods are not reentrant.")
        return try queue.sync { try access(body) }
    }

    /// Runs a block on the queue without blocking the caller's thread.
    func async<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.access(body) }) }
        }
    }

    private func access<T>(_ body: (Database) throws -> T) throws -> T {
        guard !db.isClosed else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed")
        }
        defer {
            precondition(
                !db.isInsideTransaction,
                "A transaction has been left opened at the end of a database access")
        }
        db.clearSchemaCacheIfNeeded()
        return try body(db)
    }

    func close() throws {
        precondition(
            DispatchQueue.getSpecific(key: key) == nil, "Database methods are not reentrant.")
        queue.sync { db.close() }
    }

    func interrupt() { db.interrupt() }
}
