import CipherStore
import Foundation
import Testing

@testable import SyncRelay

@Suite struct StorageFileOnDiskTests {
    let folder: StorageFolder

    init() throws { folder = try StorageFolder() }

    private func expect(_ code: RelayStorageError.Code, _ body: () throws -> Void) {
        #expect { try body() } throws: { ($0 as? RelayStorageError)?.code == code }
    }

    @Test func aSecondRelayIsRefusedUntilTheFirstHasClosed() async throws {
        let storage = try folder.open()
        expect(.inUse) { _ = try folder.open() }
        try storage.close()
        let second = try folder.open()
        await expectProblem(.unavailable) { try await storage.put("a", Data(), in: .random()) }
        try second.close()
    }

    @Test func onlyItsOwnerReadsTheFile() async throws {
        let storage = try folder.open()
        _ = try await TestChannel(in: storage)
        for suffix in ["", "-wal", "-shm", "-lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }

    @Test func whatWasAnsweredIsWrittenToTheDiskAtOnce() async throws {
        let storage = try folder.open()
        let settings = try await storage.pool.writeWithoutTransaction { db in
            try ["synchronous", "journal_mode", "auto_vacuum"].map {
                try String.fetchOne(db, sql: "PRAGMA \($0)")
            }
        }
        #expect(settings == ["2", "wal", "2"])
    }

    @Test func everythingIsThereAfterAKill() async throws {
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        let id = RelayInvitationID.random()
        try await storage.put("a", pattern(500), in: channel.id)
        try await storage.upload("b", pattern(800_000), to: channel.id)
        try await storage.remove("a", in: channel.id)
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: id, in: channel.id)
        let before = try await storage.state(of: channel.id)
        let again = try folder.reopened(after: storage)
        let after = try await again.state(of: channel.id)
        #expect(after.position == 3 && after.byteCount == before.byteCount && after.fileCount == 1)
        #expect(try await again.content("b", in: channel.id) == pattern(800_000))
        #expect(try await again.registration(of: channel.id) == channel.registration)
        #expect(try await again.takeInvitation(id).sealed == Data([1]))
        // Nobody can tell whether the file was put back: positions of before mean nothing.
        #expect(after.epoch != before.epoch)
        let old = RelayMoment(epoch: before.epoch, position: before.position)
        #expect(try await again.list(channel.id, .since(old)).isComplete)
    }

    @Test func anotherDatabaseIsRefusedAndStaysAsItIs() throws {
        let queue = try DatabaseQueue(path: folder.path)
        try queue.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        try queue.close()
        expect(.notAStorage) { _ = try folder.open() }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "-lock"))
        let again = try DatabaseQueue(path: folder.path)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 1)
    }

    @Test func anEncryptedDatabaseAndAnyOtherFileAreRefused() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("a passphrase") }
        let queue = try DatabaseQueue(path: folder.path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        try queue.close()
        expect(.notAStorage) { _ = try folder.open() }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "-lock"))
        try Data(
            "some text, longer than the head of a database, which has one hundred bytes and no more".utf8
        )
        .write(to: URL(fileURLWithPath: folder.path))
        expect(.notAStorage) { _ = try folder.open() }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "-lock"))
        // One that was there belongs to somebody.
        try Data().write(to: URL(fileURLWithPath: folder.path + "-lock"))
        expect(.notAStorage) { _ = try folder.open() }
        #expect(FileManager.default.fileExists(atPath: folder.path + "-lock"))
    }

    @Test func aNewerStorageIsRefused() throws {
        let storage = try folder.open()
        try storage.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 2") }
        try storage.close()
        expect(.tooNew) { _ = try folder.open() }
    }

    @Test func aFolderThatIsNotThereIsNamed() {
        expect(.cannotOpen) { _ = try SQLiteRelayStorage(path: folder.folder + "/none/relay.db") }
    }

    @Test func noTokenIsInTheFile() async throws {
        let storage = try folder.open()
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", pattern(100), in: channel.id)
        let bytes = try folder.bytes()
        for token in [channel.readToken, channel.writeToken] {
            let text = token.secretText
            #expect(bytes.range(of: Data(text.utf8)) == nil)
            let raw = stride(from: 0, to: 64, by: 2).compactMap {
                UInt8(text.dropFirst($0).prefix(2), radix: 16)
            }
            #expect(raw.count == 32 && bytes.range(of: Data(raw)) == nil)
            #expect(bytes.range(of: Data(token.digest.bytes)) != nil)
        }
    }
}
