import Foundation
import SyncRelay
import Synchronization

/// Keeps the channels of relays in a PostgreSQL database, which any number of relays can use at the same time.
///
/// ```swift
/// let address = try PostgresAddress("postgresql:///relay?host=/var/run/postgresql")
/// let storage = try PostgresRelayStorage(address)
/// ```
///
/// Nothing that matters is in a relay: any of them answers for any channel, an upload that one began can be finished by
/// another, and what one has answered is there when it is killed. A change that one makes wakes those who wait at the
/// others.
///
/// The database needs PostgreSQL 13 or newer, and this process needs its client library (libpq), which is loaded here. The
/// tables are in a schema named `cipherstore_relay`. They have no token, and the private key of the relays' certificate.
public final class PostgresRelayStorage: RelayStorage {
    /// Bounds of a storage.
    public struct Options: Sendable {
        /// The most bytes of a channel: 1 GiB.
        public var channelByteCountMax: Int64 = 1 << 30
        /// The most files of a channel: 100,000.
        public var channelFileCountMax = RelayBounds.fileCountMax
        /// The most channels: 100,000.
        public var channelCountMax: Int64 = 100_000
        /// The most connections to the database: 8, and one more that waits for what other relays change.
        public var connectionCountMax = 8
        /// How long a call waits for the database before it is `RelayProblem` of code `unavailable`, in seconds.
        public var secondsMax: Double = 10
        /// How long it takes at most until a change is noticed of which the database didn't tell, in seconds.
        public var lookSeconds: Double = 5
        /// The time, in milliseconds since 1970. That of the database unless something is set: it is the same for all relays.
        public var milliseconds: (@Sendable () -> Int64)?

        /// Makes the default options.
        public init() {}
    }

    /// Where the database is.
    public let address: PostgresAddress
    let options: Options
    let pool: PostgresPool
    let queue: ChannelQueue
    let feed: ChannelFeed
    let numbers: BodyNumbers
    let channelCount = ChannelCount()
    let cleaner: BlockCleaner
    /// Uploads that could not be given up.
    let leftUploads = Mutex<Set<RelayUpload>>([])
    let listener: ChangeListener

    /// Connects to a database, and makes the tables when there are none. It waits for the server on this thread.
    ///
    /// - parameters:
    ///     - address: Where the database is.
    ///     - options: Bounds.
    /// - throws: `RelayStorageError`.
    public init(_ address: PostgresAddress, options: Options = Options()) throws {
        self.address = address
        self.options = options
        let seconds = Self.seconds(options.secondsMax)
        let limits = PostgresLimits(
            connectionCountMax: max(1, options.connectionCountMax), seconds: seconds,
            connectingSeconds: min(5, seconds))
        let library = try Self.prepare(address, limits)
        let pool = PostgresPool(library, address, limits)
        let (feed, numbers) = (ChannelFeed(), BodyNumbers())
        let cleaner = BlockCleaner(pool)
        let listener = try Self.listener(
            library, address, limits, feed, lookSeconds: Self.seconds(options.lookSeconds))
        queue = ChannelQueue(
            pool, numbers,
            ChannelPlan.Bounds(
                byteCountMax: options.channelByteCountMax, fileCountMax: options.channelFileCountMax),
            cleaner, milliseconds: options.milliseconds,
            onChange: { channel, moment in
                feed.tell(channel, moment)
                listener.announce(channel, moment.position)
            })
        (self.pool, self.feed, self.numbers) = (pool, feed, numbers)
        (self.cleaner, self.listener) = (cleaner, listener)
        cleaner.wake()
    }

    /// A time that can be waited for: a tenth of a second to a day.
    private static func seconds(_ number: Double) -> Double { number >= 0.1 ? min(number, 86_400) : 0.1 }

    deinit {
        listener.close()
        pool.close()
    }

    /// Ends the connections, when what is under way is done. Later calls throw.
    public func close() {
        listener.close()
        pool.close()
        pool.waitUntilClosed()
        listener.waitUntilClosed()
    }

    /// Loads the library, and makes the tables or checks them.
    private static func prepare(_ address: PostgresAddress, _ limits: PostgresLimits) throws -> LibPQ {
        do {
            let library = try LibPQ.shared()
            let deadline = ContinuousClock.now + .seconds(limits.seconds)
            let connection = try PostgresConnection(
                library, address, statementSeconds: limits.seconds,
                until: .now + .seconds(limits.connectingSeconds))
            guard library.serverVersion(connection.handle) >= 130_000 else {
                throw RelayStorageError(
                    .cannotOpen, "the server is older than PostgreSQL 13; use a newer one", path: "\(address)"
                )
            }
            try PostgresSchema.prepare(connection, address, until: deadline)
            return library
        } catch let error as LibPQ.LoadingError {
            throw RelayStorageError(.noLibrary, error.message, path: "\(address)")
        } catch let failure as PostgresFailure {
            throw RelayStorageError(.cannotOpen, explain(failure), path: "\(address)")
        }
    }

    private static func listener(
        _ library: LibPQ, _ address: PostgresAddress, _ limits: PostgresLimits, _ feed: ChannelFeed,
        lookSeconds: Double
    ) throws -> ChangeListener {
        do {
            return try ChangeListener(library, address, limits, feed, lookSeconds: lookSeconds)
        } catch let failure as PostgresFailure {
            throw RelayStorageError(.cannotOpen, failure.message, path: "\(address)")
        }
    }

    private static func explain(_ failure: PostgresFailure) -> String {
        guard failure.kind == .refused("42501") else { return failure.message }
        return
            "\(failure.message); let the role make it once: GRANT CREATE ON DATABASE … TO …, or CREATE SCHEMA cipherstore_relay AUTHORIZATION …"
    }

    /// The time as a value of a statement, NULL when it is the database's.
    var time: PostgresValue { .integer(options.milliseconds?()) }

    // MARK: The relay

    private static let keep = PostgresStatement(
        "keep", [.text, .bytes],
        "INSERT INTO cipherstore_relay.kept (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING")
    private static let kept = PostgresStatement(
        "kept", [.text], "SELECT value FROM cipherstore_relay.kept WHERE name = $1")

    /// Keeps a value of the relays in the database, unless there is one of that name. All of them get the same.
    ///
    /// - parameters:
    ///     - value: The value.
    ///     - name: Its name.
    /// - returns: The value that is kept.
    /// - throws: `RelayProblem` of code `unavailable`.
    public func keep(_ value: Data, as name: String) async throws -> Data {
        try await pool.run { session in
            _ = try session.run(Self.keep, [.text(name), .bytes(value)])
            guard let kept = try session.run(Self.kept, [.text(name)]).first else {
                throw RelayProblem(.unavailable, "a value could not be kept")
            }
            return try kept.bytes(0)
        }
    }

    /// The value that is kept in the database under a name; nil when there is none.
    ///
    /// - parameter name: The name.
    /// - throws: `RelayProblem` of code `unavailable`.
    public func kept(_ name: String) async throws -> Data? {
        try await pool.run { try $0.run(Self.kept, [.text(name)]).first?.bytes(0) }
    }

    private static let sums = PostgresStatement(
        "figures", [],
        """
        SELECT count(*), least(coalesce(sum(greatest(file_count, 0)), 0), \(RelayBounds.sumMax))::bigint,
            least(coalesce(sum(greatest(byte_count, 0)), 0), \(RelayBounds.sumMax))::bigint,
            (SELECT coalesce(sum(pg_total_relation_size(relation.oid)), 0)::bigint
             FROM pg_catalog.pg_class AS relation
             WHERE relation.relkind = 'r' AND relation.relnamespace = 'cipherstore_relay'::regnamespace)
        FROM cipherstore_relay.channel
        """)

    /// How much there is, by the sums of all channels. What is taken on the disk is that of the tables with their
    /// indexes.
    ///
    /// - throws: `RelayProblem` of code `unavailable`.
    public func figures() async throws -> RelayStorageFigures {
        try await pool.run { session in
            guard let row = try session.run(Self.sums).first else {
                throw RelayProblem(.unavailable, "the storage can't be counted")
            }
            return RelayStorageFigures(
                channelCount: try row.natural(0), fileCount: try row.natural(1),
                byteCount: try row.natural(2), storageByteCount: try row.natural(3))
        }
    }

    /// The time is a selection of its own: compared with a function that gives another time at each call, no index is used.
    static let tidyInvitations = PostgresStatement(
        "tidy-invitations", [.integer],
        """
        DELETE FROM cipherstore_relay.invitation WHERE id IN (
            SELECT id FROM cipherstore_relay.invitation
            WHERE expiry <= (SELECT coalesce($1, \(ChannelRow.now))) FOR UPDATE SKIP LOCKED)
        """)

    /// Removes invitations that have expired, uploads that were not written for a quarter of an hour, and those that could
    /// not be given up before. Relays can do it at the same time: each leaves out what another one has locked.
    ///
    /// - throws: `RelayProblem` of code `unavailable`.
    public func tidy() async throws {
        let time = time
        // What a part of it fails at is no reason to keep the rest.
        defer { cleaner.wake() }
        try await pool.run { session in
            _ = try session.run(Self.tidyInvitations, [time])
            _ = try session.run(
                Self.abandonUploads, [time, .integer(RelayBounds.uploadMilliseconds), .integers([])])
        }
        try await abandonLeftUploads()
    }
}
