import Foundation

/// What one job has of the pool: a connection, which takes another one's place when that has ended.
final class PostgresSession {
    /// Until when the job has to be done.
    let deadline: PostgresConnection.Deadline
    private let worker: PostgresWorker
    private static let attemptCountMax = 3
    private static let pausesInMilliseconds = [20, 150]

    init(_ worker: PostgresWorker, until deadline: PostgresConnection.Deadline) {
        self.worker = worker
        self.deadline = deadline
    }

    /// The same, for work that has to be done by another time if that is earlier.
    func ending(by other: PostgresConnection.Deadline) -> PostgresSession {
        PostgresSession(worker, until: min(deadline, other))
    }

    /// Runs a statement that may be run again when its answer was lost.
    ///
    /// - throws: ``PostgresFailure``.
    func run(_ statement: PostgresStatement, _ values: [PostgresValue] = []) throws -> PostgresResult {
        try repeating { connection, _ in try connection.run(statement, values, until: deadline) }
    }

    /// Does some work, and does it again after a failure that another attempt may not meet: when the connection has ended,
    /// on a new one.
    ///
    /// - parameter body: It gets the number of failures before. What it did then may have taken effect, or not.
    /// - throws: ``PostgresFailure``, and what the body throws.
    func repeating<Value>(_ body: (PostgresConnection, _ attempt: Int) throws -> Value) throws -> Value {
        var attempt = 0
        while true {
            do {
                return try body(try worker.connection(until: deadline), attempt)
            } catch let failure as PostgresFailure {
                if failure.endsConnection { worker.dropConnection(failure) }
                guard failure.isWorthRepeating, attempt + 1 < Self.attemptCountMax, deadline > .now else {
                    throw failure
                }
                worker.pause(milliseconds: Self.pausesInMilliseconds[attempt], until: deadline)
                attempt += 1
            }
        }
    }

    /// Does some work in a transaction.
    ///
    /// When a failure of the server or of the body comes before the commit, nothing has taken effect.
    ///
    /// - throws: ``PostgresFailure``, and what the body throws.
    static func transaction<Value>(
        _ connection: PostgresConnection, until deadline: PostgresConnection.Deadline,
        _ body: () throws -> Value
    ) throws -> Value {
        try connection.run(begin, until: deadline)
        let value: Value
        do {
            value = try body()
        } catch {
            // Where that fails, the connection is gone, and the transaction with it.
            _ = try? connection.run(rollback, until: deadline)
            throw error
        }
        try connection.run(commit, until: deadline)
        return value
    }

    /// Does some work in a transaction, and waits for the server less often: with the first statement it begins, and with
    /// the last ones it is committed.
    ///
    /// - parameter body: It gets the result of the first statement, and gives a value and the last statements. When these
    ///   are sent, the commit is.
    /// - throws: ``PostgresFailure``, and what the body throws.
    static func transaction<Value>(
        _ connection: PostgresConnection, until deadline: PostgresConnection.Deadline, first: PostgresCall,
        _ body: (PostgresResult) throws -> (value: Value, last: [PostgresCall])
    ) throws -> Value {
        do {
            let results = try connection.run(together: [PostgresCall(begin), first], until: deadline)
            let (value, last) = try body(results[1])
            _ = try connection.run(together: last + [PostgresCall(commit)], until: deadline)
            return value
        } catch {
            _ = try? connection.run(rollback, until: deadline)
            throw error
        }
    }

    private static let begin = PostgresStatement("begin", [], "BEGIN ISOLATION LEVEL READ COMMITTED")
    private static let commit = PostgresStatement("commit", [], "COMMIT")
    private static let rollback = PostgresStatement("rollback", [], "ROLLBACK")
}
