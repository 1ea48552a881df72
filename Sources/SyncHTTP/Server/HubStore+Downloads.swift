import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncWire

/// What waits for devices to be fetched.
extension HubStore {
    /// What is not larger comes with the answer, which saves two requests. One piece of a spool.
    private static let smallByteCount: Int64 = 64 << 10
    private static let downloadMilliseconds: Int64 = 10 * 60_000

    /// Puts what a device does not know where it waits to be fetched.
    func prepareChanges(_ request: TransferRequest, for device: Device) throws -> Message.Download {
        try access(device)?.check(request)
        try noteOffer(request, to: device)
        let spool = try ByteSpool(folder: folder, byteCountMax: limits.transferByteCountMax)
        let summary = try synchronizer.localPeer.send(request, progress: nil) { try spool.append($0) }
        return try offer(spool, rowCount: summary.rowCount, to: device)
    }

    /// Puts all of some rows, which repair a divergence, where they wait to be fetched.
    func prepareRows(_ body: [UInt8], for device: Device) throws -> Message.Download {
        let rows = try body.withUnsafeBytes { try StateRows.decode($0) }
        if let access = try access(device) { for table in rows { try access.require(table.table) } }
        let spool = try ByteSpool(folder: folder, byteCountMax: limits.transferByteCountMax)
        let summary = try synchronizer.localPeer.send(rows: rows) { try spool.append($0) }
        return try offer(spool, rowCount: summary.rowCount, to: device)
    }

    /// Puts an archive of the store, sealed for a recipient, where it waits to be fetched.
    func prepareSnapshot(for recipient: String, _ device: Device) throws -> Message.Download {
        guard device.scope == nil else {
            throw SyncError(
                .outsideScope, "a snapshot has all tables, and this device may have some of them only")
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
        metrics.count(bundle: "out", rows: rowCount, bytes: spool.byteCount)
        if spool.byteCount <= Self.smallByteCount {
            let content = ByteText.base64(try spool.read(from: 0))
            return Message.Download(
                download: "00", byteCount: spool.byteCount, rowCount: rowCount, content: content)
        }
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
}
