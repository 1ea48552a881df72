import AsyncHTTPClient
import Foundation
import NIOCore
import Synchronization

/// The moments of a channel, as its relay tells them: a new one as soon as somebody has changed something.
///
/// ```swift
/// for try await moment in RelayWatch(channel, client: client, after: mailbox.known) { … }
/// ```
///
/// It goes on until its task is cancelled, or nothing helps any more, such as with a key that the relay doesn't know. When a
/// connection ends, it connects anew, later each time when that fails. The same moment is told once in a row.
public struct RelayWatch: AsyncSequence, Sendable {
    /// What it tells.
    public typealias Element = RelayMoment

    /// How it connects anew.
    public struct Options: Sendable {
        /// The first pause before it connects anew, in seconds; each is twice as long as the one before.
        public var pauseSeconds = 0.5
        /// The longest pause, in seconds.
        public var pauseSecondsMax = 60.0
        /// Told when a connection has come about.
        public var onConnection: @Sendable () -> Void = {}
        /// Told what failed, and in how many seconds it is tried again.
        public var onFailure: @Sendable (RelayError, Double) -> Void = { _, _ in }

        /// Makes the default options.
        public init() {}
    }

    /// The longest connection: a relay ends one after ten minutes.
    static let connectionSeconds: Int64 = 660
    /// The longest line.
    static let lineByteCountMax = 4096
    /// A connection that still says something after this time was of use: half of the time between two signs of life of a relay.
    private static let usefulDuration = Duration.seconds(10)

    private let client: RelayClient
    private let channel: RelayChannel
    private let start: RelayMoment?
    private let options: Options

    /// Makes a watch. It connects when it is iterated over.
    ///
    /// - parameters:
    ///     - channel: What is watched.
    ///     - client: What knows the relay.
    ///     - moment: The moment that is known; nil to be told the present one at once.
    ///     - options: How it connects anew.
    public init(
        _ channel: RelayChannel, client: RelayClient, after moment: RelayMoment? = nil,
        options: Options = Options()
    ) {
        (self.channel, self.client, self.start, self.options) = (channel, client, moment, options)
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator {
        Iterator(channel: channel, client: client, options: options, last: start)
    }

    /// Goes over the moments.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: RelayChannel
        let client: RelayClient
        let options: Options
        /// The moment that was told last.
        var last: RelayMoment?
        private var lines: RelayLines?
        /// When the connection came about.
        private var opened = ContinuousClock.now
        /// Whether the connection has told something new, or lasted. Else its end is a failure, however friendly it is.
        private var isUseful = false
        private var failures = 0

        init(channel: RelayChannel, client: RelayClient, options: Options, last: RelayMoment?) {
            (self.channel, self.client, self.options, self.last) = (channel, client, options, last)
        }

        /// The next moment that is another one than the last.
        ///
        /// - throws: ``RelayError`` for what would fail again; `CancellationError`.
        public mutating func next() async throws -> RelayMoment? {
            while true {
                try Task.checkCancellation()
                do {
                    if let moment = try await nextOfConnection() {
                        guard moment != last else { continue }
                        last = moment
                        noteUse()
                        return moment
                    }
                    lines = nil
                } catch {
                    lines = nil
                    try Task.checkCancellation()
                    guard let error = error as? RelayError else { throw error }
                    guard error.code == .unreachable else { throw error }
                    failures += 1
                    let seconds = pause()
                    options.onFailure(error, seconds)
                    try await Task.sleep(for: .seconds(seconds))
                }
            }
        }

        /// The next moment that the connection tells; nil when it ends as it should.
        private mutating func nextOfConnection() async throws -> RelayMoment? {
            var lines: RelayLines
            if let open = self.lines {
                lines = open
            } else {
                lines = try await RelayLines.open(channel, client, after: last)
                (opened, isUseful) = (.now, false)
                options.onConnection()
            }
            while let line = try await lines.next() {
                self.lines = lines
                if opened.duration(to: .now) >= RelayWatch.usefulDuration { noteUse() }
                if line.isEmpty { continue }
                guard let moment = try? RelayJSON.decode(RelayMoment.self, from: line) else {
                    throw RelayError(.unreachable, "the relay tells what can't be right")
                }
                return moment
            }
            guard isUseful else {
                throw RelayError(.unreachable, "the relay ended the watch before it said anything new")
            }
            return nil
        }

        /// Notes that the connection was of use: the patience begins anew.
        private mutating func noteUse() { (isUseful, failures) = (true, 0) }

        private func pause() -> Double {
            let most = Swift.min(
                options.pauseSecondsMax, options.pauseSeconds * pow(2, Double(Swift.min(failures, 30) - 1)))
            let random = Double(client.options.environment.random() >> 11) / Double(UInt64(1) << 53)
            return most * (0.5 + random / 2)
        }
    }
}

/// The lines of an answer that goes on.
private struct RelayLines {
    private var body: HTTPClientResponse.Body.AsyncIterator
    private var buffer: [UInt8] = []
    private let client: RelayHTTP

    static func open(
        _ channel: RelayChannel, _ client: RelayClient, after moment: RelayMoment?
    ) async throws -> RelayLines {
        guard let carrier = client.carrier as? RelayHTTP else {
            throw RelayError(.failed, "this client can't watch")
        }
        let query = moment.map { "?after=\($0.position)&epoch=\($0.epoch)" } ?? ""
        let request = RelayRequest(
            kind: .watch, method: "GET", path: "/v1/channels/\(channel.id)/watch" + query,
            token: channel.key.readToken)
        client.count(.watch)
        let response = try await carrier.stream(request, seconds: RelayWatch.connectionSeconds)
        guard response.status == .ok else {
            let body = try? await response.body.collect(upTo: 64 << 10)
            let answer = RelayAnswer(
                status: Int(response.status.code),
                headers: response.headers.map { ($0.name, $0.value) },
                body: body.map { Data($0.readableBytesView) } ?? Data())
            throw RelayRefusal(answer).error(client.address)
        }
        return RelayLines(body: response.body.makeAsyncIterator(), client: carrier)
    }

    private init(body: HTTPClientResponse.Body.AsyncIterator, client: RelayHTTP) {
        (self.body, self.client) = (body, client)
    }

    /// The next line; nil at the end.
    mutating func next() async throws -> [UInt8]? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                return line
            }
            guard buffer.count <= RelayWatch.lineByteCountMax else {
                throw RelayError(.unreachable, "the relay tells a line without an end")
            }
            do {
                guard let piece = try await body.next() else { return nil }
                buffer += piece.readableBytesView
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw client.asRelayError(error)
            }
        }
    }
}
