import Crypto
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What came through a pipe, which is read twice.
///
/// It waits in a file that only its owner can read, that has no name from the moment it is there, and that is encrypted under
/// a key which is in memory only. So nothing of it can be read from the disk, whatever ends the process.
final class ImportSpool: ImportContent {
    static let pieceByteCount = 256 << 10
    private static let tagByteCount = 16
    private static let sealedByteCount = pieceByteCount + tagByteCount

    private struct State {
        /// What comes after the pieces in the file, less than one of them.
        var rest: [UInt8] = []
        var pieceCount = 0
        /// The piece that was read last: most reads go on in it.
        var lastNumber = -1
        var lastPiece: [UInt8] = []
    }

    /// The file, which this object closes.
    let descriptor: Int32
    private let key = SymmetricKey(size: .bits256)
    private let state = Mutex(State())

    /// Makes an empty one.
    ///
    /// - throws: A ``Failure`` when there can be no file.
    init() throws {
        let folder = NSTemporaryDirectory()
        var name = Array((folder + "/syncctl-XXXXXX").utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw Failure.system("cannot create a file in \(folder)", code: errno) }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        descriptor = file
    }

    deinit { close(descriptor) }

    /// How many bytes it has.
    var byteCount: Int64 {
        state.withLock { Int64($0.pieceCount) * Int64(Self.pieceByteCount) + Int64($0.rest.count) }
    }

    /// Adds bytes.
    ///
    /// - returns: 0, or the error number of the write that failed.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        state.withLock { state in
            var offset = 0
            while offset < bytes.count {
                let count = min(Self.pieceByteCount - state.rest.count, bytes.count - offset)
                state.rest.append(
                    contentsOf: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
                offset += count
                guard state.rest.count == Self.pieceByteCount else { continue }
                guard let sealed = seal(state.rest, state.pieceCount) else { return EIO }
                let code = sealed.withUnsafeBytes { DescriptorOutput.write($0, to: descriptor) }
                guard code == 0 else { return code }
                state.pieceCount += 1
                state.rest.removeAll(keepingCapacity: true)
            }
            return 0
        }
    }

    /// Reads bytes from a place: as many as there are in one piece.
    ///
    /// - returns: Their number, 0 at the end, or -1 with `errno`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int {
        let result: Result<Int, SystemError> = state.withLock { state in
            let number = Int(offset / Int64(Self.pieceByteCount))
            let start = Int(offset % Int64(Self.pieceByteCount))
            guard number <= state.pieceCount else { return .success(0) }
            if number < state.pieceCount, number != state.lastNumber {
                switch load(number) {
                case .success(let piece): (state.lastNumber, state.lastPiece) = (number, piece)
                case .failure(let error): return .failure(error)
                }
            }
            let piece = number == state.pieceCount ? state.rest : state.lastPiece
            let length = max(0, min(count, piece.count - start))
            guard length > 0 else { return .success(0) }
            UnsafeMutableRawBufferPointer(start: buffer, count: length)
                .copyBytes(from: piece[start..<start + length])
            return .success(length)
        }
        switch result {
        case .success(let length): return length
        case .failure(let error):
            errno = error.code
            return -1
        }
    }
}

extension ImportSpool {
    /// Why the file can't be read.
    private struct SystemError: Error {
        let code: Int32
    }

    private func load(_ number: Int) -> Result<[UInt8], SystemError> {
        var sealed = [UInt8](repeating: 0, count: Self.sealedByteCount)
        let position = off_t(number) * off_t(Self.sealedByteCount)
        var done = 0
        while done < sealed.count {
            let count = sealed.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map {
                    pread(descriptor, $0 + done, bytes.count - done, position + off_t(done))
                } ?? -1
            }
            if count < 0 && errno == EINTR { continue }
            // The file is shorter than what was written into it: nothing that a system does.
            guard count != 0 else { return .failure(SystemError(code: EIO)) }
            guard count > 0 else { return .failure(SystemError(code: errno)) }
            done += count
        }
        guard
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce(number), ciphertext: sealed.prefix(Self.pieceByteCount),
                tag: sealed.suffix(Self.tagByteCount)),
            let piece = try? ChaChaPoly.open(box, using: key)
        else { return .failure(SystemError(code: EIO)) }
        return .success(Array(piece))
    }

    private func seal(_ piece: [UInt8], _ number: Int) -> [UInt8]? {
        guard let box = try? ChaChaPoly.seal(piece, using: key, nonce: nonce(number)) else { return nil }
        return Array(box.ciphertext + box.tag)
    }

    /// A key seals one stream, so that the number of a piece is used once.
    private func nonce(_ number: Int) throws -> ChaChaPoly.Nonce {
        var bytes = [UInt8](repeating: 0, count: 4)
        withUnsafeBytes(of: UInt64(number).bigEndian) { bytes += $0 }
        return try ChaChaPoly.Nonce(data: bytes)
    }
}
