import Foundation
import Testing

@testable import CipherStore

@Suite struct SealedFilePaddingTests {
    private static let kind = SealedFileKind(rawValue: 1)

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func lock() throws -> ArchiveLock { ArchiveLock(passphrase: try Passphrase("p"), cost: .minimum) }

    private func write(_ content: Data, padding: SealedFilePadding = .padme) throws -> Data {
        var file = Data()
        let writer = try SealedFileWriter(
            kind: Self.kind, lock: lock(), now: Date(timeIntervalSince1970: 1), padding: padding
        ) { file.append($0) }
        try content.withUnsafeBytes { try writer.write($0) }
        try writer.end()
        return file
    }

    private func reader(_ file: Data) throws -> SealedFileReader {
        let path = folder.file(UUID().uuidString)
        try file.write(to: URL(fileURLWithPath: path))
        return try SealedFileReader(
            path: path, kind: Self.kind, opening: ArchiveSecret(try Passphrase("p")))
    }

    private func read(_ reader: SealedFileReader) throws -> Data {
        var content = Data()
        while let piece = try reader.next() {
            #expect(!piece.isEmpty && piece.count <= ArchiveChunkCipher.chunkByteCount)
            content.append(piece)
        }
        return content
    }

    /// A file whose content ends otherwise than a writer ends it.
    private func forge(_ content: Data) throws -> Data {
        let fileKey = try ArchiveFileKey.random()
        let header = ArchiveHeader(
            stanza: try .lock(fileKey, for: lock()), content: .stream(Self.kind), createdMilliseconds: 0,
            payloadNonce: SlotKey.randomBytes(ArchiveHeader.nonceByteCount), isPadded: true)
        var cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: header.payloadNonce)
        var file = Data(header.encoded(fileKey: fileKey))
        var rest = content[...]
        while rest.count > ArchiveChunkCipher.chunkByteCount {
            file += try cipher.seal(Data(rest.prefix(ArchiveChunkCipher.chunkByteCount)), isLast: false)
            rest = rest.dropFirst(ArchiveChunkCipher.chunkByteCount)
        }
        return file + (try cipher.seal(Data(rest), isLast: true))
    }

    /// As many bits as the length of the size takes to write down stay, of those above 256.
    @Test(arguments: [
        (0, 256), (1, 256), (255, 256), (256, 512), (511, 512), (4_095, 4_096), (4_096, 4_352),
        (8_191, 8_192), (8_192, 8_704), (9_000, 9_216), (65_535, 65_536), (65_536, 67_584),
        (1_000_000, 1_015_808), (100_000_000, 100_663_296),
    ])
    func theSizeIsAPadmeNumber(count: Int, padded: Int) {
        #expect(SealedFilePadding.padme.paddedByteCount(for: count) == padded)
        #expect(SealedFilePadding.none.paddedByteCount(for: count) == nil)
    }

    @Test func littleIsAdded() throws {
        var sizes: Set<Int> = []
        for count in stride(from: 0, through: 2_000_000, by: 97) {
            let padded = try #require(SealedFilePadding.padme.paddedByteCount(for: count))
            sizes.insert(padded)
            #expect(padded > count && padded - count <= max(256, count / 16))
            // What has no padding to take off would be longer the next time.
            #expect(SealedFilePadding.padme.paddedByteCount(for: padded - 1) == padded)
        }
        #expect(sizes.count < 250)
    }

    @Test(arguments: [0, 1, 254, 255, 256, 257, 65_535, 65_536, 65_537, 131_072, 200_000])
    func whatIsReadIsWhatWasWritten(count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let random = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let marks = Data(repeating: SealedFilePadding.mark, count: count)
        let zeros = Data(count: count)
        let mixed = Data((0..<count).map { $0 % 50_000 == 0 ? SealedFilePadding.mark : 0 })
        for content in [random, marks, zeros, mixed] {
            let file = try write(content)
            let reader = try reader(file)
            #expect(try read(reader) == content)
            try reader.rewind()
            #expect(try read(reader) == content)
            // Without padding, nothing is no content of a file.
            if content.isEmpty { continue }
            #expect(try read(self.reader(write(content, padding: .none))) == content)
        }
    }

    @Test func filesOfNearlyTheSameContentHaveOneSize() throws {
        let sizes = try (600..<760).map { try write(Data(repeating: 1, count: $0)).count }
        #expect(Set(sizes).count == 1)
        let plain = try write(Data(repeating: 1, count: 600), padding: .none).count
        #expect(sizes[0] == plain + 168)
    }

    @Test func aFileWithoutAMarkIsDamaged() throws {
        for content in [
            Data([1]), Data(count: 300), Data([SealedFilePadding.mark, 0, 1]), Data(count: 70_000),
        ] {
            let reader = try reader(forge(content))
            let error = #expect(throws: StoreError.self) { try read(reader) }
            #expect(error?.code == .archiveDamaged)
        }
        #expect(try read(reader(forge(Data([7, SealedFilePadding.mark])))) == Data([7]))
    }

    /// What looks like padding and is not may be as long as the file: it is held as a number, and handed out in pieces.
    @Test func zerosBeforeTheEndTakeNoMemory() throws {
        let content = Data([SealedFilePadding.mark]) + Data(count: 3_000_000) + Data([1])
        let reader = try reader(forge(content + Data([SealedFilePadding.mark, 0, 0])))
        #expect(try read(reader) == content)
    }

    @Test func aFileThatWasCutOffIsDamaged() throws {
        let file = try write(Data(repeating: 3, count: 100_000))
        for count in [file.count - 1, file.count - 20_000, 250] {
            let reader = try reader(file.prefix(count))
            let error = #expect(throws: StoreError.self) { try read(reader) }
            #expect(error?.code == .archiveDamaged)
        }
    }

    /// An older program says that it has to be a newer one.
    @Test func theHeaderSaysThatThereIsPadding() throws {
        #expect(try write(Data())[8..<10] == Data([2, 0]))
        #expect(try write(Data(), padding: .none)[8..<10] == Data([1, 0]))
    }

    @Test func aFileThatIsNotEncryptedHasNone() throws {
        let path = folder.file("plain")
        let writer = try SealedFileWriter(
            path: path, kind: Self.kind, lock: nil, now: Date(), padding: .padme)
        try [1, 2, 3].withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 3 * MemoryLayout<Int>.size)
    }
}
