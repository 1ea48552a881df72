import Foundation
import SyncRelay
import Synchronization

/// Tells other relays on the database of changes, and those who wait here of theirs.
///
/// Notices are sent after the commit, many by one statement: within a transaction they would make all commits of the
/// database wait for each other (PostgreSQL orders them by one lock). So a relay that is killed in between tells nobody.
/// That, and notices that got lost with a connection, is made up for by looking at all channels that somebody waits for,
/// every few seconds and after each new connection.
final class ChangeListener: Sendable {
    private struct State {
        /// What is to be told to others: the last of each channel.
        var notices: [RelayChannelID: RelayPosition?] = [:]
        var isClosed = false
        var hasEnded = false
        var isListening = false
        /// How often all channels were looked at.
        var lookCount = 0
    }

    /// The most channels that are told of at a time. Others are found by looking.
    private static let noticeCountMax = 16_384
    /// How long notices gather after some were sent. A busy relay would otherwise send as many as it has commits, and each
    /// is a transaction that all relays are woken by.
    private static let noticePause = Duration.milliseconds(5)

    private let library: LibPQ
    private let address: PostgresAddress
    private let limits: PostgresLimits
    private let feed: ChannelFeed
    private let lookSeconds: Double
    private let state = Mutex(State())
    private let pipe: WakingPipe

    init(
        _ library: LibPQ, _ address: PostgresAddress, _ limits: PostgresLimits, _ feed: ChannelFeed,
        lookSeconds: Double
    ) throws {
        self.library = library
        self.address = address
        self.limits = limits
        self.feed = feed
        self.lookSeconds = max(0.05, lookSeconds)
        pipe = try WakingPipe()
        let thread = Thread { [self] in
            listen()
            state.withLock { $0.hasEnded = true }
        }
        thread.name = "SyncRelayPostgres"
        thread.start()
    }

    /// Tells others of a change.
    ///
    /// - parameter position: The position after it; nil when the channel was removed.
    func announce(_ channel: RelayChannelID, _ position: RelayPosition?) {
        let isFirst = state.withLock { state in
            let isFirst = state.notices.isEmpty
            guard state.notices.count < Self.noticeCountMax || state.notices[channel] != nil else {
                return false
            }
            state.notices[channel] = .some(position)
            return isFirst
        }
        // Otherwise the thread knows already that there is something to send.
        if isFirst { pipe.wake() }
    }

    /// Ends the thread soon.
    func close() {
        state.withLock { $0.isClosed = true }
        pipe.wake()
    }

    /// Waits on this thread until the listening one has ended, after ``close()``.
    func waitUntilClosed() {
        while !state.withLock({ $0.hasEnded }) { Thread.sleep(forTimeInterval: 0.002) }
    }

    /// Whether the server tells of changes now.
    var isListening: Bool { state.withLock { $0.isListening } }

    /// How often all channels were looked at.
    var lookCount: Int { state.withLock { $0.lookCount } }

    // MARK: The thread

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func listen() {
        var pause = 0.05
        while !isClosed {
            do {
                try listen { pause = 0.05 }
            } catch {
                state.withLock { $0.isListening = false }
                pipe.clear()
                if !isClosed { pipe.wait(seconds: pause) }
                pause = min(pause * 2, 1)
            }
        }
    }

    /// Listens until the connection ends, or this is closed.
    private func listen(_ onConnected: () -> Void) throws {
        let connection = try PostgresConnection(
            library, address, statementSeconds: limits.seconds,
            until: .now + .seconds(limits.connectingSeconds))
        try connection.execute("LISTEN \(ChangeNotice.name)", until: deadline)
        onConnected()
        state.withLock { $0.isListening = true }
        // From here on each change is told, and those before are seen.
        var nextLook = ContinuousClock.now
        var nextNotices = nextLook
        while !isClosed {
            if nextLook <= .now {
                try look(feed.channels, connection)
                state.withLock { $0.lookCount += 1 }
                nextLook = .now + .seconds(lookSeconds)
            }
            if nextNotices <= .now, try sendNotices(connection) { nextNotices = .now + Self.noticePause }
            let told = connection.takeNotifications().compactMap { ChangeNotice($0) }
            if !told.isEmpty {
                try look(Array(Set(told.filter(isNews).map(\.channel))), connection)
                continue
            }
            let hasNotices = state.withLock { !$0.notices.isEmpty }
            try connection.waitForNotifications(
                orReading: pipe.reading, until: hasNotices ? min(nextLook, nextNotices) : nextLook)
            pipe.clear()
        }
    }

    private var deadline: PostgresConnection.Deadline { .now + .seconds(limits.seconds) }

    /// Whether somebody waits here for a channel, and was not told of this yet.
    private func isNews(_ notice: ChangeNotice) -> Bool {
        guard feed.isObserved(notice.channel) else { return false }
        return notice.position == nil || feed.lastPosition(of: notice.channel) != notice.position
    }

    // MARK: Statements

    private static let notify = PostgresStatement(
        "notify", [.text, .texts], "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload")

    /// - returns: Whether there were any.
    private func sendNotices(_ connection: PostgresConnection) throws -> Bool {
        let notices = state.withLock { state in
            defer { state.notices = [:] }
            return state.notices
        }
        guard !notices.isEmpty else { return false }
        let payloads = notices.map { ChangeNotice($0.key, $0.value).text }
        try connection.run(Self.notify, [.text(ChangeNotice.name), .texts(payloads)], until: deadline)
        return true
    }

    private static let channels = PostgresStatement(
        "listen-look", [.byteStrings],
        """
        SELECT \(ChannelRow.columns), channel.id FROM cipherstore_relay.channel AS channel
        WHERE channel.id = ANY ($1)
        """)
    private static let channelCountMax = 1_000

    /// Looks how channels stand, and tells those who wait for them.
    private func look(_ channels: [RelayChannelID], _ connection: PostgresConnection) throws {
        var rest = channels[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.channelCountMax)
            rest = rest.dropFirst(part.count)
            var missing = Set(part)
            let ids = PostgresValue.byteStrings(part.map { Data($0.bytes) })
            for row in try connection.run(Self.channels, [ids], until: deadline).rows {
                let id = try row.bytes(ChannelRow.columnCount)
                guard let channel = RelayChannelID(bytes: Array(id)) else { continue }
                missing.remove(channel)
                feed.tell(channel, try ChannelRow(row).moment())
            }
            for channel in missing { feed.tellRemoval(of: channel) }
        }
    }
}
