import Foundation
import Synchronization

/// Numbers for bodies, which the database gives out a thousand at a time.
///
/// No number is given out twice, so nobody who reads a body gets the bytes of another one. Those that a node didn't use when
/// it ended are lost, and there are enough of them. They belong to an incarnation of the database: one that was put back to
/// an older state gives out again what it gave out since, so those that are left from before are not used in it.
final class BodyNumbers: Sendable {
    private struct Reserve {
        var incarnation = Data()
        var numbers: [Int64] = []
    }

    private static let countAtATime: Int64 = 1000
    private static let next = PostgresStatement(
        "body-numbers", [.integer],
        "SELECT nextval('cipherstore_relay.body') FROM generate_series(1, $1)")

    private let reserve = Mutex(Reserve())

    /// Takes numbers in the transaction that uses them, after it has locked a channel.
    ///
    /// - parameters:
    ///     - incarnation: That of the channel's row, which says where numbers have to come from.
    ///     - connection: The connection of the transaction.
    /// - throws: ``PostgresFailure``.
    func take(
        _ count: Int, of incarnation: Data, _ connection: PostgresConnection,
        until deadline: PostgresConnection.Deadline
    ) throws -> [Int64] {
        guard count > 0 else { return [] }
        let known = reserve.withLock { reserve -> [Int64] in
            if reserve.incarnation != incarnation { reserve = Reserve(incarnation: incarnation) }
            let taken = Array(reserve.numbers.suffix(count))
            reserve.numbers.removeLast(taken.count)
            return taken
        }
        let missing = Int64(count - known.count)
        guard missing > 0 else { return known }
        let blocks = (missing + Self.countAtATime - 1) / Self.countAtATime
        var new: [Int64] = []
        for row in try connection.run(Self.next, [.integer(blocks)], until: deadline).rows {
            let last = try row.integer(0)
            new.append(contentsOf: last - Self.countAtATime + 1...last)
        }
        let taken = known + new.prefix(Int(missing))
        let rest = Array(new.dropFirst(Int(missing)).reversed())
        reserve.withLock { reserve in
            // Another thread may have seen another incarnation meanwhile.
            if reserve.incarnation == incarnation { reserve.numbers.append(contentsOf: rest) }
        }
        return taken
    }
}
