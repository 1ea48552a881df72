import Foundation
import Testing

@testable import CipherStore

@Suite struct StoreArchiveTests {
    private struct Stopped: Error {}

    let folder: TemporaryFolder
    let queue: DatabaseQueue
    let archive: String

    init() throws {
        folder = try TemporaryFolder()
        archive = folder.file("backup.csa")
        queue = try DatabaseQueue(path: folder.file("notes.db"), configuration: .keyed("store"))
        try queue.write { db in
            try db.execute(
                sql: """
                    PRAGMA user_version = 7; PRAGMA application_id = 4711;
                    CREATE TABLE note (title TEXT, body BLOB);
                    CREATE TRIGGER t AFTER INSERT ON note BEGIN SELECT 1; END;
                    """)
            for number in 0..<5 {
                try db.execute(
                    sql: "INSERT INTO note(rowid, title, body) VALUES (?, 'marker-4711', randomblob(?))",
                    arguments: [number * 10 + 1, number * 30_000])
            }
        }
    }

    private func lock(_ text: String = "archive") throws -> ArchiveLock {
        ArchiveLock(passphrase: try Passphrase(text), cost: .minimum)
    }

    private func secret(_ text: String = "archive") throws -> ArchiveSecret {
        ArchiveSecret(try Passphrase(text))
    }

    private func write(_ lock: ArchiveLock? = nil) throws {
        let lock = try lock ?? self.lock()
        try queue.writeWithoutTransaction { try StoreArchive.write(of: $0, to: archive, lock: lock) }
    }

    private func restore(_ secret: ArchiveSecret? = nil, from path: String? = nil) throws -> String {
        let destination = folder.file("restored-\(UUID().uuidString).db")
        try StoreArchive.restore(
            path ?? archive, to: destination, opening: secret ?? self.secret(), passphrase: Passphrase("new"))
        return destination
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func aStoreComesBackFromItsArchive() throws {
        try write()
        let restored = try DatabaseQueue(path: restore(), configuration: .keyed("new"))
        func value<Value: DatabaseValueConvertible>(_ sql: String) throws -> [Value] {
            try restored.read { try Value.fetchAll($0, sql: sql) }
        }
        #expect(try value("SELECT rowid FROM note") == [1, 11, 21, 31, 41])
        #expect(try value("PRAGMA user_version") == [7])
        #expect(try value("PRAGMA application_id") == [4711])
        #expect(try value("SELECT name FROM sqlite_master WHERE type = 'trigger'") == ["t"])
        let mine = try queue.read { try Data.fetchAll($0, sql: "SELECT body FROM note") }
        #expect(try restored.read { try Data.fetchAll($0, sql: "SELECT body FROM note") } == mine)
    }

    @Test func nothingButTheArchiveIsLeft() throws {
        try write()
        #expect(try folder.contents().filter { $0.hasPrefix("backup") } == ["backup.csa"])
        let attributes = try FileManager.default.attributesOfItem(atPath: archive)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let content = Data(try bytes(archive))
        #expect(content.range(of: Data("marker-4711".utf8)) == nil)
        #expect(content.range(of: Data("SQLite format".utf8)) == nil)
    }

    /// Each has the size of the store, and nobody else removes it.
    @Test func theNextOneRemovesWhatAKilledOneLeft() throws {
        let number = "0123456789abcdef"
        // A date, a counter and the microseconds since 1970, as users name what they keep.
        let others = [
            "notes.db.archive-notes", "notes.db.archive-\(number).txt", "notes.db.archive-1",
            "notes.db.archive-20261130", "notes.db.archive-1796011200000000", "restored.db.archive-20261130",
        ]
        for name in ["notes.db", "backup.csa", "restored.db"] {
            for suffix in ["", "-journal"] {
                let path = folder.file("\(name).archive-\(number)\(suffix)")
                try Data([1]).write(to: URL(fileURLWithPath: path))
            }
        }
        for name in others { try Data([1]).write(to: URL(fileURLWithPath: folder.file(name))) }
        func leftovers(of name: String) throws -> [String] {
            try folder.contents().filter { $0.hasPrefix("\(name).archive-") && !others.contains($0) }
        }
        try write()
        #expect(try leftovers(of: "backup.csa") == [])
        #expect(try leftovers(of: "notes.db").count == 2)
        try queue.writeWithoutTransaction { db in
            try StoreArchive.write(of: db, lock: lock(), preparation: nil, now: Date(), to: { _ in })
        }
        #expect(try leftovers(of: "notes.db") == [])
        try StoreArchive.restore(
            archive, to: folder.file("restored.db"), opening: secret(), passphrase: Passphrase("new"))
        #expect(try leftovers(of: "restored.db") == [])
        #expect(try folder.contents().filter { others.contains($0) } == others.sorted())
    }

    /// The first name is a user's, the other one looks like that of a temporary file in every respect.
    @Test(arguments: ["20261130", "0123456789abcdef"])
    func anArchiveThatIsNamedLikeALeftoverIsRestoredAndStays(number: String) throws {
        try write()
        let named = folder.file("restored.db.archive-\(number)")
        try FileManager.default.moveItem(atPath: archive, toPath: named)
        let before = try bytes(named)
        try StoreArchive.restore(
            named, to: folder.file("restored.db"), opening: secret(), passphrase: Passphrase("new"))
        #expect(try bytes(named) == before)
        let restored = try DatabaseQueue(path: folder.file("restored.db"), configuration: .keyed("new"))
        #expect(try restored.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } != nil)
    }

    @Test func anArchiveForARecipientOpensWithItsIdentity() throws {
        let identity = try ArchiveIdentity.make(file: folder.file("id.key"))
        let text = try identity.recipient.description
        let recipient = try #require(ArchiveRecipient(text))
        try write(ArchiveLock(recipient: recipient))
        let read = try ArchiveIdentity(file: folder.file("id.key"))
        let restored = try restore(ArchiveSecret(read))
        #expect(FileManager.default.fileExists(atPath: restored))
        let other = try ArchiveIdentity.make(file: folder.file("other.key"))
        let error = #expect(throws: StoreError.self) { try restore(ArchiveSecret(other)) }
        #expect(error?.code == .wrongPassphrase)
        let kind = #expect(throws: StoreError.self) { try restore() }
        #expect(kind?.code == .encryptionMismatch)
        #expect(ArchiveRecipient(text.replacingOccurrences(of: text.suffix(1), with: "g")) == nil)
        #expect(ArchiveRecipient(String(text.dropLast(2))) == nil)
        #expect(ArchiveRecipient(text.uppercased()) == recipient)
    }

    @Test func aWrongPassphraseOpensNothing() throws {
        try write()
        let before = try folder.contents()
        let error = #expect(throws: StoreError.self) { try restore(secret("Archive")) }
        #expect(error?.code == .wrongPassphrase)
        #expect(try folder.contents() == before)
    }

    @Test func anExistingFileIsNeverOverwritten() throws {
        try write()
        #expect(throws: StoreError.self) { try write() }
        let error = #expect(throws: StoreError.self) {
            try StoreArchive.restore(
                archive, to: folder.file("notes.db"), opening: secret(), passphrase: Passphrase("new"))
        }
        #expect(error?.code == .exists)
    }

    @Test func eachChangedByteOfTheHeadIsNoticed() throws {
        let identity = try ArchiveIdentity.make(file: folder.file("id.key"))
        try write(ArchiveLock(recipient: identity.recipient))
        let good = try bytes(archive)
        let count = try ArchiveFile(archive).headerBytes.count
        for index in 0..<count {
            var changed = good
            changed[index] ^= 1
            try Data(changed).write(to: URL(fileURLWithPath: archive))
            #expect(throws: StoreError.self, "byte \(index)") {
                try StoreArchive.verify(archive, opening: ArchiveSecret(identity))
            }
        }
    }

    @Test func eachDamageOfTheChunksIsNoticed() throws {
        let identity = try ArchiveIdentity.make(file: folder.file("id.key"))
        let secret = ArchiveSecret(identity)
        try write(ArchiveLock(recipient: identity.recipient))
        try StoreArchive.verify(archive, opening: secret)
        let good = try bytes(archive)
        let head = try ArchiveFile(archive).headerBytes.count
        let chunk = ArchiveChunkCipher.sealedChunkByteCount
        #expect(good.count > head + 3 * chunk)
        func refuses(_ content: [UInt8], _ what: String) throws {
            try Data(content).write(to: URL(fileURLWithPath: archive))
            let error = #expect(throws: StoreError.self, "\(what)") {
                try StoreArchive.verify(archive, opening: secret)
            }
            #expect(error?.code == .archiveDamaged, "\(what)")
        }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<40 {
            var changed = good
            changed[Int.random(in: head..<good.count, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
            try refuses(changed, "a flipped bit")
        }
        func chunkRange(_ number: Int) -> Range<Int> { head + number * chunk..<head + (number + 1) * chunk }
        let first = Array(good[chunkRange(0)])
        let second = Array(good[chunkRange(1)])
        let start = Array(good[..<head])
        let rest = Array(good[chunkRange(1).upperBound...])
        try refuses(start + second + first + rest, "swapped chunks")
        try refuses(start + first + rest, "a chunk left out")
        try refuses(start + first + first + second + rest, "a chunk twice")
        try refuses(start + first, "cut off after a chunk")
        try refuses(start + first + second, "cut off after two chunks")
        try refuses(start, "no chunk")
        try refuses(Array(good.dropLast()), "cut off by a byte")
        try refuses(good + [0], "a byte more")
        try refuses(good + first, "a chunk more")
        try refuses(start + [UInt8](repeating: 0, count: good.count - head), "zeros")
        for count in stride(from: 0, to: head, by: 7) {
            try Data(good.prefix(count)).write(to: URL(fileURLWithPath: archive))
            #expect(throws: StoreError.self) { try StoreArchive.verify(archive, opening: secret) }
        }
    }

    @Test func aCancelledArchiveLeavesNothing() throws {
        let before = try folder.contents()
        for phase in [StoreProgress.Phase.verifying, .copying] {
            #expect(throws: Stopped.self) {
                try queue.writeWithoutTransaction { db in
                    try StoreArchive.write(of: db, to: archive, lock: lock()) {
                        if $0.phase == phase || phase == .copying { throw Stopped() }
                    }
                }
            }
            #expect(try folder.contents() == before)
        }
    }

    @Test func otherFilesAreNoArchives() throws {
        for content in [[UInt8](), Array("SQLite format 3\0".utf8), [UInt8](repeating: 7, count: 5000)] {
            try Data(content).write(to: URL(fileURLWithPath: archive))
            #expect(throws: StoreError.self) { try restore() }
        }
        let missing = #expect(throws: StoreError.self) { try restore(from: folder.file("none")) }
        #expect(missing?.code == .missing)
    }

    @Test func anArchiveOfAPlaintextDatabaseIsRefused() throws {
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        try plain.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let error = #expect(throws: StoreError.self) {
            try plain.writeWithoutTransaction { try StoreArchive.write(of: $0, to: archive, lock: lock()) }
        }
        #expect(error?.code == .encryptionMismatch)
    }

    @Test func theFinishingChangesAreInTheStore() throws {
        try write()
        let destination = folder.file("new.db")
        try StoreArchive.restore(
            archive, to: destination, opening: secret(), passphrase: Passphrase("new"),
            finishing: { try $0.execute(sql: "DELETE FROM note") })
        let restored = try DatabaseQueue(path: destination, configuration: .keyed("new"))
        #expect(try restored.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 0)
    }
}
