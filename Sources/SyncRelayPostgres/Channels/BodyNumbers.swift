import Foundation
import Synchronization

/// Numbers for bodies, which the database gives out a thousand at a time.
///
/// No number is given out twice, so nobody who reads a body gets the bytes of another one. Those that a node didn't use when
/// it ended are lost, and there are enough of them. They belong to an incarnation of the database: one that was put back to
/// an older state gives out again what it gave out since, so those that are left from before are not used in it. One that
/// recovered from a crash gives out again what no transaction has committed since, and looks like the same: so what is left
/// of those that a transaction got is used by others when it was committed.
final class BodyNumbers: Sendable {
    private struct Reserve {
        var incarnation = Data()
        var numbers: [Int64] = []
    }

    /// What a transaction has of them.
    struct Taken {
        /// As many as were asked for.
        let numbers: [Int64]
        /// What the database gave besides, the first one last.
        fileprivate var rest: [Int64] = []
        fileprivate let incarnation: Data
    }

    private static let countAtATime: Int64 = 1000
    private static let next = PostgresStatement(
        "body-numbers", [.integer],
        "SELECT nextval('cipherstore_relay.body') FROM generate_series(1, $1)")

    private let reserve = Mutex(Reserve())

    /// Takes numbers in the transaction that uses them, after it has locked a channel. When it was committed,
    /// ``keepRest(of:)`` is called.
    ///
    /// - parameters:
    ///     - incarnation: That of the channel's row, which says where numbers have to come from.
    ///     - connection: The connection of the transaction.
    /// - throws: ``PostgresFailure``.
    func take(
        _ count: Int, of incarnation: Data, _ connection: PostgresConnection,
        until deadline: PostgresConnection.Deadline
    ) throws -> Taken {
        guard count > 0 else { return Taken(numbers: [], incarnation: incarnation) }
        let known = reserve.withLock { reserve -> [Int64] in
            if reserve.incarnation != incarnation { reserve = Reserve(incarnation: incarnation) }
            let taken = Array(reserve.numbers.suffix(count))
            reserve.numbers.removeLast(taken.count)
            return taken
        }
        let missing = Int64(count - known.count)
        guard missing > 0 else { return Taken(numbers: known, incarnation: incarnation) }
        let blocks = (missing + Self.countAtATime - 1) / Self.countAtATime
        var new: [Int64] = []
        for row in try connection.run(Self.next, [.integer(blocks)], until: deadline).rows {
            let last = try row.integer(0)
            new.append(contentsOf: last - Self.countAtATime + 1...last)
        }
        return Taken(
            numbers: known + new.prefix(Int(missing)), rest: new.dropFirst(Int(missing)).reversed(),
            incarnation: incarnation)
    }

    /// Keeps what a transaction has left over for others. It was committed, so the database has given these numbers out
    /// for good.
    func keepRest(of taken: Taken) {
        reserve.withLock { reserve in
            // Another thread may have seen another incarnation meanwhile.
            if reserve.incarnation == taken.incarnation {
                reserve.numbers.append(contentsOf: taken.rest)
            }
        }
    }

    /// Forgets what is left, after the database has refused one: somebody else has used it, and most likely others.
    func forgetRest() { reserve.withLock { $0.numbers = [] } }
}
