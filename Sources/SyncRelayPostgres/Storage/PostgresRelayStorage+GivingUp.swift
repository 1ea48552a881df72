import Foundation
import SyncRelay

extension PostgresRelayStorage {
    /// How long after its last piece an upload that could not be given up before is: by then it can hardly be another one
    /// that has got the number from a database that was put back.
    private static let leftMilliseconds: Int64 = 120_000
    /// How many of these are given up at a time.
    private static let leftCountAtATime = 256

    /// Gives up uploads that were not written for a time, or that are named.
    ///
    /// The first block of a body says whose it is, for there is one of each number. An upload of which nothing was received
    /// has not written it, so it may be that of a file, and is not to be removed.
    static let abandonUploads = PostgresStatement(
        "upload-abandon", [.integer, .integer, .integers],
        """
        WITH ended AS (
            DELETE FROM cipherstore_relay.upload WHERE body IN (
                SELECT body FROM cipherstore_relay.upload
                WHERE milliseconds < coalesce($1, \(ChannelRow.now)) - $2 FOR UPDATE SKIP LOCKED
            ) OR body = ANY ($3) RETURNING body, received
        )
        INSERT INTO cipherstore_relay.discarded (body) SELECT body FROM ended WHERE received > 0
        ON CONFLICT DO NOTHING
        """)

    /// As ``abandonUploads``, of one upload. It says whether that was there before.
    private static let abandonLeft = PostgresStatement(
        "upload-abandon-left", [.integer, .integer, .bytes, .integer, .integer],
        """
        WITH ended AS (
            DELETE FROM cipherstore_relay.upload AS upload
            WHERE upload.body = $1 AND upload.byte_count = $2 AND upload.channel = (
                    SELECT channel.number FROM cipherstore_relay.channel AS channel WHERE channel.id = $3)
                AND upload.milliseconds < coalesce($4, \(ChannelRow.now)) - $5
            RETURNING upload.body, upload.received
        ), noted AS (
            INSERT INTO cipherstore_relay.discarded (body) SELECT body FROM ended WHERE received > 0
            ON CONFLICT DO NOTHING
        )
        SELECT body FROM cipherstore_relay.upload WHERE body = $1
        """)

    /// Gives an upload up. What fails here is done by ``tidy()`` two minutes later.
    ///
    /// - parameter upload: The upload.
    public func abandon(_ upload: RelayUpload) async {
        do {
            // No upload is older than the beginning of time.
            try await pool.run { session in
                _ = try session.run(
                    Self.abandonUploads, [.integer(0), .integer(0), .integers([upload.handle])])
            }
        } catch {
            leftUploads.withLock { left in
                if left.count < RelayBounds.leftUploadCountMax { left.insert(upload) }
            }
        }
        cleaner.wake()
    }

    /// Gives up what could not be given up before, as long as it is there.
    ///
    /// - throws: `RelayProblem` of code `unavailable`.
    func abandonLeftUploads() async throws {
        let left = leftUploads.withLock { Array($0.prefix(Self.leftCountAtATime)) }
        guard !left.isEmpty else { return }
        let time = time
        for upload in left {
            let isThere = try await pool.run { session in
                try session.run(
                    Self.abandonLeft,
                    [
                        .integer(upload.handle), .integer(upload.request.byteCount),
                        .bytes(Data(upload.channel.bytes)), time, .integer(Self.leftMilliseconds),
                    ]
                ).first != nil
            }
            // Whether it was removed now is looked at the next time.
            if !isThere { leftUploads.withLock { _ = $0.remove(upload) } }
        }
    }
}
