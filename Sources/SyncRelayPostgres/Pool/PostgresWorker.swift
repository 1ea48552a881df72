import Foundation

/// A thread of the pool with the connection that it uses.
///
/// All of it is used by that thread alone.
final class PostgresWorker {
    private let library: LibPQ
    private let address: PostgresAddress
    private let limits: PostgresLimits
    private let outage: PostgresOutage
    private var current: PostgresConnection?

    init(_ library: LibPQ, _ address: PostgresAddress, _ limits: PostgresLimits, _ outage: PostgresOutage) {
        self.library = library
        self.address = address
        self.limits = limits
        self.outage = outage
    }

    /// The connection, which is made when there is none.
    ///
    /// - throws: ``PostgresFailure``.
    func connection(until deadline: PostgresConnection.Deadline) throws -> PostgresConnection {
        if let current, current.isUsable { return current }
        current = nil
        if let failure = outage.present { throw failure }
        let start = ContinuousClock.now
        let end = min(deadline, start + .seconds(limits.connectingSeconds))
        do {
            let connection = try PostgresConnection(
                library, address, statementSeconds: limits.seconds, until: end)
            current = connection
            outage.end()
            return connection
        } catch let failure as PostgresFailure {
            // When a call had little time left, that it was not enough says nothing of the server.
            let hadTime = (end - start) / .seconds(1) >= limits.connectingSeconds / 2
            if hadTime || end > .now { outage.begin(failure) }
            throw failure
        }
    }

    /// Gives up the connection.
    func dropConnection(_ failure: PostgresFailure) { current = nil }

    /// Waits on this thread, which is the pool's own.
    func pause(milliseconds: Int, until deadline: PostgresConnection.Deadline) {
        Thread.sleep(
            forTimeInterval: max(0, min(Double(milliseconds) / 1000, (deadline - .now) / .seconds(1))))
    }
}
