import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncWire
import Synchronization

/// What waits for devices to be fetched.
extension HubStore {
    /// What is not larger comes with the answer, which saves two requests. One piece of a spool.
    private static let smallByteCount: Int64 = 64 << 10
    private static let downloadMilliseconds: Int64 = 10 * 60_000

    /// What is larger is fetched while it is made.
    static let wholeByteCountMax: Int64 = 1 << 20

    /// Begins to make what a device does not know. How long that takes depends on who else writes, so that nobody waits
    /// for it here.
    ///
    /// - parameters:
    ///     - request: What it asks for.
    ///     - digest: What stands for the request; nil when nobody gets the same bundle.
    ///     - codec: The codec of chunks that the device reads besides plain ones. One that is not known here need not be
    ///       used.
    func beginChanges(
        _ request: TransferRequest, digest: [UInt8]? = nil, codec: String? = nil, for device: Device
    ) throws -> Making {
        try access(device)?.check(request)
        let question = sharedQuestion(request, digest, codec: codec, of: device)
        if let question, let making = sharedMakings.join(question, downloads.share(of: device.id), now: now) {
            noteOffer(of: making, to: device)
            return making
        }
        let reach = try offeredReach(request)
        let spool = try beginSpool(for: device)
        let rows = RowCounts()
        let making = Making(spool: spool, rows: rows, reach: reach)
        noteOffer(of: making, to: device)
        if let question { sharedMakings.remember(making, for: question, now: now) }
        let bounds =
            question == nil
            ? bounds(of: device, isWriting: false) : sharedBounds(of: device)
        _ = BackgroundWork { [synchronizer, metrics, downloads] in
            defer { downloads.endMaking(for: device.id) }
            do {
                let summary = try synchronizer.sendChanges(
                    request, within: bounds, progress: rows.note,
                    to: spool.sink(isCompressed: codec == Message.codec))
                try rows.note(summary.rowCount, summary.rowCount)
                try spool.finish()
                // It was offered while it was made.
                for _ in 0..<rows.end() {
                    metrics.count(bundle: "out", rows: summary.rowCount, bytes: spool.byteCount)
                }
            } catch {
                spool.fail(error)
            }
        }
        return making
    }

    /// The same for a bundle that others get, too: it is whole, or not made, and what became of one device is no other's
    /// business.
    private func sharedBounds(of device: Device) -> @Sendable (Database) throws -> AccessBounds? {
        let bounds = bounds(of: device, isWriting: false)
        return { db in
            let isWhole: Bool
            do { isWhole = try bounds(db) == nil } catch is RemoteError { isWhole = false }
            guard isWhole else { throw Self.changedRights }
            return nil
        }
    }

    /// What a device asks, if others may ask the same: it may have everything, and was shown what there is.
    private func sharedQuestion(
        _ request: TransferRequest, _ digest: [UInt8]?, codec: String?, of device: Device
    ) -> SharedMakings.Question? {
        guard let digest, device.bounds == nil, request.parts.isEmpty, request.rows.isEmpty,
            let shown = state.withLock({ $0.marks[device.id] })
        else { return nil }
        return SharedMakings.Question(
            shown: shown, request: digest, isCompressed: codec == Message.codec)
    }

    /// Makes a spool for what is made for a device, which says when it is made: ``DownloadBudget/endMaking(for:)``.
    ///
    /// - throws: ``RemoteError`` of code `busy` when too much is being made for the device, `failed`.
    private func beginSpool(for device: Device) throws -> ByteSpool {
        forgetUnused()
        try downloads.beginMaking(for: device.id)
        do {
            return try ByteSpool(
                folder: folder, byteCountMax: limits.transferByteCountMax,
                share: downloads.share(of: device.id))
        } catch {
            downloads.endMaking(for: device.id)
            throw error
        }
    }

    /// Forgets what nobody has fetched for long, so that there is room for others.
    private func forgetUnused() {
        let now = now
        let unused = state.withLock { state in
            let unused = state.downloads.filter {
                now - $0.value.usedMilliseconds >= Self.downloadMilliseconds
            }
            for device in unused.keys { state.downloads[device] = nil }
            return unused
        }
        for (device, download) in unused { leave(download.spool, device) }
    }

    /// Puts what is being made where it waits to be fetched.
    ///
    /// - parameter reach: How far it has come: beyond ``wholeByteCountMax``, unless it is whole.
    /// - throws: ``RemoteError``: `revokedDevice`, `busy` when the device may have something else by now.
    func offer(_ making: Making, _ reach: ByteSpool.Reach, to device: Device) throws -> Message.Download {
        let (spool, rows) = (making.spool, making.rows)
        try requireUnchanged(device, orLeave: spool)
        if rows.offer() { metrics.count(bundle: "out", rows: rows.total, bytes: spool.byteCount) }
        guard reach.isWhole else {
            let byteCount = rows.estimate(byteCount: spool.byteCount)
            return keep(
                spool,
                Message.Download(
                    download: "", byteCount: byteCount, rowCount: rows.total, isOpen: true), for: device)
        }
        return try offer(spool, rowCount: rows.total, to: device)
    }

    /// Puts all of some rows, which repair a divergence, where they wait to be fetched.
    func prepareRows(
        _ rows: [StateRows], codec: String?, for device: Device
    ) throws -> Message.Download {
        let spool = try beginSpool(for: device)
        defer { downloads.endMaking(for: device.id) }
        let summary = try synchronizer.send(
            rows: rows, within: bounds(of: device, isWriting: false),
            to: spool.sink(isCompressed: codec == Message.codec))
        try spool.finish()
        try requireUnchanged(device, orLeave: spool)
        metrics.count(bundle: "out", rows: summary.rowCount, bytes: spool.byteCount)
        return try offer(spool, rowCount: summary.rowCount, to: device)
    }

    /// Puts an archive of the store, sealed for a recipient, where it waits to be fetched.
    func prepareSnapshot(for recipient: String, _ device: Device) throws -> Message.Download {
        guard device.bounds == nil else {
            throw SyncError(
                .outsideScope,
                "a snapshot has all rows of all tables, and this device may have some of them only")
        }
        guard let recipient = ArchiveRecipient(recipient) else {
            throw RemoteError(.malformed, "that is no recipient of archives")
        }
        let isFree = state.withLock { state in
            defer { state.isMakingSnapshot = true }
            return !state.isMakingSnapshot
        }
        guard isFree else { throw RemoteError(.busy, "a snapshot is being made for another device") }
        defer { state.withLock { $0.isMakingSnapshot = false } }
        let spool = try beginSpool(for: device)
        defer { downloads.endMaking(for: device.id) }
        try synchronizer.writeSnapshot(lock: ArchiveLock(recipient: recipient)) { piece in
            try piece.withUnsafeBytes { try spool.append($0) }
        }
        try spool.finish()
        try requireUnchanged(device, orLeave: spool)
        metrics.count(bundle: "out", rows: 0, bytes: spool.byteCount)
        return try offer(spool, rowCount: 0, to: device)
    }

    /// Throws unless a device may still have what was made for it. It may have waited for long, and what is small comes
    /// at once.
    private func requireUnchanged(_ device: Device, orLeave spool: ByteSpool) throws {
        do {
            try requireUnchanged(device)
        } catch {
            leave(spool, device.id)
            throw error
        }
    }

    /// Offers a spool that is whole.
    private func offer(_ spool: ByteSpool, rowCount: Int64, to device: Device) throws -> Message.Download {
        let offer = Message.Download(download: "00", byteCount: spool.byteCount, rowCount: rowCount)
        guard spool.byteCount <= Self.smallByteCount else { return keep(spool, offer, for: device) }
        var small = offer
        small.content = ByteText.base64(try spool.read(from: 0))
        return small
    }

    /// Keeps a spool until it was fetched.
    private func keep(
        _ spool: ByteSpool, _ offer: Message.Download, for device: Device
    ) -> Message.Download {
        var offer = offer
        offer.download = ByteText.hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        let now = now
        let download = Download(
            id: offer.download, spool: spool, revision: device.revision, usedMilliseconds: now)
        let replaced = state.withLock { state in
            let old = state.downloads[device.id]
            state.downloads[device.id] = download
            return old?.spool
        }
        if let replaced { leave(replaced, device.id) }
        return offer
    }

    /// Says that a device does not want a spool any more. What is still being made of it, maybe nobody needs.
    private func leave(_ spool: ByteSpool, _ device: Int64) {
        spool.leave(
            RemoteError(.notFound, "the device has made another download, or ended this one"),
            downloads.share(of: device))
    }

    /// What waits for a device.
    func download(_ id: String, of device: Device) throws -> ByteSpool {
        let now = now
        return try state.withLock { state in
            guard let download = state.downloads[device.id], download.id == id,
                download.revision == device.revision
            else {
                throw RemoteError(.notFound, "there is no such download, or it waited too long")
            }
            state.downloads[device.id]?.usedMilliseconds = now
            return download.spool
        }
    }

    /// Enrols a device, and forgets what is remembered of the one that made room for it, see
    /// ``DeviceRegister/enrol(key:secret:)``.
    func enrol(key: [UInt8], secret: [UInt8]) throws -> Device {
        let (device, displaced) = try register.enrolMakingRoom(key: key, secret: secret)
        if let displaced { forget(displaced) }
        return device
    }

    /// Takes a device's enrolment back, and forgets what is remembered of it, see ``DeviceRegister/release(_:)``.
    func release(_ device: Device) throws {
        try register.release(device)
        forget(device.id)
    }

    /// Forgets what is remembered of a device that is not in the register any more. Nobody else gets its number.
    private func forget(_ device: Int64) {
        let ended = state.withLock { state in
            (state.shown[device], state.marks[device], state.rates[device]) = (nil, nil, nil)
            (state.parts.offered[device], state.parts.taken[device]) = (nil, nil)
            return state.downloads.removeValue(forKey: device)
        }
        if let ended { leave(ended.spool, device) }
        feed.look()
    }

    func endDownload(_ id: String, of device: Device) {
        let ended = state.withLock { state -> Download? in
            guard state.downloads[device.id]?.id == id else { return nil }
            return state.downloads.removeValue(forKey: device.id)
        }
        if let ended { leave(ended.spool, device.id) }
    }
}
