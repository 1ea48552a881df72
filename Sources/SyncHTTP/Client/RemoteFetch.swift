import Foundation
import SyncEngine
import SyncWire

/// A bundle that is fetched on a thread of its own, and handed out.
///
/// Whoever takes it has a transaction open meanwhile, and others wait for that. So it is handed out when all
/// of it is here, or when so much came so fast that the rest will be here in time.
final class RemoteFetch: BundleFetch {
    private let flow: HTTPTransport.Flow
    private let spool: ByteSpool
    private let download: Message.Download
    private let work: BackgroundWork<Void>
    private let start = ContinuousClock.now

    /// Has a bundle made, and begins to fetch it. The connection is this object's until it was closed, or has
    /// handed out everything.
    init(
        _ connection: RemoteConnection, _ options: HTTPTransport.Options, folder: String,
        _ request: BundleRequest
    ) throws {
        flow = options.compression.isUsed(with: connection.address) ? options.flow.compressed : options.flow
        let spool = try ByteSpool(folder: folder, byteCountMax: options.transferByteCountMax)
        // That thread alone uses the connection until it ends.
        nonisolated(unsafe) let transfer = RemoteDownload(connection, options)
        let download = try transfer.begin("/" + request.address.path, request.encode())
        work = BackgroundWork {
            do {
                try transfer.fetch(download) { piece, _ in
                    try piece.withUnsafeBytes { try spool.append($0) }
                }
                try spool.finish()
            } catch {
                spool.fail(error)
                throw error
            }
        }
        self.spool = spool
        self.download = download
    }

    func wait(whole: Bool, progress: SyncProgressHandler?) throws {
        var seen: Int64 = 0
        while true {
            let reach = try spool.reach(beyond: seen, until: Date(timeIntervalSinceNow: 0.1))
            seen = reach.byteCount
            try report(seen, isWhole: reach.isWhole, progress)
            if reach.isWhole { return try work.value() }
            if !whole && isFlowing(seen) { return }
        }
    }

    private func isFlowing(_ byteCount: Int64) -> Bool {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return byteCount >= flow.byteCount && Double(byteCount) >= flow.bytesPerSecond * seconds
    }

    private func report(_ byteCount: Int64, isWhole: Bool, _ progress: SyncProgressHandler?) throws {
        let rows = download.rowCount
        let share = download.byteCount > 0 ? Double(byteCount) / Double(download.byteCount) : 1
        try progress?(isWhole ? rows : Int64(Double(rows) * min(share, 1)), rows)
    }

    func handOut(_ sink: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> TransferSummary {
        var assembler = FrameAssembler()
        var offset: Int64 = 0
        var patience = flow.patienceSeconds
        while true {
            let begin = ContinuousClock.now
            let reach = try spool.reach(beyond: offset, until: Date(timeIntervalSinceNow: patience))
            patience = max(0, patience - (ContinuousClock.now - begin) / .seconds(1))
            if reach.byteCount <= offset {
                guard reach.isWhole else { throw SourceStalled() }
                break
            }
            let piece = try spool.read(from: offset)
            offset += Int64(piece.count)
            try piece.withUnsafeBytes { try assembler.append($0, onFrame: sink) }
        }
        try assembler.finish()
        try work.value()
        return TransferSummary(rowCount: download.rowCount, byteCount: offset)
    }

    func close() {
        spool.fail(SyncError(.cancelled, "the rest of the bundle is not wanted"))
        work.wait()
    }
}
