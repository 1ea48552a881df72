import Synchronization

/// Those who want to know when another connection, of this process or of another one, has committed to a file.
///
/// SQLite counts such commits for each connection (`PRAGMA data_version`); those of the connection itself do not
/// count. So the connection that writes is asked, in an access of its own, while somebody wants to know.
/// The answer is told to all of them in that access, so that nothing is told twice and nothing is missed.
///
/// Related SQLite documentation: <https://www.sqlite.org/pragma.html#pragma_data_version>
final class OtherCommits: Sendable {
    private struct State {
        var lastID = 0
        var receivers: [Int: @Sendable (Database) -> Void] = [:]
        var watch: CommitWatch?
    }

    private let state = Lock(State())

    /// Adds somebody who is told of commits, on the connection.
    ///
    /// - parameter connection: The connection that is asked.
    /// - returns: What ends it, with the watch if nobody else wants to know.
    func add(
        asking connection: SerializedDatabase, _ receiver: @escaping @Sendable (Database) -> Void
    ) -> Registration {
        let id = state.withLock { state in
            state.lastID += 1
            state.receivers[state.lastID] = receiver
            if state.watch == nil {
                state.watch = CommitWatch(path: connection.filePath) { [weak connection] completion in
                    guard let connection else { return }
                    connection.askForCommits(completion)
                }
                state.watch?.start()
            }
            return state.lastID
        }
        return Registration(id: id, commits: self)
    }

    private func remove(_ id: Int) {
        // The last reference to a receiver goes outside of the lock.
        let ended = state.withLock { state in
            let receiver = state.receivers.removeValue(forKey: id)
            guard state.receivers.isEmpty else { return receiver }
            state.watch?.stop()
            state.watch = nil
            return receiver
        }
        withExtendedLifetime(ended) {}
    }

    /// Whether nobody wants to know.
    var isEmpty: Bool { state.withLock { $0.receivers.isEmpty } }

    /// Tells everybody of a commit, in the order in which they came.
    func tell(_ db: Database) {
        let receivers = state.withLock { $0.receivers.sorted { $0.key < $1.key }.map(\.value) }
        for receiver in receivers { receiver(db) }
    }

    /// Somebody who wants to know, until this goes.
    final class Registration: Sendable {
        private let id: Int
        private let commits: OtherCommits

        fileprivate init(id: Int, commits: OtherCommits) {
            self.id = id
            self.commits = commits
        }

        deinit { commits.remove(id) }
    }
}

extension SerializedDatabase {
    /// Has a function called after commits of other connections, while what this returns is retained.
    ///
    /// - returns: nil where there are no others, or they are not to be looked for.
    func observeOtherCommits(
        _ receiver: @escaping @Sendable (Database) -> Void
    ) -> OtherCommits.Registration? {
        guard configuration.observesOtherConnections, DatabasePath(path).isFile else { return nil }
        return otherCommits.add(asking: self, receiver)
    }

    /// Looks whether there were commits, and tells those who want to know of commits of others.
    fileprivate func askForCommits(_ completion: @escaping @Sendable (CommitWatch.Finding) -> Void) {
        async { [self] db in
            guard !db.isClosed else { return completion(.nothing) }
            noticeOtherCommits(db)
            // Commits of its own count too: while there are some, the watch need not wait for events.
            let count = db.commits.value.load(ordering: .acquiring)
            defer { db.knownCommits.count = count }
            completion(db.knownCommits.count != count ? .commit : .nothing)
        }
    }

    /// Looks whether others have committed since the last look, and tells those who want to know.
    func noticeOtherCommits(_ db: Database) {
        guard configuration.observesOtherConnections, !otherCommits.isEmpty else { return }
        guard db.seesOtherCommit() else { return }
        otherCommits.tell(db)
    }
}

extension Database {
    /// Whether another connection has committed since this was asked last, or since the connection was opened.
    /// If so, it is counted as a commit.
    func seesOtherCommit() -> Bool {
        guard isShared, mode == .ordinary, !isClosed, !isInsideTransaction else { return false }
        let version: KnownCommits.DataVersion
        do {
            version = .number(try withoutTracing { try dataVersion() })
        } catch let error as DatabaseError where error.isPassing {
            // Somebody holds a lock, or the database is suspended: it is asked again.
            return false
        } catch {
            // Such as another file in its place: whoever reads has to learn of that, once.
            version = .none
        }
        defer { knownCommits.dataVersion = version }
        guard version != knownCommits.dataVersion else { return false }
        countCommit()
        return true
    }

    /// Notes the state from which on commits of others are to be seen.
    func noteDataVersion() {
        guard isShared, mode == .ordinary, configuration.observesOtherConnections else { return }
        // What can't be asked is unknown, and counts as another state later.
        knownCommits.dataVersion = (try? withoutTracing { .number(try dataVersion()) }) ?? .unknown
    }

    private func dataVersion() throws -> Int64 {
        let statement = try cachedStatement(sql: "PRAGMA data_version")
        return try Int64.fetchOne(statement) ?? 0
    }
}

/// What a connection knew when it looked for commits of others.
struct KnownCommits {
    enum DataVersion: Equatable {
        /// Nobody has asked yet.
        case unknown
        /// SQLite's number.
        case number(Int64)
        /// The file can't be read any more.
        case none
    }

    var dataVersion = DataVersion.unknown
    /// How many commits were counted.
    var count = 0
}

/// A number of commits, which any thread may read.
final class CommitCounter: Sendable {
    let value = Atomic<Int>(0)
}

extension DatabaseError {
    /// Whether what failed may succeed by itself a moment later.
    var isPassing: Bool {
        switch resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_PROTOCOL, .SQLITE_NOMEM:
            true
        default: false
        }
    }
}
