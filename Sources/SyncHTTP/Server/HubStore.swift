import CipherStore
import Crypto
import Foundation
import Logging
import SyncEngine
import SyncWire
import Synchronization

/// A store that is served: what requests do with it. All of it blocks, and runs on threads for that.
final class HubStore: Sendable {
    private struct Download {
        let id: String
        let spool: ByteSpool
        var usedMilliseconds: Int64
    }

    private struct State {
        /// By device: one at a time.
        var downloads: [Int64: Download] = [:]
        /// What recent uploads did, for devices that did not get the answer.
        var applied: [(bundle: [UInt8], summary: ApplySummary)] = []
        var isMakingSnapshot = false
    }

    private static let downloadMilliseconds: Int64 = 10 * 60_000
    private static let appliedCountMax = 100

    let store: StoreID
    let register: DeviceRegister
    private let synchronizer: Synchronizer
    private let inbox: BundleInbox
    private let limits: HubServer.Limits
    private let logger: Logger
    private let state = Mutex(State())

    init(_ synchronizer: Synchronizer, limits: HubServer.Limits, logger: Logger) throws {
        self.synchronizer = synchronizer
        self.limits = limits
        self.logger = logger
        register = try DeviceRegister(synchronizer)
        store = try synchronizer.identity().store
        var inboxLimits = BundleInbox.Limits()
        inboxLimits.byteCountMax = limits.transferByteCountMax
        inboxLimits.bundleCountMax = limits.uploadCountMax
        inbox = BundleInbox(synchronizer, limits: inboxLimits)
    }

    /// The time of the store.
    var milliseconds: @Sendable () -> Int64 { synchronizer.surroundings.milliseconds }

    private var now: Int64 { milliseconds() }

    private var folder: String {
        URL(fileURLWithPath: synchronizer.writer.path).deletingLastPathComponent().path
    }

    /// Throws when the store can't be read.
    func checkReadiness() throws { _ = try synchronizer.identity() }

    // MARK: Greetings

    func greeting() throws -> [UInt8] { try synchronizer.localPeer.greet().encode() }

    /// Takes in what a device says of itself.
    func meet(_ frame: [UInt8], from device: Device) throws -> [Fork] {
        let greeting = try frame.withUnsafeBytes { try Greeting(frame: $0) }
        guard greeting.store == store else {
            throw SyncError(.otherStore, "the device is a replica of another database")
        }
        try register.bind(device, to: greeting.replica)
        guard device.isReadOnly else { return try synchronizer.localPeer.meet(greeting) }
        // What it says of others would change what is known here about them.
        var facts = ReplicaFacts()
        facts.chains = greeting.facts.chains
        facts.place = greeting.facts.place
        return try synchronizer.localPeer.meet(
            Greeting(
                store: greeting.store, replica: greeting.replica, vector: greeting.vector,
                ownSequence: greeting.ownSequence, facts: facts))
    }

    /// Gives this replica a new identity, because a device found that it was copied.
    func renew(_ forks: [Fork], for device: Device) throws {
        try requireWriting(device)
        guard forks.count <= 1000 else { throw RemoteError(.tooLarge, "there are over 1000 forks") }
        try synchronizer.localPeer.renewIdentity(forks)
        logger.notice("the server's replica has a new identity", metadata: ["device": "\(device.label)"])
    }

    /// Remembers what a device knows.
    func acknowledge(_ vector: VersionVector, by device: Device) throws {
        guard let replica = device.replica else {
            throw RemoteError(.malformed, "the device has not said yet which replica it is")
        }
        try synchronizer.localPeer.remember(replica, name: "", knowing: vector)
    }

    private func requireWriting(_ device: Device) throws {
        guard !device.isReadOnly else {
            throw RemoteError(
                .readOnlyDevice, "the device \(device.label.debugDescription) may not send changes")
        }
    }

    // MARK: Downloads

    /// Puts what lies beyond a vector where it waits to be fetched.
    func prepareChanges(since vector: VersionVector, for device: Device) throws -> Message.Download {
        let spool = try ByteSpool(folder: folder, byteCountMax: limits.transferByteCountMax)
        let summary = try synchronizer.localPeer.send(since: vector, progress: nil) { try spool.append($0) }
        return try offer(spool, rowCount: summary.rowCount, to: device)
    }

    /// Puts an archive of the store, sealed for a recipient, where it waits to be fetched.
    func prepareSnapshot(for recipient: String, _ device: Device) throws -> Message.Download {
        guard let recipient = ArchiveRecipient(recipient) else {
            throw RemoteError(.malformed, "that is no recipient of archives")
        }
        let isFree = state.withLock { state in
            defer { state.isMakingSnapshot = true }
            return !state.isMakingSnapshot
        }
        guard isFree else { throw RemoteError(.busy, "a snapshot is being made for another device") }
        defer { state.withLock { $0.isMakingSnapshot = false } }
        let secret = ByteText.hex(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
        let name = ByteText.hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        let path = folder + "/.snapshot-" + name
        defer { unlink(path) }
        try synchronizer.writeSnapshot(
            to: path, lock: ArchiveLock(recipient: recipient), passphrase: Passphrase(secret))
        let spool = try ByteSpool(folder: folder, byteCountMax: limits.transferByteCountMax)
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw RemoteError(.failed, "the snapshot can't be read")
        }
        defer { try? handle.close() }
        while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
            try piece.withUnsafeBytes { try spool.append($0) }
        }
        return try offer(spool, rowCount: 0, to: device)
    }

    private func offer(_ spool: ByteSpool, rowCount: Int64, to device: Device) throws -> Message.Download {
        try spool.finish()
        let id = ByteText.hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        let now = now
        state.withLock { state in
            state.downloads = state.downloads.filter {
                now - $0.value.usedMilliseconds < Self.downloadMilliseconds
            }
            state.downloads[device.id] = Download(id: id, spool: spool, usedMilliseconds: now)
        }
        return Message.Download(download: id, byteCount: spool.byteCount, rowCount: rowCount)
    }

    /// What waits for a device.
    func download(_ id: String, of device: Device) throws -> ByteSpool {
        let now = now
        return try state.withLock { state in
            guard let download = state.downloads[device.id], download.id == id else {
                throw RemoteError(.notFound, "there is no such download, or it waited too long")
            }
            state.downloads[device.id]?.usedMilliseconds = now
            return download.spool
        }
    }

    func endDownload(_ id: String, of device: Device) {
        state.withLock { state in
            if state.downloads[device.id]?.id == id { state.downloads[device.id] = nil }
        }
    }

    // MARK: Uploads

    /// Begins an upload, or says how far it came.
    ///
    /// - parameter body: The frame of the header, and any that follow it.
    func beginUpload(_ body: [UInt8], from device: Device) throws -> Message.Upload {
        try requireWriting(device)
        let frames = try Self.frames(body)
        guard let first = frames.first else { throw WireError(.truncated, "there is no header") }
        let header = try first.withUnsafeBytes { try BundleParts.header(of: $0) }
        guard header.sender == device.replica else {
            throw RemoteError(.otherReplica, "the bundle is not by the replica that the device is")
        }
        guard header.store == store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        if try synchronizer.identity().vector.covers(header.target) {
            let identifier = Array(SHA256.hash(data: first.dropFirst(5)))
            return Message.Upload(
                bundle: ByteText.hex(identifier), firstMissingChunk: 0, isComplete: true, isKnown: true)
        }
        let state = try first.withUnsafeBytes { try inbox.begin($0) }
        return try add(frames.dropFirst(), to: state)
    }

    /// Adds parts to an upload.
    func continueUpload(_ bundle: [UInt8], _ body: [UInt8], from device: Device) throws -> Message.Upload {
        try requireOwn(bundle, device)
        var state: BundleInbox.State?
        for frame in try Self.frames(body) {
            state = try frame.withUnsafeBytes { try inbox.add($0, to: bundle) }
        }
        guard let state else { throw WireError(.truncated, "there are no frames") }
        return Self.message(state)
    }

    private func add(_ frames: ArraySlice<[UInt8]>, to state: BundleInbox.State) throws -> Message.Upload {
        var state = state
        for frame in frames {
            state = try frame.withUnsafeBytes { try inbox.add($0, to: state.identifier) }
        }
        return Self.message(state)
    }

    private static func message(_ state: BundleInbox.State) -> Message.Upload {
        Message.Upload(
            bundle: ByteText.hex(state.identifier), firstMissingChunk: state.firstMissingChunk,
            isComplete: state.isComplete, isKnown: false)
    }

    private static func frames(_ body: [UInt8]) throws -> [[UInt8]] {
        var assembler = FrameAssembler()
        var frames: [[UInt8]] = []
        try body.withUnsafeBytes { try assembler.append($0) { frames.append(Array($0)) } }
        try assembler.finish()
        return frames
    }

    private func requireOwn(_ bundle: [UInt8], _ device: Device) throws {
        try requireWriting(device)
        let sender = try synchronizer.writer.read { db in
            try Data.fetchOne(
                db, sql: "SELECT sender FROM main._sync_inbox WHERE bundle = ?", arguments: [Data(bundle)])
        }
        guard let sender, let replica = device.replica, Array(sender) == replica.bytes else {
            throw RemoteError(.notFound, "there is no such upload, or it waited too long")
        }
    }

    /// Applies an upload that is complete.
    func applyUpload(_ bundle: [UInt8], from device: Device) throws -> Message.Application {
        if let done = state.withLock({ $0.applied.first { $0.bundle == bundle }?.summary }) {
            return Message.Application(done)
        }
        try requireOwn(bundle, device)
        let summary = try inbox.apply(bundle)
        state.withLock { state in
            state.applied.append((bundle, summary))
            if state.applied.count > Self.appliedCountMax { state.applied.removeFirst() }
        }
        return Message.Application(summary)
    }
}
