import Synchronization

/// Numbers for bodies, which the database gives out a thousand at a time.
///
/// No number is given out twice, so nobody who reads a body gets the bytes of another one. Those that a node didn't use when
/// it ended are lost, and there are enough of them.
final class BodyNumbers: Sendable {
    private static let countAtATime: Int64 = 1000
    private static let next = PostgresStatement(
        "body-numbers", [.integer],
        "SELECT nextval('cipherstore_relay.body') FROM generate_series(1, $1)")

    private let reserve = Mutex<[Int64]>([])

    /// Takes numbers.
    ///
    /// - throws: ``PostgresFailure``.
    func take(_ count: Int, _ session: PostgresSession) throws -> [Int64] {
        guard count > 0 else { return [] }
        let known = reserve.withLock { reserve -> [Int64] in
            let taken = Array(reserve.suffix(count))
            reserve.removeLast(taken.count)
            return taken
        }
        let missing = Int64(count - known.count)
        guard missing > 0 else { return known }
        let blocks = (missing + Self.countAtATime - 1) / Self.countAtATime
        var new: [Int64] = []
        for row in try session.run(Self.next, [.integer(blocks)]).rows {
            let last = try row.integer(0)
            new.append(contentsOf: last - Self.countAtATime + 1...last)
        }
        let taken = known + new.prefix(Int(missing))
        let rest = Array(new.dropFirst(Int(missing)).reversed())
        reserve.withLock { $0.append(contentsOf: rest) }
        return taken
    }
}
