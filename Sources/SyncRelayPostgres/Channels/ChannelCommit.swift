import Crypto
import Foundation
import SyncRelay

/// Writes what several jobs make of one channel by one commit.
///
/// Each job's changes are made or refused by themselves: one that is refused takes nothing with it.
struct ChannelCommit {
    let channel: RelayChannelID
    let jobs: [ChannelJob]
    let bounds: ChannelPlan.Bounds
    /// The time, when it is not the database's.
    let milliseconds: Int64?
    let deadline: PostgresConnection.Deadline

    /// What came of it.
    struct Outcome {
        var results: [Result<RelayChangeResult, any Error>]
        /// The channel afterwards, when it has changed.
        var moment: RelayMoment?
        /// Whether there are bodies whose blocks have to be removed.
        var hasDiscarded = false
    }

    /// What is known of an attempt whose commit was not answered.
    private struct Doubt {
        let ticket: Data
        let earlier: CommitTickets
        let outcome: Outcome
    }

    /// Writes, again where the connection is lost. Whether a commit took effect that was not answered is looked up.
    ///
    /// - throws: ``PostgresFailure``; ``RelayProblem`` when there is no such channel.
    func run(_ session: PostgresSession, _ numbers: BodyNumbers) throws -> Outcome {
        var doubt: Doubt?
        return try session.repeating { connection, _ in
            if let known = doubt, try tookEffect(known, connection) { return known.outcome }
            doubt = nil
            return try attempt(connection, numbers, &doubt)
        }
    }

    private func tookEffect(_ doubt: Doubt, _ connection: PostgresConnection) throws -> Bool {
        // The lock waits for the server to end the transaction that was lost, if it still runs. Who has removed the channel
        // since has removed what was changed in it too.
        let row = try PostgresSession.transaction(connection, until: deadline) {
            try ChannelRow.lock(connection, channel, until: deadline)
        }
        if let known = row.tickets.tells(doubt.ticket, after: doubt.earlier) { return known }
        throw RelayProblem(
            .unavailable, "the relay lost its database, and can't say whether the change was made; ask again",
            retrySeconds: 1)
    }

    private func attempt(
        _ connection: PostgresConnection, _ numbers: BodyNumbers, _ doubt: inout Doubt?
    ) throws -> Outcome {
        let ticket = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0.prefix(CommitTickets.byteCount)) }
        var prepared: Doubt?
        do {
            let (outcome, taken): (Outcome, BodyNumbers.Taken) = try PostgresSession.transaction(
                connection, until: deadline, first: ChannelRow.locking(channel)
            ) { locked in
                var row = try ChannelRow(locked: locked)
                try row.recountIfNeeded(connection, until: deadline)
                let taken = try numbers.take(
                    jobs.reduce(0) { $0 + $1.bodyCount }, of: row.incarnation, connection, until: deadline)
                var writing = ChannelWriting(connection, deadline)
                let files = try writing.files(Set(jobs.flatMap(\.files)), in: row)
                let received = try writing.uploads(jobs.compactMap(\.upload), of: row)
                var plan = ChannelPlan(row, files, bounds)
                var outcome = Outcome(results: [])
                var left = received
                var free = taken.numbers[...]
                for job in jobs {
                    outcome.results.append(Self.apply(job, to: &plan, &free, &left))
                }
                let finished = received.keys.filter { left[$0] == nil }
                let last = try writing.write(&plan, finished, ticket, milliseconds: milliseconds)
                outcome.moment = plan.isChanged ? try plan.row.moment() : nil
                outcome.hasDiscarded = writing.hasDiscarded
                prepared = Doubt(ticket: ticket, earlier: row.tickets, outcome: outcome)
                return ((outcome, taken), last)
            }
            numbers.keepRest(of: taken)
            return outcome
        } catch let failure as PostgresFailure {
            // A failure before the commit leaves none: then there is no ticket to be found, and the attempt is made again.
            if failure.leavesDoubt { doubt = prepared }
            if failure.isOfUsedNumber { numbers.forgetRest() }
            throw failure
        }
    }

    private static func apply(
        _ job: ChannelJob, to plan: inout ChannelPlan, _ bodies: inout ArraySlice<Int64>,
        _ received: inout [Int64: Int64]
    ) -> Result<RelayChangeResult, any Error> {
        do {
            // One change is made or not. Several may fail in the midst of them, and are tried on a copy.
            guard job.files.count > 1 else {
                return .success(try plan.apply(job, bodies: &bodies, received: &received))
            }
            var trial = (plan: plan, bodies: bodies, received: received)
            let result = try trial.plan.apply(job, bodies: &trial.bodies, received: &trial.received)
            (plan, bodies, received) = trial
            return .success(result)
        } catch {
            return .failure(error)
        }
    }
}
