import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// What devices send.
extension HubStore {
    private static let appliedCountMax = 100

    /// Begins an upload, or says how far it came.
    ///
    /// - parameters:
    ///     - body: The frame of the header, and any that follow it.
    ///     - applies: Whether it is applied if that is all of it.
    ///     - isLong: Whether its device asks for more time than others are to wait, because it can't divide the bundle.
    func beginUpload(
        _ body: [UInt8], applies: Bool = false, isLong: Bool = false, from device: Device
    ) throws -> Message.Upload {
        try Self.requireWriting(device)
        let frames = try BundleFrames(body)
        let header = frames.header
        guard header.sender == device.replica else {
            throw RemoteError(.otherReplica, "the bundle is not by the replica that the device is")
        }
        guard header.store == store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        try check(header, from: device)
        if header.facts.isRepair {
            // Its header does not say which rows follow, so what is left of another one does not fit.
            let identifier = frames.identifier
            try inbox.forget(identifier)
            state.withLock { $0.applied.removeAll { $0.bundle == identifier } }
        } else if try synchronizer.knowsContent(of: header) {
            let identifier = frames.identifier
            return Message.Upload(
                bundle: ByteText.hex(identifier), firstMissingChunk: 0, isComplete: true, isKnown: true,
                application: summary(of: identifier, for: device))
        }
        if try applies && frames.isWhole() { return try apply(frames, isLong: isLong, from: device) }
        let state = try frames.withHeader { try inbox.begin($0) }
        return Self.message(try inbox.add(to: state.identifier, frames.forEachPart))
    }

    /// On what terms a bundle of a device is applied, as of the transaction that asks.
    private func terms(of device: Device, isLong: Bool) -> @Sendable (Database) throws -> UploadTerms {
        let bounds = bounds(of: device, isWriting: true)
        var limits = WireLimits()
        limits.rowByteCountMax = Int(min(Int64(limits.rowByteCountMax), self.limits.rowByteCountMax))
        limits.plainByteCountMax = self.limits.transferByteCountMax
        let wire = limits
        let usual = self.limits.applicationSeconds
        let seconds =
            isLong ? state.withLock { $0.long.seconds(of: device.id, usual: usual) } : usual
        let duration = Duration.seconds(seconds)
        return { db in
            let bounds = try bounds(db)
            // Whoever may write everything may hold up others in other ways as well.
            let isUnlimited = isLong && bounds == nil
            return UploadTerms(device: device.id, bounds: bounds, limits: wire, isIndivisible: isLong) {
                let end = ContinuousClock.now + duration
                return { !isUnlimited && ContinuousClock.now > end }
            }
        }
    }

    /// Notes for a device that asked for more time that it was not enough.
    private func noting<Result>(
        isLong: Bool, from device: Device, _ application: () throws -> Result
    ) throws -> Result {
        do {
            return try application()
        } catch let error as SyncError where error.code == .tooMuchAtOnce && isLong {
            state.withLock { $0.long.noteRefusal(of: device.id) }
            throw error
        }
    }

    /// Applies a bundle that came in one request. It needs not wait in the store first.
    private func apply(
        _ frames: BundleFrames, isLong: Bool, from device: Device
    ) throws -> Message.Upload {
        try frames.requireFewChunks(ofBytes: limits.transferByteCountMax)
        let identifier = frames.identifier
        let summary = try noting(isLong: isLong, from: device) {
            try synchronizer.applyUpload(on: terms(of: device, isLong: isLong)) { sink in
                try frames.forEach(sink)
            }
        }
        note(summary, of: identifier, byteCount: frames.byteCount, from: device)
        return Message.Upload(
            bundle: ByteText.hex(identifier), firstMissingChunk: 0, isComplete: true, isKnown: true,
            application: Self.answer(summary, for: device))
    }

    /// What the application of a bundle did a short time ago.
    private func summary(of bundle: [UInt8], for device: Device) -> Message.Application? {
        state.withLock { $0.applied.first { $0.bundle == bundle }?.summary }
            .map { Self.answer($0, for: device) }
    }

    /// What a device hears of the application of its bundle. Whether rows could be shown depends on rows that it may not
    /// see: it could try out which values these have.
    private static func answer(_ summary: ApplySummary, for device: Device) -> Message.Application {
        var told = ApplySummary()
        told.rowCount = summary.rowCount
        told.conflictCount = summary.conflictCount
        told.sharedConflictCount = summary.sharedConflictCount
        told.skewMilliseconds = summary.skewMilliseconds
        return Message.Application(device.bounds?.rows.isEmpty == false ? told : summary)
    }

    private func note(_ summary: ApplySummary, of bundle: [UInt8], byteCount: Int, from device: Device) {
        feed.look()
        if let replica = summary.skewedReplica {
            logger.notice(
                "a change is dated ahead of the clock here",
                metadata: [
                    "device": .string(LogText.printable(device.label)), "replica": "\(replica)",
                    "milliseconds": "\(summary.skewMilliseconds)",
                ])
        }
        metrics.count(bundle: "in", rows: summary.rowCount, bytes: Int64(byteCount))
        metrics.count(.conflicts, by: Double(summary.conflictCount))
        metrics.count(.parked, by: Double(summary.parkedCount))
        state.withLock { state in
            state.applied.append((bundle, summary))
            if state.applied.count > Self.appliedCountMax { state.applied.removeFirst() }
        }
    }

    /// Throws when a bundle brings what its device may not bring, as far as its header says it: the rest is found when
    /// it is applied.
    private func check(_ header: BundleHeader, from device: Device) throws {
        guard let bounds = device.bounds else { return }
        try synchronizer.check(header, within: bounds)
    }

    /// Adds parts to an upload.
    func continueUpload(_ bundle: [UInt8], _ body: [UInt8], from device: Device) throws -> Message.Upload {
        try requireOwn(bundle, device)
        guard !body.isEmpty else { throw WireError(.truncated, "there are no frames") }
        return Self.message(try inbox.add(to: bundle) { try BundleFrames.forEach(in: body, $0) })
    }

    private static func message(_ state: BundleInbox.State) -> Message.Upload {
        Message.Upload(
            bundle: ByteText.hex(state.identifier), firstMissingChunk: state.firstMissingChunk,
            isComplete: state.isComplete, isKnown: false)
    }

    private func requireOwn(_ bundle: [UInt8], _ device: Device) throws {
        try Self.requireWriting(device)
        guard let replica = device.replica, try inbox.entry(bundle)?.sender == replica else {
            throw RemoteError(.notFound, "there is no such upload, or it waited too long")
        }
    }

    /// Applies an upload that is complete.
    func applyUpload(
        _ bundle: [UInt8], isLong: Bool = false, from device: Device
    ) throws -> Message.Application {
        if let done = summary(of: bundle, for: device) { return done }
        try requireOwn(bundle, device)
        let byteCount = try inbox.entry(bundle)?.byteCount
        let summary = try noting(isLong: isLong, from: device) {
            try inbox.apply(bundle, on: terms(of: device, isLong: isLong))
        }
        note(summary, of: bundle, byteCount: byteCount ?? 0, from: device)
        return Self.answer(summary, for: device)
    }
}
