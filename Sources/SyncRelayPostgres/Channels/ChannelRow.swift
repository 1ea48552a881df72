import Crypto
import Foundation
import SyncRelay

/// A channel as the storage has it.
struct ChannelRow {
    let number: Int64
    let birth: Data
    var position: RelayPosition
    var byteCount: Int64
    var fileCount: Int64
    var removalCount: Int64
    var forgotten: RelayPosition
    let tickets: CommitTickets
    /// What is another one when the database may have been put back to an older state.
    let incarnation: Data
    /// The time of the database, in milliseconds since 1970.
    let milliseconds: Int64
    /// Whether the sums can be those of files. Other programs may write to the table.
    private(set) var hasPossibleSums: Bool

    /// The columns of a table named `channel`.
    ///
    /// Of the incarnation: a server that was started again may have got older files meanwhile. A database that was made
    /// again, renamed or copied has another oid; a table that was emptied or made again has another file.
    static let columns = """
        channel.number, channel.birth, channel.position, channel.byte_count, channel.file_count,
        channel.removal_count, channel.forgotten, channel.tickets, \(incarnationColumns), \(now)
        """
    /// The three columns of which an incarnation is made.
    private static let incarnationColumns = """
        pg_postmaster_start_time(), (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()),
        pg_relation_filenode('cipherstore_relay.channel'::regclass)
        """
    static let columnCount = 12

    /// The time of the database. That of nodes may differ.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    init(_ row: PostgresRow) throws {
        number = try row.integer(0)
        birth = try row.bytes(1)
        position = try row.natural(2, upTo: .max)
        byteCount = try row.natural(3)
        fileCount = try row.natural(4)
        removalCount = try row.natural(5)
        hasPossibleSums = try (3...5).allSatisfy { (0...RelayBounds.sumMax).contains(try row.integer($0)) }
        forgotten = try row.natural(6, upTo: .max)
        tickets = CommitTickets(try row.bytes(7))
        incarnation = try Self.incarnation(row, from: 8)
        milliseconds = try row.integer(11)
    }

    private static func incarnation(_ row: PostgresRow, from column: Int) throws -> Data {
        try row.bytes(column) + row.bytes(column + 1) + row.bytes(column + 2)
    }

    private static let current = PostgresStatement("incarnation", [], "SELECT \(incarnationColumns)")

    /// The incarnation that the database has now.
    ///
    /// - throws: ``PostgresFailure``.
    static func incarnation(
        _ connection: PostgresConnection, until deadline: PostgresConnection.Deadline
    ) throws -> Data {
        guard let row = try connection.run(current, until: deadline).first else {
            throw PostgresFailure(kind: .unexpected, message: "the database doesn't say when it was started")
        }
        return try incarnation(row, from: 0)
    }

    /// The time in which the position means something: the same at all nodes.
    func epoch() throws -> RelayEpoch {
        var hash = SHA256()
        hash.update(data: birth)
        hash.update(data: incarnation)
        guard let epoch = RelayEpoch(bytes: Array(hash.finalize().prefix(16))) else {
            throw RelayProblem(.unavailable, "an epoch could not be made")
        }
        return epoch
    }

    func moment() throws -> RelayMoment { RelayMoment(epoch: try epoch(), position: position) }

    private static let byID = PostgresStatement(
        "channel", [.bytes],
        "SELECT \(columns) FROM cipherstore_relay.channel AS channel WHERE channel.id = $1")
    private static let byIDLocked = PostgresStatement(
        "channel-lock", [.bytes],
        "SELECT \(columns) FROM cipherstore_relay.channel AS channel WHERE channel.id = $1 FOR UPDATE")

    /// Reads a channel.
    ///
    /// - throws: ``RelayProblem`` of code `unauthorized` when there is none.
    static func require(_ session: PostgresSession, _ channel: RelayChannelID) throws -> ChannelRow {
        guard let row = try session.run(byID, [.bytes(Data(channel.bytes))]).first else {
            throw RelayProblem.noChannel
        }
        return try ChannelRow(row)
    }

    /// Reads a channel, and lets nobody else change it until the transaction ends. Its positions are given out under this
    /// lock, so they become visible in their order.
    ///
    /// - throws: ``RelayProblem`` of code `unauthorized` when there is none.
    static func lock(
        _ connection: PostgresConnection, _ channel: RelayChannelID,
        until deadline: PostgresConnection.Deadline
    ) throws -> ChannelRow {
        try ChannelRow(locked: connection.run(byIDLocked, [.bytes(Data(channel.bytes))], until: deadline))
    }

    private static let sums = PostgresStatement(
        "channel-sums", [.integer, .integer],
        """
        SELECT least(coalesce(sum(least(greatest(byte_count, 0), $2)) FILTER (WHERE body IS NOT NULL), 0), $2)::bigint,
            count(*) FILTER (WHERE body IS NOT NULL), count(*) FILTER (WHERE body IS NULL)
        FROM cipherstore_relay.file WHERE channel = $1
        """)

    /// Counts what there is, where the sums can't be right. The channel is locked.
    mutating func recountIfNeeded(
        _ connection: PostgresConnection, until deadline: PostgresConnection.Deadline
    ) throws {
        guard !hasPossibleSums else { return }
        let values: [PostgresValue] = [.integer(number), .integer(RelayBounds.sumMax)]
        guard let sums = try connection.run(Self.sums, values, until: deadline).first else { return }
        byteCount = try sums.natural(0, upTo: RelayBounds.sumMax)
        fileCount = try sums.natural(1)
        removalCount = try sums.natural(2)
        hasPossibleSums = true
    }

    /// What ``lock(_:_:until:)`` runs.
    static func locking(_ channel: RelayChannelID) -> PostgresCall {
        PostgresCall(byIDLocked, [.bytes(Data(channel.bytes))])
    }

    /// Reads what that gave.
    ///
    /// - throws: ``RelayProblem`` of code `unauthorized` when there is no such channel.
    init(locked result: PostgresResult) throws {
        guard let row = result.first else { throw RelayProblem.noChannel }
        try self.init(row)
    }
}

/// What is known of a name in a channel.
struct FileRow: Equatable {
    var position: RelayPosition
    var byteCount: Int64
    /// The digest of the bytes; nil when the file was removed.
    var digest: Data?
    /// The body; nil when the file was removed.
    var body: Int64?
}

/// Marks of the last commits of a channel.
///
/// A commit whose answer was lost took effect, or not. Its ticket tells: it is here when it did, and when the one before it
/// is here without it, it didn't.
struct CommitTickets: Equatable {
    static let byteCount = 8
    private static let countMax = 16

    let bytes: Data

    init(_ bytes: Data) { self.bytes = Data(bytes) }

    /// What there is after another commit.
    func adding(_ ticket: Data) -> CommitTickets {
        CommitTickets(ticket + bytes.prefix(Self.byteCount * (Self.countMax - 1)))
    }

    /// Whether a commit took effect that began from others; nil when too many came after.
    func tells(_ ticket: Data, after earlier: CommitTickets) -> Bool? {
        let known = stride(from: 0, to: bytes.count, by: Self.byteCount).map {
            bytes.dropFirst($0).prefix(Self.byteCount)
        }
        if known.contains(ticket) { return true }
        // The commits since then are all here when the last one before is, or when there never were as many.
        let last = earlier.bytes.prefix(Self.byteCount)
        if known.contains(last) || (last.isEmpty && known.count < Self.countMax) { return false }
        return nil
    }
}
