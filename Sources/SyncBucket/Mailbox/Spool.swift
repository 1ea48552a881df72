import Crypto
import Foundation
import SyncEngine
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that wait between the store and the network: in memory as long as they are few, then in a file without a name.
///
/// So no transaction is open while the network is slow, and what was sent or received in part can be again. Whatever
/// goes through a mailbox is sealed already.
package final class Spool: Sendable {
    /// The most that is kept in memory.
    private static let memoryByteCountMax = 4 << 20

    private struct State {
        var memory = Data()
        var descriptor: Int32 = -1
        var byteCount = 0
        var hash = SHA256()
    }

    private let folder: String
    private let state = Mutex(State())

    /// - parameter folder: Where a file is made if one is needed.
    package init(folder: String) { self.folder = folder }

    /// Holds these bytes.
    package init(_ data: Data) {
        folder = ""
        state.withLock { state in
            state.memory = data
            state.byteCount = data.count
            state.hash.update(data: data)
        }
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// How many bytes there are.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// The SHA-256 of all bytes, in hexadecimal digits.
    var digest: String { CanonicalText.hexadecimal(hash) }

    /// The SHA-256 of all bytes.
    package var hash: SHA256Digest { state.withLock { $0.hash.finalize() } }

    /// Adds bytes.
    ///
    /// - throws: `MailboxError`: `full`, `failed`.
    package func append(_ data: Data) throws {
        try state.withLock { state in
            state.hash.update(data: data)
            state.byteCount += data.count
            if state.descriptor < 0, state.byteCount <= Self.memoryByteCountMax {
                return state.memory.append(data)
            }
            if state.descriptor < 0 {
                state.descriptor = try open()
                try write(state.memory, state.descriptor)
                state.memory = Data()
            }
            try write(data, state.descriptor)
        }
    }

    /// Bytes from a position on: as many as are wanted, unless there are fewer.
    ///
    /// - throws: `MailboxError` of code `failed`.
    package func read(at offset: Int, upTo count: Int) throws -> Data {
        try state.withLock { state in
            let length = max(0, min(count, state.byteCount - offset))
            guard state.descriptor >= 0 else {
                let start = state.memory.startIndex + offset
                return length == 0 ? Data() : Data(state.memory[start..<start + length])
            }
            var data = Data(count: length)
            var done = 0
            while done < length {
                let got = data.withUnsafeMutableBytes { buffer in
                    buffer.baseAddress.map {
                        pread(state.descriptor, $0 + done, length - done, off_t(offset + done))
                    } ?? -1
                }
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { throw Self.failure("cannot read a temporary file", folder) }
                done += got
            }
            return data
        }
    }

    private func open() throws -> Int32 {
        var template = Array((folder + "/.cipherstore-spool-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure("cannot make a temporary file", folder) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }

    private func write(_ data: Data, _ descriptor: Int32) throws {
        try data.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                guard let base = buffer.baseAddress else { return }
                #if canImport(Glibc)
                    let count = Glibc.write(descriptor, base + done, buffer.count - done)
                #elseif canImport(Musl)
                    let count = Musl.write(descriptor, base + done, buffer.count - done)
                #else
                    let count = Darwin.write(descriptor, base + done, buffer.count - done)
                #endif
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure("cannot write a temporary file", folder) }
                done += count
            }
        }
    }

    private static func failure(_ words: String, _ folder: String) -> MailboxError {
        let code = errno
        return MailboxError(
            code == ENOSPC || code == EDQUOT ? .full : .failed,
            "\(words): \(String(cString: strerror(code)))",
            location: folder)
    }
}

/// Reads a spool from its start to its end.
package final class SpoolReader: MailboxReader {
    private let spool: Spool
    private var position = 0

    package init(_ spool: Spool) { self.spool = spool }

    package var byteCount: Int { spool.byteCount }

    package func read(upTo count: Int) throws -> Data {
        let data = try spool.read(at: position, upTo: count)
        position += data.count
        return data
    }
}
