import Dispatch
import Foundation

/// A connection that one serial queue owns.
///
/// It is `@unchecked Sendable` because `db`, `fileIdentity` and `outerDatabases`
/// are touched only in blocks of `queue`, or before anybody else has the object.
/// What any thread may use of the connection has a lock.
final class SerializedDatabase: @unchecked Sendable {
    private var db: Database
    private let interruption: Lock<Interruption>
    private let commits: CommitCounter

    /// What waits for the end of a suspension.
    private let resumptions = Lock<[@Sendable (Database) -> Void]>([])

    private let queue: DispatchQueue
    private let actor: DispatchQueueActor

    /// The connections whose blocks wait for the block that runs now.
    private var outerDatabases: [SerializedDatabase] = []

    private static let currentKey = DispatchSpecificKey<Unowned>()

    /// A queue holds its connection for life through this.
    private struct Unowned { unowned let database: SerializedDatabase }

    /// The path that was given.
    let path: String

    /// Where the file is, also when the process has entered another folder since it was opened.
    let filePath: String
    let configuration: Configuration

    /// Who wants to know of commits of other connections.
    let otherCommits = OtherCommits()

    /// The identity of the file that was opened.
    private(set) var fileIdentity: FileIdentity?

    /// - parameters:
    ///     - path: The path that was given.
    ///     - file: Where the file is, when another connection has opened it by that path; nil for the path.
    init(
        path: String, file: String? = nil, configuration: Configuration, keyCache: KeyCache, label: String,
        isReader: Bool = false, memorySettings: CipherSettings = .default
    ) throws {
        self.path = path
        self.configuration = configuration
        let file = file ?? path
        db = try Self.retrying(file) {
            try Database.opening(
                path: file, configuration: configuration, keyCache: keyCache, label: label,
                memorySettings: memorySettings)
        }
        interruption = Lock(db.interruption)
        commits = db.commits
        fileIdentity = db.fileIdentity
        filePath = db.filePath
        if !isReader { db.noteDataVersion() }
        queue = configuration.makeDispatchQueue(label: label, isReader: isReader)
        actor = DispatchQueueActor(queue)
        queue.setSpecific(key: Self.currentKey, value: Unowned(database: self))
    }

    /// Opens a file again whose key did not fit because somebody replaced it meanwhile, as a change of
    /// its key does.
    private static func retrying(_ path: String, _ open: () throws -> Database) throws -> Database {
        for _ in 0..<4 {
            do {
                return try open()
            } catch let error as StoreError where error == Database.replacedBeforeKeyError(path: path) {
            } catch let error as DatabaseError {
                throw error.raised(in: path)
            }
        }
        return try open()
    }

    deinit { queue.setSpecific(key: Self.currentKey, value: nil) }

    // MARK: Who holds what

    /// The connection whose block is running on this thread.
    private static var current: SerializedDatabase? {
        DispatchQueue.getSpecific(key: currentKey)?.database
    }

    /// Whether this thread uses a connection.
    static var isInAccess: Bool { current != nil }

    /// The connections that this thread may use, the innermost access first.
    static var heldDatabases: [Database] {
        guard let current else { return [] }
        return [current.db] + current.outerDatabases.reversed().map(\.db)
    }

    /// Whether this thread already holds the connection.
    var isHeld: Bool {
        guard let current = Self.current else { return false }
        return current === self || current.outerDatabases.contains { $0 === self }
    }

    private func requireNotHeld() {
        if isHeld {
            fatalError(
                "Database methods are not reentrant: use the `db` of the block that is running instead")
        }
    }

    // MARK: Blocking accesses

    /// Runs a block on this thread, before anybody else has the object.
    ///
    /// A block of the queue could wait for itself where connections share a serial target queue.
    func beforeSharing<T>(_ body: (Database) throws -> T) rethrows -> T { try body(db) }

    /// Runs a block on the queue and waits for it.
    func sync<T>(_ body: (Database) throws -> T) rethrows -> T {
        requireNotHeld()
        return try inQueue(body)
    }

    /// Reads in a snapshot on the queue, and waits for it.
    func readSnapshot<T>(_ value: (Database) throws -> T) throws -> T {
        var result: T?
        try runSnapshot { result = try value($0) }
        guard let result else { fatalError("a read ended without a value and without an error") }
        return result
    }

    /// The same without a value. One function for all types costs a short read less than some that are generic.
    private func runSnapshot(_ body: (Database) throws -> Void) throws {
        let outer = outerAccesses
        if !outer.isEmpty { requireNotHeld() }
        var failure: (any Error)?
        queue.sync {
            outerDatabases = outer
            defer { outerDatabases = [] }
            do {
                try access(isSnapshot: true) { try $0.readSnapshot(body) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Runs a block on the queue and waits for it; at once when this thread
    /// already holds the connection.
    func reentrantSync<T>(_ body: (Database) throws -> T) rethrows -> T {
        isHeld ? try body(db) : try inQueue(body)
    }

    /// The connection, for a thread that holds it.
    var heldDatabase: Database? { isHeld ? db : nil }

    /// The connections that this thread holds, the innermost access last.
    private var outerAccesses: [SerializedDatabase] {
        Self.current.map { $0.outerDatabases + [$0] } ?? []
    }

    private func inQueue<T>(_ body: (Database) throws -> T) rethrows -> T {
        let outer = outerAccesses
        return try queue.sync {
            outerDatabases = outer
            defer { outerDatabases = [] }
            return try access(body)
        }
    }

    /// - parameter isSnapshot: Whether the block is one read of a snapshot, which looks itself whether the schema has changed.
    private func access<T>(
        isSnapshot: Bool = false, _ body: (Database) throws -> T
    ) rethrows -> T {
        db.checkFileIdentity()
        defer { requireNoTransaction() }
        db.readOnlyBlocks.beginAccess(isSnapshot: isSnapshot)
        if !isSnapshot {
            db.allowWritesAgain()
            db.noticeSchemaChange()
        }
        do {
            return try body(db)
        } catch let error as DatabaseError {
            // Of two stores that are synchronized, an error has to say which it is about.
            throw error.raised(in: path)
        }
    }

    private func requireNoTransaction() {
        db.settle()
        guard !db.isClosed, !configuration.allowsUnsafeTransactions, !keepsTransaction else { return }
        if db.isInsideTransaction {
            fatalError("A transaction has been left opened at the end of a database access")
        }
    }

    /// Whether a transaction stays open between accesses, as in a snapshot.
    var keepsTransaction = false

    // MARK: Other accesses

    /// Runs a block on the queue, without waiting for it.
    ///
    /// - parameters:
    ///     - isSnapshot: Whether the block is one read of a snapshot.
    ///     - body: The block.
    func async(isSnapshot: Bool = false, _ body: @escaping @Sendable (Database) -> Void) {
        queue.async { self.access(isSnapshot: isSnapshot, body) }
    }

    /// Runs a block on the queue, as a part of the current task: it sees the
    /// task's values, and the task's cancellation interrupts it.
    ///
    /// - parameters:
    ///     - isSnapshot: Whether the block is one read of a snapshot.
    ///     - body: The block.
    /// - throws: What the block throws; `CancellationError` when a cancellation
    ///   came before the block, or stopped one of its statements.
    func run<T: Sendable>(
        isSnapshot: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let access = CancellableAccess()
        return try await withTaskCancellationHandler {
            try await actor.run {
                try self.access(isSnapshot: isSnapshot) { db in try access.run(db, body) }
            }
        } onCancel: {
            access.cancel()
        }
    }

    /// Runs a block that may give another connection in the place of the one that it gets, which
    /// it has closed then. The thread must not hold the connection.
    func exchange(_ body: (Database) throws -> Database?) throws {
        try sync { old in
            guard let new = try body(old) else { return }
            interruption.withLock { interruption in
                if interruption.isSuspended { new.interruption.suspend() }
                interruption = new.interruption
            }
            fileIdentity = new.fileIdentity
            db = new
        }
    }

    func close() throws {
        try reentrantSync { try $0.close() }
    }

    /// Closes the connection, also when a statement still lives.
    func dispose() {
        reentrantSync { $0.dispose() }
    }

    /// How often the connection has committed something, from any thread.
    var commitCount: Int { commits.value.load(ordering: .acquiring) }

    func interrupt() { interruption.withLock { $0.interrupt() } }

    func suspend() { interruption.withLock { $0.suspend() } }

    func resume() {
        interruption.withLock { $0.resume() }
        let blocks = resumptions.withLock { blocks in
            defer { blocks = [] }
            return blocks
        }
        for block in blocks { async(block) }
    }

    /// Runs a block on the queue when the connection is not suspended any more, without waiting for it.
    func afterResume(_ body: @escaping @Sendable (Database) -> Void) {
        // A resumption comes before this, and is seen, or after, and finds the block.
        let isSuspended = resumptions.withLock { blocks in
            guard interruption.withLock({ $0.isSuspended }) else { return false }
            blocks.append(body)
            return true
        }
        if !isSuspended { async(body) }
    }
}
