import CipherStore
import Foundation
import Logging
import SyncEngine
import SyncWire
import Synchronization

/// A store that is served: what requests do with it. All of it blocks, and runs on threads for that.
final class HubStore: Sendable {
    /// What waits to be fetched by a device.
    struct Download {
        let id: String
        let spool: ByteSpool
        /// The device's scope that it was made for.
        let revision: Int64
        var usedMilliseconds: Int64
    }

    /// What is remembered until the server ends.
    struct State {
        /// By device: one at a time.
        var downloads: [Int64: Download] = [:]
        /// What the last greetings showed, by device.
        var shown: [Int64: (forks: [Fork], isRetired: Bool)] = [:]
        /// The requests for a new identity that were carried out.
        var renewals: [String] = []
        /// What recent uploads did, for devices that did not get the answer.
        var applied: [(bundle: [UInt8], summary: ApplySummary)] = []
        /// By device.
        var rates: [Int64: RateLimit] = [:]
        var parts = Parts()
        var isMakingSnapshot = false
        var isComparing = false
    }

    private static let renewalCountMax = 100

    let store: StoreID
    let register: DeviceRegister
    let synchronizer: Synchronizer
    let inbox: BundleInbox
    let feed: HubFeed
    let metrics: ServerMetrics
    /// What its devices sent and got lately.
    let traffic = TrafficSeries()
    let limits: HubServer.Limits
    let logger: Logger
    let state = Mutex(State())

    init(_ synchronizer: Synchronizer, limits: HubServer.Limits, logger: Logger, metrics: ServerMetrics)
        throws
    {
        self.metrics = metrics
        self.synchronizer = synchronizer
        self.limits = limits
        self.logger = logger
        register = try DeviceRegister(synchronizer)
        feed = HubFeed(register, limits: limits, logger: logger)
        store = try synchronizer.identity().store
        var inboxLimits = BundleInbox.Limits()
        inboxLimits.byteCountMax = limits.transferByteCountMax
        inboxLimits.bundleCountMax = limits.uploadCountMax
        inbox = BundleInbox(synchronizer, limits: inboxLimits)
    }

    /// The time of the store.
    var milliseconds: @Sendable () -> Int64 { synchronizer.surroundings.milliseconds }

    var now: Int64 { milliseconds() }

    var folder: String {
        URL(fileURLWithPath: synchronizer.writer.path).deletingLastPathComponent().path
    }

    /// Throws when a device makes too many requests.
    func countRequest(of device: Device) throws {
        let perSecond = limits.deviceRequestsPerSecond
        let rate = state.withLock { state in
            if let rate = state.rates[device.id] { return rate }
            let rate = RateLimit(
                perSecond: perSecond, burst: perSecond * 10, "the device makes too many requests")
            state.rates[device.id] = rate
            return rate
        }
        try rate.take()
    }

    /// Throws when the store can't be read.
    func checkReadiness() throws { _ = try synchronizer.identity() }

    // MARK: Greetings

    /// What a device may exchange; nil for everything.
    func access(_ device: Device) throws -> DeviceAccess? {
        try device.bounds.map { try synchronizer.access(within: $0) }
    }

    /// What a device may exchange, as of the transaction that asks: it may have changed since the request was let in.
    func bounds(of device: Device, isWriting: Bool) -> @Sendable (Database) throws -> AccessBounds? {
        { db in
            let now = try DeviceRegister.device(db, id: device.id)
            guard let now, now.revokedMilliseconds == nil else {
                throw RemoteError(.revokedDevice, "the device \(device.label.debugDescription) was revoked")
            }
            if isWriting { try Self.requireWriting(now) }
            return now.bounds
        }
    }

    func greeting(for device: Device) throws -> [UInt8] {
        let greeting = try synchronizer.localPeer.greet()
        return (try access(device)?.restricted(greeting) ?? greeting).encode()
    }

    /// How the tables are made that a device may exchange.
    func definitions(for device: Device) throws -> [SharedTable] {
        try synchronizer.definitions(ofTables: device.bounds?.tables)
    }

    /// Takes in what a device says of itself.
    func meet(_ frame: [UInt8], from device: Device) throws -> [Fork] {
        let greeting = try frame.withUnsafeBytes { try Greeting(frame: $0) }
        guard greeting.store == store else {
            throw SyncError(.otherStore, "the device is a replica of another database")
        }
        try register.bind(device, to: greeting.replica)
        if !device.isReadOnly && device.bounds == nil {
            let shown = try synchronizer.forks(in: greeting)
            state.withLock { $0.shown[device.id] = shown }
            return try synchronizer.meet(greeting, ofDevice: device.id)
        }
        // What it says of others would change what is known here about them.
        var facts = ReplicaFacts()
        facts.chains = greeting.facts.chains
        facts.place = greeting.facts.place
        facts.acknowledged = greeting.facts.acknowledged.filter { $0.key == greeting.replica }
        return try synchronizer.meet(
            Greeting(
                store: greeting.store, replica: greeting.replica, vector: greeting.vector,
                ownSequence: greeting.ownSequence, facts: facts), ofDevice: device.id)
    }

    /// Gives this replica a new identity, because it was copied: only when the device's last greeting shows that
    /// here too. A request that comes again does nothing.
    func renew(_ renewal: Message.Renewal, for device: Device) throws {
        try Self.requireWriting(device)
        guard device.bounds == nil else {
            throw SyncError(
                .forkedReplica,
                """
                the device knows more of the server's replica than the server does, and may not give it a new identity \
                because it may exchange some tables or rows only; if the server's file was put back from a copy, run there: \
                syncctl replica renew
                """)
        }
        guard renewal.forks.count <= 1000 else { throw RemoteError(.tooLarge, "there are over 1000 forks") }
        _ = try Message.identifier(renewal.request)
        let forks = try Message.Forks(items: renewal.forks).values()
        guard !state.withLock({ $0.renewals.contains(renewal.request) }) else { return }
        guard let shown = state.withLock({ $0.shown[device.id] }) else {
            throw RemoteError(.notFound, "the device has not greeted since the server started")
        }
        let own = try synchronizer.identity().replica
        let commons = Dictionary(shown.forks.map { ($0.replica, $0.common) }, uniquingKeysWith: max)
        let due = forks.compactMap { fork in
            if let common = commons[fork.replica] {
                return Fork(replica: fork.replica, common: max(common, fork.common))
            }
            return shown.isRetired && fork.replica == own ? fork : nil
        }
        guard !due.isEmpty else {
            throw RemoteError(.malformed, "nothing here calls for a new identity of the server's replica")
        }
        try synchronizer.renewIdentity(due, shownByDevice: device.id)
        state.withLock { state in
            // What was shown is about the identity before.
            state.shown = [:]
            state.renewals.append(renewal.request)
            if state.renewals.count > Self.renewalCountMax { state.renewals.removeFirst() }
        }
        logger.notice(
            "the server's replica has a new identity",
            metadata: ["device": "\(LogText.printable(device.label))"])
    }

    /// Remembers what a device knows.
    func acknowledge(_ vector: VersionVector, by device: Device) throws {
        guard let replica = device.replica else {
            throw RemoteError(.malformed, "the device has not said yet which replica it is")
        }
        try synchronizer.remember(replica, knowing: vector, ofDevice: device.id)
        noteTaken(by: device)
    }

    static func requireWriting(_ device: Device) throws {
        guard !device.isReadOnly else {
            throw RemoteError(
                .readOnlyDevice, "the device \(device.label.debugDescription) may not send changes")
        }
    }
    // MARK: Comparisons

    /// What this store holds, as digests; nil when it can't be compared now.
    func replicaState(_ kind: StateKind, for device: Device) throws -> [UInt8]? {
        let access = try access(device)
        return try comparing {
            try synchronizer.localPeer.state(kind).map { (access?.restricted($0) ?? $0).encode() }
        }
    }

    /// Answers a question about rows.
    func answer(_ body: [UInt8], for device: Device) throws -> [UInt8] {
        let question = try body.withUnsafeBytes { try StateQuestion(bytes: $0) }
        try access(device)?.requireAllRows(question.table)
        return try comparing { try synchronizer.localPeer.answer(question).encode() }
    }

    /// Comparisons read all rows, so devices make them one after the other.
    private func comparing<Result>(_ body: () throws -> Result) throws -> Result {
        let isFree = state.withLock { state in
            defer { state.isComparing = true }
            return !state.isComparing
        }
        guard isFree else { throw RemoteError(.busy, "the store is being compared with another device's") }
        defer { state.withLock { $0.isComparing = false } }
        return try body()
    }
}
