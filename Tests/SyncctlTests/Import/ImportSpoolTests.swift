import Foundation
import Testing

@testable import SyncctlCommands

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What comes through a pipe waits on the disk so that nobody can read it there.
@Suite struct ImportSpoolTests {
    /// Bytes of which each place says where it is.
    private func text(_ byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + 16)
        var line = 0
        while bytes.count < byteCount {
            bytes += Array("secret \(line)\n".utf8)
            line += 1
        }
        return Array(bytes.prefix(byteCount))
    }

    /// A spool that got the bytes in parts of a length.
    private func makeSpool(_ bytes: [UInt8], parts: Int) throws -> ImportSpool {
        let spool = try ImportSpool()
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let end = min(offset + parts, buffer.count)
                let code = spool.append(UnsafeRawBufferPointer(rebasing: buffer[offset..<end]))
                #expect(code == 0)
                offset = end
            }
        }
        return spool
    }

    /// All bytes from a place on, read in parts of a length.
    private func read(_ spool: ImportSpool, from start: Int, parts: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: parts)
        while true {
            let offset = Int64(start + bytes.count)
            let count = buffer.withUnsafeMutableBytes { part in
                part.baseAddress.map { spool.read(into: $0, count: part.count, at: offset) } ?? -1
            }
            #expect(count >= 0)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    @Test(arguments: [0, 1, 100, 256 << 10, (256 << 10) + 1, 600_000]) func whatCameIsReadFromAnyPlace(
        byteCount: Int
    ) throws {
        let bytes = text(byteCount)
        let spool = try makeSpool(bytes, parts: 100_000)
        #expect(spool.byteCount == Int64(byteCount))
        for start in [0, byteCount / 3, max(0, byteCount - 1), byteCount, byteCount + 1] {
            let rest = Array(bytes.dropFirst(start))
            #expect(read(spool, from: start, parts: 64 << 10) == rest, "from \(start)")
        }
    }

    @Test func nothingOfItCanBeReadOnTheDisk() throws {
        let spool = try makeSpool(text(600_000), parts: 65_536)
        var status = stat()
        let code = fstat(spool.descriptor, &status)
        #expect(code == 0)
        #expect(status.st_size > 500_000 && status.st_nlink == 0 && status.st_mode & 0o777 == 0o600)
        var stored = [UInt8](repeating: 0, count: Int(status.st_size))
        let size = stored.count
        let count = stored.withUnsafeMutableBytes { pread(spool.descriptor, $0.baseAddress, size, 0) }
        #expect(count == size)
        #expect(Data(stored).range(of: Data("secret".utf8)) == nil)
    }

    @Test func whatWasChangedOnTheDiskIsAnError() throws {
        let spool = try makeSpool(text(600_000), parts: 65_536)
        var byte: UInt8 = 0
        let readCount = pread(spool.descriptor, &byte, 1, 300_000)
        byte ^= 1
        let writtenCount = pwrite(spool.descriptor, &byte, 1, 300_000)
        #expect(readCount == 1 && writtenCount == 1)
        var buffer = [UInt8](repeating: 0, count: 100)
        let counts = [Int64(0), 262_144].map { offset in
            buffer.withUnsafeMutableBytes { part in
                part.baseAddress.map { spool.read(into: $0, count: part.count, at: offset) } ?? 0
            }
        }
        #expect(counts == [100, -1])
    }
}
