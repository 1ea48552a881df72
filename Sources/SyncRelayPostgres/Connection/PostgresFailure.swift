import SyncRelay

/// What went wrong between this process and PostgreSQL.
struct PostgresFailure: Error, CustomStringConvertible {
    /// The kinds, by what can be done about them.
    enum Kind: Equatable {
        /// There is no connection, and none could be made.
        case cannotConnect
        /// None could be made a moment ago, so none was tried.
        case outOfReach
        /// The connection ended while it was used. Whether the last statement took effect is not known.
        case connectionLost
        /// The time of the call was over. The connection is given up, for the same is true.
        case tooLate
        /// The server refused a statement, with a code of five characters (`SQLSTATE`). It took no effect.
        case refused(String)
        /// The server or the library did what they never do.
        case unexpected
    }

    let kind: Kind
    /// What happened, as the library or the server says it. It has no values of statements.
    let message: String

    var description: String {
        if case .refused(let state) = kind { return "PostgreSQL: \(message) (\(state))" }
        return "PostgreSQL: \(message)"
    }

    /// Whether the connection can't be used any more.
    var endsConnection: Bool {
        switch kind {
        case .cannotConnect, .outOfReach, .connectionLost, .tooLate, .unexpected: true
        // Administrators end it; a standby took the place of the server; a pooler shared it.
        case .refused(let state):
            state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006" || state == "26000"
                || state == "25P03"
        }
    }

    /// Whether the same may go well when it is done again at once, on another connection where this one has ended.
    var isWorthRepeating: Bool {
        switch kind {
        case .connectionLost, .cannotConnect: true
        // Serialization and deadlock: another transaction went first.
        case .refused(let state): state == "40001" || state == "40P01" || endsConnection
        case .outOfReach, .tooLate, .unexpected: false
        }
    }

    /// Whether a table refused the number of a body, because it is used already: a unique index, or a column that has no
    /// value where the blocks of the number are being removed.
    var isOfUsedNumber: Bool { kind == .refused("23505") || kind == .refused("23502") }

    /// Whether it is not known if a statement took effect.
    var leavesDoubt: Bool {
        switch kind {
        case .connectionLost, .tooLate, .unexpected: true
        case .cannotConnect, .outOfReach: false
        case .refused: endsConnection
        }
    }

    /// What it is to those who called.
    var problem: RelayProblem {
        var problem =
            switch kind {
            case .refused(let state) where state == "53100":
                RelayProblem(.diskFull, "the relay's disk is full")
            case .refused(let state) where state == "57014" || state == "55P03":
                RelayProblem(.unavailable, "the relay's database is too slow now", retrySeconds: 5)
            case .tooLate:
                RelayProblem(.unavailable, "the relay's database doesn't answer in time", retrySeconds: 5)
            case .cannotConnect, .outOfReach, .connectionLost:
                RelayProblem(.unavailable, "the relay can't reach its database now", retrySeconds: 5)
            case .refused, .unexpected:
                RelayProblem(
                    .unavailable, "the relay can't use its storage now; its log says why", retrySeconds: 5)
            }
        problem.cause = description
        return problem
    }
}
