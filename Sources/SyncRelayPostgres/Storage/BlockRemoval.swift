import SyncRelay

/// What one transaction removed of the blocks of bodies that nobody sees any more.
struct BlockRemoval {
    /// The most bodies that are looked at, and the most blocks that are removed.
    static let countMax: Int64 = 1_024
    /// How many bytes are removed at least, and how many at most, when there are as many: whoever waits for the connection
    /// or for the disk doesn't wait long.
    static let byteCounts: ClosedRange<Int64> = (4 << 20)...(32 << 20)

    /// The first and the last body that was looked at; nil when there was none.
    var bodies: ClosedRange<Int64>?
    /// How many bodies were looked at, and how many of them have no blocks any more.
    var bodyCount: Int64 = 0
    var finishedCount: Int64 = 0
    var blockCount: Int64 = 0
    var byteCount: Int64 = 0
    /// Whether it ended before the last block of the last body.
    var isCut = false

    /// Whether there is less to do than before.
    var hasProgress: Bool { blockCount > 0 || finishedCount > 0 }
    /// Whether there may be bodies behind those that were looked at.
    var isLast: Bool { !isCut && bodyCount < Self.countMax }

    /// Nothing is locked: several relays may remove blocks of one body.
    static let take = PostgresStatement(
        "clean-take", [.integer, .integer],
        "SELECT body FROM cipherstore_relay.discarded WHERE body > $1 ORDER BY body LIMIT $2")

    /// Each relay leaves out the blocks that another one has in hand, and those of a body that another one has forgotten: a
    /// file may have its number since. The rows are deleted by their places, which takes no
    /// index and no join, so that no plan reads the whole table.
    static let remove = PostgresStatement(
        "clean-blocks", [.integers, .integer, .integer],
        """
        WITH gone AS (
            DELETE FROM cipherstore_relay.block WHERE ctid = ANY (ARRAY(
                SELECT counted.place
                FROM (
                    SELECT found.place, sum(found.byte_count) OVER (
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS byte_count
                    FROM (
                        SELECT block.place, block.byte_count
                        FROM unnest($1::bigint[]) AS wanted (body)
                        CROSS JOIN LATERAL (
                            SELECT one.ctid AS place, octet_length(one.bytes) AS byte_count
                            FROM cipherstore_relay.block AS one
                            WHERE one.body = wanted.body AND (
                                SELECT old.body FROM cipherstore_relay.discarded AS old
                                WHERE old.body = wanted.body) IS NOT NULL
                            ORDER BY one.number LIMIT $2 FOR UPDATE SKIP LOCKED) AS block
                        LIMIT $2) AS found) AS counted
                WHERE counted.byte_count IS NULL OR counted.byte_count < $3))
            RETURNING octet_length(bytes) AS byte_count
        )
        SELECT count(*), coalesce(sum(byte_count), 0)::bigint FROM gone
        """)

    /// Blocks that another relay is removing are there until it has committed. Then the body is forgotten by the next one
    /// who looks.
    static let forget = PostgresStatement(
        "clean-body", [.integers],
        """
        DELETE FROM cipherstore_relay.discarded AS old WHERE old.body = ANY ($1) AND (
            SELECT block.body FROM cipherstore_relay.block AS block WHERE block.body = old.body LIMIT 1) IS NULL
        """)

    /// Removes some blocks.
    ///
    /// - parameters:
    ///     - body: The first body that is looked at is behind this one.
    ///     - byteCount: How many bytes are to be removed.
    /// - throws: ``PostgresFailure``.
    static func run(_ session: PostgresSession, after body: Int64, byteCount: Int64) throws -> BlockRemoval {
        let wanted = min(max(byteCount, byteCounts.lowerBound), byteCounts.upperBound)
        let first = PostgresCall(take, [.integer(body), .integer(countMax)])
        return try session.repeating { connection, _ in
            let deadline = session.deadline
            return try PostgresSession.transaction(connection, until: deadline, first: first) { taken in
                let bodies = try taken.rows.map { try $0.integer(0) }
                var removal = BlockRemoval()
                guard let first = bodies.first, let last = bodies.last, first <= last else {
                    return (removal, [])
                }
                removal.bodies = first...last
                removal.bodyCount = Int64(bodies.count)
                let values: [PostgresValue] = [.integers(bodies), .integer(countMax), .integer(wanted)]
                if let sums = try connection.run(remove, values, until: deadline).first {
                    removal.blockCount = try sums.integer(0)
                    removal.byteCount = try sums.integer(1)
                }
                removal.isCut = removal.blockCount >= countMax || removal.byteCount >= wanted
                let finished = try connection.run(forget, [.integers(bodies)], until: deadline)
                removal.finishedCount = Int64(finished.changedCount)
                return (removal, [])
            }
        }
    }
}
