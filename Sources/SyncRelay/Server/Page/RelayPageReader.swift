import Foundation
import SyncHTTP
import SyncWire
import Synchronization

/// Looks at a running relay for its page.
final class RelayPageReader: Sendable {
    /// What is looked at beside the storage.
    struct Sources: Sendable {
        let watches: RelayWatches
        let connections: RelayConnections
        let held: HeldBytes
        let metrics: RelayMetrics
        let traffic: RelayTraffic
        let certificate: ReloadableCertificate?
    }

    /// What time it is.
    struct Time: Sendable {
        /// In milliseconds since 1970.
        var milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }
        var now: @Sendable () -> ContinuousClock.Instant = { .now }
    }

    private struct Reading {
        /// What was found; nothing when the storage could not be used.
        var figures: RelayStorageFigures?
        /// When it may be read again.
        var restsUntil: ContinuousClock.Instant
        var isBeingRenewed = false
    }

    /// The most characters of a name that the program or the storage gives itself.
    private static let nameCharacterCountMax = 64
    /// The most statuses of a kind of requests. There are fewer.
    private static let statusCountMax = 32
    /// The storage is not read again for a second, nor for ten times as long as reading it took: what one page costs, all cost.
    private static let restMin = Duration.milliseconds(900)
    private static let restFactor = 10.0

    private let storage: any RelayStorage
    private let options: RelayServer.Options
    private let sources: Sources
    private let time: Time
    private let start: ContinuousClock.Instant
    private let started: Int64
    private let reading = Mutex<Reading?>(nil)

    /// - parameters:
    ///     - storage: The storage.
    ///     - options: How the relay is run.
    ///     - sources: What else is looked at.
    ///     - time: The time.
    init(
        storage: any RelayStorage, options: RelayServer.Options, sources: Sources, time: Time = Time()
    ) {
        self.storage = storage
        self.options = options
        self.sources = sources
        self.time = time
        start = time.now()
        started = time.milliseconds()
    }

    /// How the relay does now. A storage that can't be used is a part of that, and no failure.
    func document() async -> RelayPageDocument {
        let holdings = await figures().map { RelayPageDocument.Holdings($0) }
        let outline = storage.outline
        return RelayPageDocument(
            now: time.milliseconds(),
            relay: .init(
                version: options.version.map(Self.name), started: started,
                upSeconds: (time.now() - start).components.seconds,
                needsAdmission: options.admission != nil),
            storage: .init(
                kind: Self.name(outline.kind), channelsMax: outline.channelCountMax,
                channelFilesMax: outline.channelFileCountMax, channelBytesMax: outline.channelByteCountMax,
                holds: holdings),
            certificate: sources.certificate.map { Self.certificate($0.current) },
            loads: loads, requests: requests, traffic: sources.traffic.series)
    }

    private static func name(_ text: String) -> String { String(text.prefix(nameCharacterCountMax)) }

    private static func certificate(_ certificate: ServerCertificate) -> RelayPageDocument.Certificate {
        let digits = certificate.fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return .init(
            fingerprint: digits.joined(), isPinned: certificate.isSelfSigned,
            from: (certificate.validity?.lowerBound).map(milliseconds(of:)),
            until: (certificate.validity?.upperBound).map(milliseconds(of:)))
    }

    private static func milliseconds(of date: Date) -> Int64 { Int64(date.timeIntervalSince1970) * 1000 }

    private var loads: RelayPageDocument.Loads {
        .init(
            connections: .init(count: sources.connections.count, max: sources.connections.countMax),
            watches: .init(count: sources.watches.count, max: options.limits.watchCountMax),
            memory: .init(count: sources.held.count, max: options.limits.heldByteCountMax))
    }

    // MARK: Requests

    /// What became of requests. Those for the page itself are left out: whoever looks would see nothing else.
    private var requests: [RelayPageDocument.Requests] {
        var seconds: [String: Double] = [:]
        for (labels, amount) in sources.metrics.counts(of: .requestSeconds) {
            if let kind = labels.first { seconds[kind] = amount }
        }
        var answers: [String: [RelayPageDocument.Answer]] = [:]
        for (labels, amount) in sources.metrics.counts(of: .requests) {
            guard labels.count == 2, labels[0] != RelayRoute.pageKind, let status = Int(labels[1]) else {
                continue
            }
            answers[labels[0], default: []].append(.init(status: status, count: Self.whole(amount)))
        }
        return answers.sorted { $0.key < $1.key }.map { kind, answers in
            let count = answers.reduce(Int64(0)) { $0.addingSaturated($1.count) }
            return .init(
                kind: kind,
                microseconds: Self.whole((seconds[kind] ?? 0) * 1e6 / Double(max(count, 1))),
                answers: Array(answers.sorted { $0.status < $1.status }.prefix(Self.statusCountMax)))
        }
    }

    private static func whole(_ number: Double) -> Int64 { Int64(min(max(0, number), 1e15)) }

    // MARK: Storage

    private func figures() async -> RelayStorageFigures? {
        let start = time.now()
        let known = reading.withLock { reading -> Reading? in
            guard let known = reading else { return nil }
            if known.isBeingRenewed || start < known.restsUntil { return known }
            reading?.isBeingRenewed = true
            return nil
        }
        if let known { return known.figures }
        let figures = try? await storage.figures()
        let end = time.now()
        let rest = max(Self.restMin, (end - start) * Self.restFactor)
        reading.withLock { $0 = Reading(figures: figures, restsUntil: end + rest) }
        return figures
    }
}
