import Foundation
import TestSupport
import Testing

@testable import CipherStore

@Suite(.anyEngine) struct KeyringFileTests {
    @Test func aFileThatIsReadAndWrittenAgainHasTheSameBytes() throws {
        let store = try KeyringStore()
        let bytes = try store.keyring.content()
        let opened = try store.keyring.opened(bytes, .text("first"))
        #expect(opened.encoded == bytes)
    }

    @Test func eachChangedByteIsNoticed() throws {
        let store = try KeyringStore()
        let recovery = try RecoveryKey.generate()
        try store.keyring.add(KeySlotSecret(recovery), label: "paper", unlockingWith: .text("first"))
        let bytes = try store.keyring.content()
        for index in bytes.indices {
            for mask in [UInt8(1), 0x80, 0xFF] {
                var changed = bytes
                changed[index] ^= mask
                #expect(throws: StoreError.self, "byte \(index)") {
                    try store.keyring.opened(changed, KeySlotSecret(recovery))
                }
            }
        }
    }

    /// Somebody who changes the file on purpose makes its checksum right again.
    @Test func eachByteThatIsChangedWithTheChecksumIsNoticed() throws {
        let store = try KeyringStore()
        let recovery = try RecoveryKey.generate()
        try store.keyring.add(KeySlotSecret(recovery), label: "paper", unlockingWith: .text("first"))
        let bytes = try store.keyring.content()
        for index in 0..<(bytes.count - 48) {
            var content = Array(bytes.dropLast(48))
            content[index] ^= 0x01
            let forged = content + KeyringFile.checksum(of: content) + bytes.suffix(32)
            #expect(throws: StoreError.self, "byte \(index)") {
                try store.keyring.opened(forged, KeySlotSecret(recovery))
            }
        }
    }

    @Test func eachShorterOrLongerFileIsNoticed() throws {
        let store = try KeyringStore()
        let bytes = try store.keyring.content()
        for count in 0..<bytes.count {
            #expect(throws: StoreError.self) {
                try KeyringFile(parsing: Array(bytes.prefix(count)), path: "x")
            }
        }
        for more in [1, 16, 48, 20_000] {
            let longer = bytes + [UInt8](repeating: 0, count: more)
            #expect(throws: StoreError.self) { try KeyringFile(parsing: longer, path: "x") }
        }
    }

    @Test func randomBytesAreNoKeyring() throws {
        var generator = SeededGenerator(seed: 4711)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...600, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if Bool.random(using: &generator) { bytes = KeyringFile.magic + [1, 0] + bytes }
            let content = Array(bytes.dropLast(48))
            if bytes.count > 48, Bool.random(using: &generator) {
                bytes = content + KeyringFile.checksum(of: content) + bytes.suffix(32)
            }
            #expect(throws: StoreError.self) { try KeyringFile(parsing: bytes, path: "x") }
        }
    }

    @Test func damageDoesNotReadAsAWrongPassphrase() throws {
        let store = try KeyringStore()
        var bytes = try store.keyring.content()
        bytes[70] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: store.keyring.path))
        let error = #expect(throws: StoreError.self) { try store.keyring.verify(.text("first")) }
        #expect(error?.code == .keyringDamaged)
        #expect(error?.message.contains(".bak") == true)
        #expect(store.refusal(try .text("first")) == .keyringDamaged)
    }

    @Test func aNewerFormatIsRefusedByName() throws {
        let store = try KeyringStore()
        var bytes = try store.keyring.content()
        bytes[8] = 3
        let error = #expect(throws: StoreError.self) { try KeyringFile(parsing: bytes, path: "x") }
        #expect(error?.code == .formatTooNew)
    }

    /// Who has the keys can write any number; the next change would add one to it.
    @Test func aGenerationThatCannotGrowIsRefused() throws {
        let store = try KeyringStore()
        var content = Array(try store.keyring.content().dropLast(48))
        content.replaceSubrange(28..<36, with: [UInt8](repeating: 0xFF, count: 8))
        let bytes = content + KeyringFile.checksum(of: content) + [UInt8](repeating: 0, count: 32)
        let error = #expect(throws: StoreError.self) { try KeyringFile(parsing: bytes, path: "x") }
        #expect(error?.code == .keyringDamaged)
    }

    @Test func aChangeBeyondTheLastGenerationIsRefusedBeforeItIsWritten() throws {
        let store = try KeyringStore()
        let opened = try store.keyring.opened(store.keyring.content(), .text("first"))
        var forged = opened.file
        forged.generation = .max - 2
        var keyring = try store.keyring.opened(
            forged.encoded(authenticatedBy: opened.active), .text("first"))
        let last = try keyring.encodedNext(path: "x")
        #expect(try KeyringFile(parsing: last, path: "x").generation == .max - 1)
        let error = #expect(throws: StoreError.self) { try keyring.encodedNext(path: "x") }
        #expect(error?.code == .keyringDamaged)
    }

    @Test func aCostThatExhaustsTheMemoryIsRefused() throws {
        let store = try KeyringStore()
        let content = Array(try store.keyring.content().dropLast(48))
        let position = try #require(Data(content).range(of: Data([14, 8, 1]))?.lowerBound)
        for (cost, code) in [
            (22, StoreError.Code.costOutOfRange), (23, .keyringDamaged), (13, .keyringDamaged),
        ] {
            var forged = content
            forged[position] = UInt8(cost)
            let bytes = forged + KeyringFile.checksum(of: forged) + [UInt8](repeating: 0, count: 32)
            let error = #expect(throws: StoreError.self) { try store.keyring.opened(bytes, .text("first")) }
            #expect(error?.code == code)
        }
    }

    /// Makes a database, and gives it a name that a store's keyring has for a file of its own.
    private func makeDatabase(at path: String, in folder: TemporaryFolder) throws -> Data {
        let made = folder.file("made.db")
        let queue = try DatabaseQueue(path: made, configuration: .keyed("other"))
        try queue.write { try $0.execute(sql: "CREATE TABLE precious (a)") }
        try queue.close()
        try FileManager.default.moveItem(atPath: made, toPath: path)
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    @Test func aChangeOfAKeyringReplacesNoDatabaseThatHasTheNameOfItsCopy() throws {
        let store = try KeyringStore()
        let backup = store.keyring.path + ".bak"
        try FileManager.default.removeItem(atPath: backup)
        let other = try makeDatabase(at: backup, in: store.folder)
        let before = try (store.keyring.content(), store.folder.contents())
        let slot = try #require(try store.keyring.information().slots.first)
        let changes: [() throws -> Void] = [
            { _ = try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first")) },
            { _ = try store.keyring.changePassphrase(from: Passphrase("first"), to: Passphrase("second")) },
            { _ = try StoreRekey.rotateDataKey(path: store.path, keeping: [.text("first")]) },
        ]
        for change in changes {
            let error = #expect(throws: StoreError.self) { try change() }
            #expect(error?.code == .reservedName && error?.path == backup)
            #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == other)
            #expect(try store.keyring.content() == before.0)
            #expect(try store.folder.contents() == before.1)
        }
        #expect(try store.title(.text("first")) == "kept")
        try FileManager.default.removeItem(atPath: backup)
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        #expect(try store.keyring.information().slots.first?.id == slot.id)
        #expect(try store.bytes(backup) == store.keyring.content())
    }

    @Test func aNewKeyringReplacesNoDatabaseThatHasTheNameOfItsCopy() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let backup = path + ".keys.bak"
        let other = try makeDatabase(at: backup, in: folder)
        let made = #expect(throws: StoreError.self) {
            try Keyring.make(forNewStore: path, secret: .text("first"), cost: .minimum)
        }
        #expect(made?.code == .reservedName && made?.path == backup)
        #expect(try folder.contents() == ["a.db.keys.bak"])
        _ = try makeDatabase(at: path, in: folder)
        let given = #expect(throws: StoreError.self) {
            try StoreRekey.makeKeyring(path: path, from: Passphrase("other"), cost: .minimum)
        }
        #expect(given?.code == .reservedName && given?.path == backup)
        #expect(try folder.contents() == ["a.db", "a.db.keys.bak"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == other)
    }

    @Test func aDatabaseThatIsNamedLikeALeftoverOfAKeyringStays() throws {
        let store = try KeyringStore()
        let path = store.keyring.path + ".new-000000000000001a"
        let leftover = store.keyring.path + ".new-000000000000002b"
        let copy = store.keyring.path + ".new-1"
        let other = try makeDatabase(at: path, in: store.folder)
        for name in [leftover, copy] { try Data(KeyringFile.magic).write(to: URL(fileURLWithPath: name)) }
        try store.keyring.add(.text("second"), cost: .minimum, unlockingWith: .text("first"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == other)
        // A keyring that somebody copied by hand is no leftover.
        #expect(FileManager.default.fileExists(atPath: copy))
        #expect(!FileManager.default.fileExists(atPath: leftover))
    }

    @Test func aKeyringIsMadeOfSettingsOnlyThatItsReaderTakes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let refused = [
            CipherSettings(format: .version1), CipherSettings(format: .version2),
            CipherSettings(format: .version3, pageSize: 3000),
            CipherSettings(format: .version3, pageSize: 256),
            CipherSettings(format: .version3, pageSize: 131_072),
        ]
        for settings in refused {
            let error = #expect(throws: StoreError.self) {
                try Keyring.make(
                    forNewStore: path, settings: settings, secret: .text("first"), cost: .minimum)
            }
            #expect(error?.code == .encryptionMismatch && error?.path == path)
            #expect(try folder.contents().isEmpty)
        }
        let taken = CipherSettings(format: .version3, pageSize: 512)
        let keyring = try Keyring.make(
            forNewStore: path, settings: taken, secret: .text("first"), cost: .minimum)
        #expect(try keyring.opened(keyring.content(), .text("first")).file.settings == taken)
    }

    @Test(.enabled(if: geteuid() == 0)) func aKeyringThatRootMakesOrChangesIsItsOwners() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("first"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        func owners() throws -> [UInt32] {
            try [".keys", ".keys.bak"].map { suffix in
                var information = stat()
                let code = stat(path + suffix, &information)
                let mode = Int(information.st_mode) & 0o777
                #expect(code == 0 && mode == 0o600)
                return information.st_uid
            }
        }
        try #require(chown(path, 4711, 4711) == 0)
        try StoreRekey.makeKeyring(path: path, from: Passphrase("first"), cost: .minimum)
        #expect(try owners() == [4711, 4711])
        let storage = try Keyring(store: path).storage
        storage.restore(try storage.setAside(ifContent: try storage.read()))
        #expect(try owners() == [4711, 4711])
        // Whatever has the name of the store by now.
        try #require(chown(path, 4712, 4712) == 0)
        try Keyring(store: path).changePassphrase(from: Passphrase("first"), to: Passphrase("second"))
        #expect(try owners() == [4711, 4711])
    }

    /// Somebody puts another name of a file in the place of a new one, while root is writing that.
    @Test(arguments: [true, false]) func aLinkInThePlaceOfANewFileIsNotFollowed(isSymbolic: Bool) throws {
        let folder = try TemporaryFolder()
        let other = folder.file("other")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: other))
        try #require(chmod(other, 0o600) == 0)
        let file = try FileReplacement(destination: folder.file("a.db.keys"), purpose: "new")
        defer { file.discard() }
        unlink(file.temporary)
        let code = isSymbolic ? symlink(other, file.temporary) : link(other, file.temporary)
        try #require(code == 0)
        var information = stat()
        try #require(stat(other, &information) == 0)
        information.st_mode = information.st_mode & ~0o777 | 0o666
        let open = information
        file.allowReading()
        let written = #expect(throws: StoreError.self) {
            try PrivateFile.write([1], to: file, for: file.destination, owner: open)
        }
        let copied = #expect(throws: StoreError.self) { try file.copyMode(of: open) }
        #expect(written?.code == .cannotWrite && copied?.code == .cannotWrite)
        let content = try Data(contentsOf: URL(fileURLWithPath: other))
        try #require(stat(other, &information) == 0)
        let mode = Int(information.st_mode) & 0o777
        #expect(content == Data("secret".utf8) && mode == 0o600)
    }
}
