/// What the statements of a connection have to look at when they run.
///
/// Each statement has a reference of its own, so that each step costs no more
/// than a load, and so that a statement that outlives its connection finds out.
@usableFromInline final class ConnectionWatch {
    // Read at each step. A check of exclusive access would cost more than the
    // load, and there is nothing to check: no access outlasts a load or store.
    /// Whether anything below is the case that concerns all statements.
    @exclusivity(unchecked) @usableFromInline private(set) var isOn = false

    /// Whether anything below is the case: see ``Statement/isFollowed``.
    @exclusivity(unchecked) @usableFromInline private(set) var isOnForChanges = false

    /// Whether there is a tracked block, so that each run of a statement is of interest.
    var isRecording = false { didSet { update() } }

    /// Whether there are observers, to whom statements are of interest that may change something.
    var isObserved = false { didSet { update() } }

    /// Whether a statement may take the tracer away while it runs: see ``StatementTracer``.
    var losesTracer = false { didSet { update() } }

    /// Whether it is known what the last statement has left, which the next one that writes makes wrong: see
    /// ``ChangeCounts``.
    var keepsCounts = false { didSet { update() } }

    /// How many statements there are that are looked at before they run, because they may damage the database.
    private(set) var dangerousCount = 0

    /// Whether the connection is closed, or gone.
    private(set) var isClosed = false

    /// How many SQL functions run now, one inside of the other.
    private(set) var functionDepth = 0

    /// Who follows the statement that is running, while there are observers.
    var followers: (broker: TransactionBroker, authorizer: StatementAuthorizer)?

    /// The runs of the connection's statements that somebody follows.
    let runs = StatementRuns()

    private func update() {
        isOn =
            isRecording || losesTracer || keepsCounts || isClosed || functionDepth > 0 || dangerousCount > 0
        isOnForChanges = isOn || isObserved
    }

    /// A statement is made, or goes, that is looked at before it runs.
    func countDangerous(_ change: Int) {
        dangerousCount += change
        update()
    }

    /// The connection is about to close.
    func close() {
        isClosed = true
        // A statement may outlive the connection, and observers must not.
        followers = nil
        update()
    }

    /// Runs a function that a statement has called.
    ///
    /// SQLite is in the middle of that statement, and of those that called the
    /// functions around this one: to step or reset them now would be the end of
    /// the process at best. All others may be used as ever. What observers are to
    /// know of the statement that goes on after the call is kept.
    func duringCall<T>(_ body: () throws -> T) rethrows -> T {
        functionDepth += 1
        let caller = runs.beginCall()
        update()
        defer {
            if let caller { runs.endCall(caller) }
            functionDepth -= 1
            update()
        }
        guard let followers else { return try body() }
        return try followers.broker.keepingStatement { try followers.authorizer.keepingEffects(body) }
    }
}
