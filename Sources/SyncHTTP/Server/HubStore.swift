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
        /// What stands for the changes that the last greeting showed to a device, of those that may have everything.
        var marks: [Int64: [UInt8]] = [:]
        /// The requests for a new identity that were carried out.
        var renewals: [String] = []
        /// What recent uploads did, for devices that did not get the answer.
        var applied: [(bundle: [UInt8], summary: ApplySummary)] = []
        /// By device.
        var rates: [Int64: RateLimit] = [:]
        var long = LongApplications()
        var parts = Parts()
        var isMakingSnapshot = false
        var isComparing = false
    }

    static let renewalCountMax = 100

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
    /// What waits to be fetched, or is being made for that.
    let downloads: DownloadBudget
    /// What may be given to several devices.
    let sharedMakings = SharedMakings()
    /// What is being fetched.
    let reads = DownloadReads()

    init(_ synchronizer: Synchronizer, limits: HubServer.Limits, logger: Logger, metrics: ServerMetrics)
        throws
    {
        self.metrics = metrics
        self.synchronizer = synchronizer
        self.limits = limits
        self.logger = logger
        downloads = DownloadBudget(
            byteCountMax: limits.downloadByteCountMax, downloadByteCountMax: limits.transferByteCountMax)
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
            let now = try Self.present(db, device)
            if isWriting { try Self.requireWriting(now) }
            return now.bounds
        }
    }

    /// Throws unless a device may still have what it could when its request was let in.
    ///
    /// - throws: ``RemoteError``: `revokedDevice`, `busy`.
    func requireUnchanged(_ device: Device) throws {
        let now = try synchronizer.writer.read { try Self.present($0, device) }
        guard now.revision == device.revision else { throw Self.changedRights }
    }

    private static func present(_ db: Database, _ device: Device) throws -> Device {
        let now = try DeviceRegister.device(db, id: device.id)
        guard let now, now.keyFingerprint == device.keyFingerprint, now.revokedMilliseconds == nil else {
            throw RemoteError(.revokedDevice, "the device \(device.label.debugDescription) was revoked")
        }
        return now
    }

    static var changedRights: RemoteError {
        RemoteError(.busy, "what the device may have has changed; ask again")
    }

    static func requireWriting(_ device: Device) throws {
        guard !device.isReadOnly else {
            throw RemoteError(
                .readOnlyDevice, "the device \(device.label.debugDescription) may not send changes")
        }
    }

    /// Comparisons read all rows, so devices make them one after the other.
    func comparing<Result>(_ body: () throws -> Result) throws -> Result {
        let isFree = state.withLock { state in
            defer { state.isComparing = true }
            return !state.isComparing
        }
        guard isFree else { throw RemoteError(.busy, "the store is being compared with another device's") }
        defer { state.withLock { $0.isComparing = false } }
        return try body()
    }
}
