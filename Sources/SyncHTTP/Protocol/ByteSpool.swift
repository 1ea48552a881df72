import Crypto
import Foundation
import SyncWire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A stream of bytes that waits on disk to be sent, and can be read again from any byte.
///
/// It lets a bundle be made at the speed of the store, without a transaction that waits for a slow
/// network, and sent again from where a connection broke. The file has no name, is gone with this
/// object, and is encrypted under a key that is in memory only.
///
/// One thread writes it. Others read what is there, and wait for what is not.
final class ByteSpool: @unchecked Sendable {  // What changes is used under `condition`; whole pieces stay.
    private static let pieceByteCount = 256 << 10
    private static let sealedByteCount = pieceByteCount + 16

    private let condition = NSCondition()
    private let descriptor: Int32
    private let key = SymmetricKey(size: .bits256)
    private let byteCountMax: Int64
    private var users: SpoolUsers
    private var pending: [UInt8] = []
    private var pieceCount = 0
    private var isFinished = false
    private var failure: (any Error)?
    private var count: Int64 = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var waiterCount: UInt64 = 0

    /// Who waits without a thread for bytes beyond an offset.
    private struct Waiter {
        let offset: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Makes an empty spool.
    ///
    /// - parameters:
    ///     - folder: Where its file is.
    ///     - byteCountMax: The most that it takes.
    ///     - share: What it counts its bytes to, until it is gone or is another one's; nil for nothing.
    /// - throws: ``RemoteError`` of code `failed` when the file can't be made.
    init(folder: String, byteCountMax: Int64, share: DownloadBudget.Share? = nil) throws {
        self.byteCountMax = byteCountMax
        users = SpoolUsers(share)
        var template = Array((folder + "/cipherstore-spool-XXXXXX").utf8CString)
        descriptor = template.withUnsafeMutableBufferPointer { buffer in
            guard let name = buffer.baseAddress else { return -1 }
            let descriptor = mkstemp(name)
            if descriptor >= 0 {
                unlink(name)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            }
            return descriptor
        }
        guard descriptor >= 0 else {
            throw RemoteError(.failed, "no temporary file can be made in \(folder): \(Self.systemText)")
        }
    }

    deinit {
        close(descriptor)
        users.release(count)
    }

    private static var systemText: String { String(cString: strerror(errno)) }

    /// How many bytes it has.
    var byteCount: Int64 { condition.withLock { count } }

    /// How many bytes of it can be read now. It is never less later.
    var presentByteCount: Int64 { condition.withLock { readableByteCount } }

    /// Adds bytes.
    ///
    /// - throws: ``RemoteError``: `tooLarge`, `full`, `failed`, `busy` when its share has no room; what ``fail(_:)`` was told.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        condition.lock()
        defer { condition.unlock() }
        if let failure { throw failure }
        guard count + Int64(bytes.count) <= byteCountMax else {
            throw RemoteError(.tooLarge, "there are over \(byteCountMax) bytes to send")
        }
        try users.take(Int64(bytes.count), byteCount: count)
        count += Int64(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.pieceByteCount - pending.count)
            pending.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            if pending.count == Self.pieceByteCount { try writePiece() }
        }
    }

    /// Ends it: there are no more bytes.
    func finish() throws {
        condition.lock()
        defer { condition.unlock() }
        if !pending.isEmpty { try writePiece() }
        isFinished = true
        wake()
    }

    /// Ends it because nobody can write it any more, or nobody wants it: everybody gets the error from now on.
    func fail(_ error: any Error) {
        condition.withLock {
            guard failure == nil, !isFinished else { return }
            failure = error
            wake()
        }
    }

    /// Counts one more who wants it, besides whom it was made for.
    ///
    /// - parameter share: What its bytes may count to; nil for nothing.
    /// - returns: Whether it can still be had.
    func join(_ share: DownloadBudget.Share? = nil) -> Bool {
        condition.withLock {
            guard failure == nil else { return false }
            users.join(share, byteCount: count)
            return true
        }
    }

    /// Says that one of those who wanted it does not any more. When nobody does, it ends with an error.
    ///
    /// - parameters:
    ///     - error: What everybody gets then.
    ///     - share: What it came with.
    func leave(_ error: @autoclosure () -> any Error, _ share: DownloadBudget.Share? = nil) {
        condition.withLock {
            let isWanted = users.leave(share, byteCount: count)
            guard !isWanted, failure == nil, !isFinished else { return }
            failure = error()
            wake()
        }
    }

    private func writePiece() throws {
        let box = try ChaChaPoly.seal(pending, using: key, nonce: nonce(pieceCount))
        try write(Array(box.ciphertext + box.tag), at: off_t(pieceCount) * off_t(Self.sealedByteCount))
        pieceCount += 1
        pending.removeAll(keepingCapacity: true)
        wake()
    }

    /// Wakes all who have waited for what is there. The caller holds the lock.
    private func wake() {
        condition.broadcast()
        for (number, waiter) in waiters where isReached(waiter.offset) {
            waiters[number] = nil
            waiter.continuation.resume()
        }
    }

    private func isReached(_ offset: Int64) -> Bool {
        isFinished || failure != nil || readableByteCount > offset
    }

    /// How much of it can be read without a wait, and whether that is all of it.
    struct Reach {
        let byteCount: Int64
        let isWhole: Bool
    }

    /// Waits until there are bytes from an offset on, or all are there.
    ///
    /// - parameter deadline: When it gives up waiting.
    /// - throws: What ``fail(_:)`` was told.
    func reach(beyond offset: Int64, until deadline: Date? = nil) throws -> Reach {
        condition.lock()
        defer { condition.unlock() }
        while !isReached(offset) {
            guard let deadline else {
                condition.wait()
                continue
            }
            guard condition.wait(until: deadline) else { break }
        }
        return try presentReach()
    }

    /// The same without a thread that waits.
    ///
    /// - parameter seconds: After what time it gives up waiting; nil for never.
    /// - throws: What ``fail(_:)`` was told.
    func reached(beyond offset: Int64, seconds: Double? = nil) async throws -> Reach {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            guard let number = register(continuation, beyond: offset) else { return continuation.resume() }
            guard let seconds else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                self?.giveUp(number)
            }
        }
        return try lockedReach()
    }

    /// Has somebody woken when there are bytes beyond an offset.
    ///
    /// - returns: By what number waiting is given up; nil when there is nothing to wait for.
    private func register(
        _ continuation: CheckedContinuation<Void, Never>, beyond offset: Int64
    ) -> UInt64? {
        condition.withLock {
            guard !isReached(offset) else { return nil }
            waiterCount += 1
            waiters[waiterCount] = Waiter(offset: offset, continuation: continuation)
            return waiterCount
        }
    }

    private func giveUp(_ number: UInt64) {
        condition.withLock { waiters.removeValue(forKey: number) }?.continuation.resume()
    }

    private func lockedReach() throws -> Reach { try condition.withLock { try presentReach() } }

    /// What is there. The caller holds the lock.
    private func presentReach() throws -> Reach {
        if let failure { throw failure }
        return Reach(byteCount: readableByteCount, isWhole: isFinished)
    }

    private var readableByteCount: Int64 {
        isFinished ? count : Int64(pieceCount) * Int64(Self.pieceByteCount)
    }

    /// Reads the bytes from an offset to the end of the piece that it is in; empty at the end.
    func read(from offset: Int64) throws -> [UInt8] {
        let reach = try reach(beyond: offset)
        guard offset >= 0, offset < reach.byteCount else { return [] }
        let piece = Int(offset / Int64(Self.pieceByteCount))
        let length = min(
            Self.pieceByteCount, Int(reach.byteCount - Int64(piece) * Int64(Self.pieceByteCount)))
        let sealed = try readFile(length + 16, at: off_t(piece) * off_t(Self.sealedByteCount))
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: nonce(piece), ciphertext: sealed.prefix(length), tag: sealed.suffix(16))
            let bytes = try ChaChaPoly.open(box, using: key)
            return Array(bytes.dropFirst(Int(offset % Int64(Self.pieceByteCount))))
        } catch {
            throw RemoteError(.failed, "a temporary file was damaged")
        }
    }

    /// A key is used for one spool, and each of its pieces is sealed once.
    private func nonce(_ piece: Int) throws -> ChaChaPoly.Nonce {
        var bytes = [UInt8](repeating: 0, count: 4)
        withUnsafeBytes(of: UInt64(piece).bigEndian) { bytes += $0 }
        return try ChaChaPoly.Nonce(data: bytes)
    }

    private func write(_ bytes: [UInt8], at position: off_t) throws {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, position + off_t(done))
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                let isFull = errno == ENOSPC || errno == EDQUOT
                throw RemoteError(
                    isFull ? .full : .failed, "a temporary file can't be written: \(Self.systemText)")
            }
            done += written
        }
    }

    private func readFile(_ length: Int, at position: off_t) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        var done = 0
        while done < length {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, length - done, position + off_t(done))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw RemoteError(.failed, "a temporary file can't be read") }
            done += count
        }
        return bytes
    }
}
