import Foundation
import SyncRelay
import Synchronization

/// Knows whether there is room for another channel, and makes one at a time.
///
/// All channels are counted once. From then on those that came since are, which are found by their numbers: these rise in the
/// order in which channels are made, because who makes one holds a lock of the whole database. Channels that are removed
/// are noticed by counting all of them again, when there seems to be no room.
final class ChannelCount: Sendable {
    /// How many calls may wait for their turn.
    private static let waitingCountMax = 256
    /// How long it is believed that there is no room.
    private static let fullSeconds = 5

    /// What was counted.
    private struct Known {
        /// Where the numbers have to come from: a database that was put back gives them out again.
        let incarnation: Data
        /// The highest number.
        let number: Int64
        /// There are not more channels than that up to that number.
        let count: Int64
    }

    private struct State {
        var known: Known?
        var isFullUntil: ContinuousClock.Instant?
        var countingCount = 0
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How many calls wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How often all channels were counted.
    var countingCount: Int { state.withLock { $0.countingCount } }

    // MARK: Turns

    /// Does something when nobody else of this relay does. Who waits for other relays does so with one connection, and the
    /// others are left for those who read and write.
    ///
    /// - throws: ``RelayProblem`` of code `busy` when too many wait; what the body throws.
    func inTurn<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await takeTurn()
        defer { endTurn() }
        return try await body()
    }

    private func takeTurn() async throws {
        let isTaken = try state.withLock { state -> Bool in
            guard state.waiting.count < Self.waitingCountMax else {
                throw RelayProblem(
                    .busy, "too many channels are made at a time; try again in a moment", status: 503)
            }
            defer { state.isTaken = true }
            return state.isTaken
        }
        guard isTaken else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isNext = state.withLock { state -> Bool in
                // The turn before may have ended meanwhile.
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isNext { continuation.resume() }
        }
    }

    private func endTurn() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    // MARK: Room

    /// Says that a channel was removed, so that there may be room.
    func noteRemoval() { state.withLock { $0.isFullUntil = nil } }

    /// Refuses at once what was refused a moment ago: counting all channels takes long where there are many.
    ///
    /// - throws: ``RelayProblem`` of code `full`.
    func requireHope(at now: ContinuousClock.Instant = .now) throws {
        let isFull = state.withLock { state -> Bool in state.isFullUntil.map { now < $0 } ?? false }
        if isFull { throw Self.full }
    }

    private static let full = RelayProblem(.full, "the relay has as many channels as it may have")

    private static let all = PostgresStatement(
        "channel-count", [], "SELECT count(*), coalesce(max(number), 0) FROM cipherstore_relay.channel")
    private static let newer = PostgresStatement(
        "channel-count-newer", [.integer],
        "SELECT count(*), coalesce(max(number), $1) FROM cipherstore_relay.channel WHERE number > $1")

    /// Checks that there may be another channel. The lock under which they are made is held.
    ///
    /// - throws: ``RelayProblem`` of code `full`; ``PostgresFailure``.
    func requireRoom(
        for countMax: Int64, _ connection: PostgresConnection, until deadline: PostgresConnection.Deadline
    ) throws {
        let incarnation = try ChannelRow.incarnation(connection, until: deadline)
        if let known = state.withLock({ $0.known }), known.incarnation == incarnation {
            let row = try connection.run(Self.newer, [.integer(known.number)], until: deadline).first
            if let row, try note(row, besides: known.count, incarnation) < countMax { return }
        }
        state.withLock { $0.countingCount += 1 }
        guard let row = try connection.run(Self.all, until: deadline).first else { return }
        if try note(row, besides: 0, incarnation) < countMax { return }
        state.withLock { $0.isFullUntil = ContinuousClock.now + .seconds(Self.fullSeconds) }
        throw Self.full
    }

    /// - returns: How many channels there are at most.
    private func note(_ row: PostgresRow, besides count: Int64, _ incarnation: Data) throws -> Int64 {
        let newCount = try row.natural(0)
        let number = try row.natural(1, upTo: .max)
        let known = Known(incarnation: incarnation, number: number, count: count + newCount)
        state.withLock { $0.known = known }
        return known.count
    }
}
