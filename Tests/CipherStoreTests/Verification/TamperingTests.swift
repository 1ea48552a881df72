import Foundation
import Testing

@testable import CipherStore

/// What somebody without the key does to the files of a store is noticed, or `docs/threat-model.md` names it.
@Suite struct TamperingTests {
    let folder: TemporaryFolder
    let path: String

    /// Formats that the engine can write.
    static let formats: [CipherSettings] =
        [CipherSettings(format: .version3, pageSize: 1024)]
        + (EngineFeatures.current.supportsFormat4 ? [CipherSettings(format: .version4, pageSize: 4096)] : [])

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    /// A small store of a format, and its bytes.
    private func makeStore(_ settings: CipherSettings) throws -> [UInt8] {
        let key = try KeyDerivation.derive(
            passphrase: Passphrase("secret").bytes, salt: KeyDerivation.randomSalt(), settings: settings)
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        try db.execute(
            sql: """
                CREATE TABLE note (id BLOB PRIMARY KEY, body BLOB);
                INSERT INTO note VALUES (x'01', zeroblob(200)), (x'02', randomblob(9000));
                """)
        db.dispose()
        return try bytes(path)
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Whether the check finds something, or refuses to begin.
    private func isNoticed(_ content: [UInt8], _ what: String, isDeep: Bool = false) throws -> Bool {
        try write(content, to: path)
        do {
            return try !StoreCheck.run(
                path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: isDeep
            ).isSound
        } catch is StoreError {
            return true
        }
    }

    @Test(arguments: formats) func eachChangedPageIsNoticed(settings: CipherSettings) throws {
        let sound = try makeStore(settings)
        let size = settings.pageSize
        for page in 0..<(sound.count / size) {
            let range = (page * size)..<((page + 1) * size)
            // Content, IV and MAC; not the padding after the MAC.
            for offset in [
                page == 0 ? 16 : 0, size / 2, size - settings.reservedByteCount + 3,
                size - settings.reservedByteCount + 17,
            ] {
                var flipped = sound
                flipped[range.lowerBound + offset] ^= 0x10
                #expect(try isNoticed(flipped, "flip"), "page \(page + 1), byte \(offset)")
            }
            var zeroed = sound
            zeroed.replaceSubrange(range, with: [UInt8](repeating: 0, count: size))
            #expect(try isNoticed(zeroed, "zero"), "page \(page + 1)")
            let other = (page + 1) % (sound.count / size)
            var swapped = sound
            swapped.replaceSubrange(range, with: sound[(other * size)..<((other + 1) * size)])
            swapped.replaceSubrange((other * size)..<((other + 1) * size), with: sound[range])
            #expect(try isNoticed(swapped, "swap"), "pages \(page + 1), \(other + 1)")
        }
    }

    @Test(arguments: formats) func aFileThatIsTooShortOrTooLongIsNoticed(settings: CipherSettings) throws {
        let sound = try makeStore(settings)
        let size = settings.pageSize
        for count in stride(from: 0, to: sound.count, by: size) {
            #expect(try isNoticed(Array(sound[..<count]), "cut"), "\(count) bytes")
            #expect(try isNoticed(Array(sound[..<(count + size / 3)]), "cut"), "\(count + size / 3) bytes")
        }
        #expect(try isNoticed(sound + [0], "one byte more"))
        #expect(try isNoticed(sound + sound[size..<(2 * size)], "a page more"))
        #expect(try isNoticed(sound + [UInt8](repeating: 0, count: size), "a page of zeros more"))
    }

    @Test(arguments: formats) func pagesOfAnotherStoreUnderTheSamePassphraseAreNoticed(
        settings: CipherSettings
    ) throws {
        let other = try makeStore(settings)
        try FileManager.default.removeItem(atPath: path)
        let sound = try makeStore(settings)
        let size = settings.pageSize
        for page in 1..<(min(sound.count, other.count) / size) {
            var mixed = sound
            let range = (page * size)..<((page + 1) * size)
            mixed.replaceSubrange(range, with: other[range])
            #expect(try isNoticed(mixed, "mix"), "page \(page + 1)")
        }
    }

    /// The one that nobody without a memory of the file can notice: it has a name in the threat model.
    @Test(arguments: formats) func anOldPageOrFilePutBackIsNotNoticedAndDocumented(
        settings: CipherSettings
    ) throws {
        let old = try makeStore(settings)
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "UPDATE note SET body = zeroblob(201) WHERE id = x'01'") }
        try queue.close()
        let new = try bytes(path)
        #expect(try !isNoticed(old, "old file", isDeep: true))
        let size = settings.pageSize
        let changed = (1..<(new.count / size)).filter {
            old[($0 * size)..<(($0 + 1) * size)] != new[($0 * size)..<(($0 + 1) * size)]
        }
        let page = try #require(changed.first)
        var mixed = new
        mixed.replaceSubrange(
            (page * size)..<((page + 1) * size), with: old[(page * size)..<((page + 1) * size)])
        #expect(try !isNoticed(mixed, "old page", isDeep: true))
        let document = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../docs/threat-model.md"), encoding: .utf8)
        #expect(document.contains("An old copy of a page"))
        #expect(document.contains("An old copy of the whole file"))
    }

    // MARK: - The WAL

    /// The files of a store whose WAL holds two transactions.
    private func makeWAL() throws -> (file: [UInt8], wal: [UInt8]) {
        let queue = try CheckedStore.make(path, rows: 3, isWAL: true)
        try queue.write { try $0.execute(sql: "UPDATE note SET body = x'00'") }
        let files = (try bytes(path), try bytes(path + "-wal"))
        try queue.close()
        return files
    }

    private func reportOfWAL(_ file: [UInt8], _ wal: [UInt8]) throws -> StoreCheckReport {
        try write(file, to: path)
        try write(wal, to: path + "-wal")
        try? FileManager.default.removeItem(atPath: path + "-shm")
        return try StoreCheck.run(path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false)
    }

    @Test func eachChangedFrameBeforeTheLastTransactionIsNoticed() throws {
        let (file, wal) = try makeWAL()
        let sound = try reportOfWAL(file, wal)
        #expect(sound.isSound)
        let size = 4096 + 24
        let count = (wal.count - 32) / size
        #expect(sound.walFrameCount == count)
        for frame in 0..<(count - 3) {
            for offset in [0, 18, 24 + 100] {
                var changed = wal
                changed[32 + frame * size + offset] ^= 1
                #expect(try !reportOfWAL(file, changed).isSound, "frame \(frame + 1), byte \(offset)")
            }
        }
    }

    /// Checksums keep nobody off: they have no key.
    @Test func aFrameWithAForgedChecksumIsNoticed() throws {
        let (file, wal) = try makeWAL()
        var forged = wal
        forged[32 + 24 + 200] ^= 1
        WALForger.repair(&forged, pageSize: 4096)
        let report = try reportOfWAL(file, forged)
        #expect(report.problems.contains { $0.kind == .wal })
    }
}
