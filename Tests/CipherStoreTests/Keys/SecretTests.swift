import Foundation
import Testing

@testable import CipherStore

@Suite struct SecretTests {
    /// All texts that Swift makes of a value.
    private func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    private func bytes(_ count: Int, of byte: UInt8) throws -> SecretBytes {
        try SecretBytes(capacity: count) { buffer in
            for index in buffer.indices { buffer[index] = byte }
            return count
        }
    }

    @Test(arguments: [KeySlot.Kind.passphrase, .recoveryKey, .keyFile])
    func whatIsPrintedOfASecretDependsOnItsKindOnly(kind: KeySlot.Kind) throws {
        let short = Secret(kind: kind, bytes: try bytes(1, of: 0x61))
        let long = Secret(kind: kind, bytes: try bytes(777, of: 0x62))
        #expect(texts(short) == texts(long))
        #expect(short.description.contains(kind.noun))
        for secret in [short, long] {
            #expect(Mirror(reflecting: secret).children.isEmpty)
            #expect(Mirror(reflecting: secret.bytes).children.isEmpty)
        }
    }

    @Test func whatHoldsASecretShowsNothingOfIt() throws {
        let passphrases = ["a", String(repeating: "b", count: 777)]
        let locks = try passphrases.map { ArchiveLock(passphrase: try Passphrase($0), cost: .minimum) }
        #expect(texts(locks[0]) == texts(locks[1]))
        let secrets = try passphrases.map { ArchiveSecret(try Passphrase($0)) }
        #expect(texts(secrets[0]) == texts(secrets[1]))
        let keys = try [UInt8(1), 2].map {
            EncryptionKey(keyAndSalt: try bytes(48, of: $0), settings: .default)
        }
        #expect(texts(keys[0]) == texts(keys[1]))
    }

    @Test func aPassphraseItsCopiesAndItsSecretsShareOneBuffer() throws {
        let passphrase = try Passphrase("correct horse")
        let secret = Secret(passphrase)
        let copy = passphrase.copy()
        let copyOfSecret = secret
        let isShared = [copy.bytes, secret.bytes, copyOfSecret.bytes].allSatisfy { $0 === passphrase.bytes }
        #expect(isShared)
    }

    @Test func theBufferIsZeroedOnceWhenItsLastHolderGoes() throws {
        let zeroed = LockedBox<[[UInt8]]>([])
        var first: Secret? = Secret(
            kind: .passphrase,
            bytes: try SecretBytes(
                capacity: 6, didZero: { bytes in zeroed.change { $0.append(Array(bytes)) } },
                initializingWith: { buffer in
                    buffer.copyBytes(from: Array("secret".utf8))
                    return 6
                }))
        var second = first
        var configuration: Configuration? = Configuration()
        if let first { configuration?.useKeySlot(first) }
        first = nil
        withExtendedLifetime(second) { #expect(zeroed.value.isEmpty) }
        second = nil
        withExtendedLifetime(configuration) { #expect(zeroed.value.isEmpty) }
        configuration = nil
        #expect(zeroed.value.count == 1)
        let page = try #require(zeroed.value.first)
        #expect(page.count >= 6 && page.allSatisfy { $0 == 0 })
    }

    @Test func aBufferThatCouldNotBeFilledIsZeroedToo() throws {
        struct Stopped: Error {}
        let zeroed = LockedBox<[[UInt8]]>([])
        #expect(throws: Stopped.self) {
            _ = try SecretBytes(
                capacity: 6, didZero: { bytes in zeroed.change { $0.append(Array(bytes)) } },
                initializingWith: { buffer in
                    buffer.copyBytes(from: Array("secret".utf8))
                    throw Stopped()
                })
        }
        #expect(zeroed.value.count == 1)
        #expect(zeroed.value.first?.allSatisfy { $0 == 0 } == true)
    }

    @Test func secretsAreTheSameWhenKindAndAllBytesAre() throws {
        func secret(_ text: String, _ kind: KeySlot.Kind = .passphrase) throws -> Secret {
            Secret(kind: kind, bytes: try Array(text.utf8).withUnsafeBytes { try SecretBytes($0) })
        }
        let known = try secret("abcdef")
        #expect(known.matches(known))
        #expect(known.matches(try secret("abcdef")))
        for other in ["Abcdef", "abCdef", "abcdeF", "abcde", "abcdefg"] {
            #expect(!known.matches(try secret(other)), "\(other)")
        }
        #expect(!known.matches(try secret("abcdef", .keyFile)))
    }

    @Test func theNameOfBeforeIsTheSameType() throws {
        let secret: KeySlotSecret = Secret(try Passphrase("first"))
        let store = try KeyringStore()
        #expect(try store.title(secret) == "kept")
    }

    // MARK: - Key files

    @Test func noKeyFileIsMadeWhereItWouldBeRefusedLater() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("key")
        // As on FAT, where all files have the mode that the mount gives them.
        let error = #expect(throws: StoreError.self) {
            try Secret.makeKeyFile(at: path) { path in
                chmod(path, 0o755)
                return try Secret(keyFile: path)
            }
        }
        #expect(error?.code == .keyFileInvalid && error?.message.contains("FAT") == true)
        #expect(try folder.contents() == [])
        let made = try Secret.makeKeyFile(at: path)
        let read = try Secret(keyFile: path)
        #expect(read.matches(made))
    }

    @Test func aKeyFileThatOthersCanReadIsToBeCopiedWhereItsModeCanNotChange() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("key")
        _ = try Secret.makeKeyFile(at: path)
        chmod(path, 0o644)
        let error = #expect(throws: StoreError.self) { try Secret(keyFile: path) }
        #expect(error?.message.contains("use a copy of it on another file system") == true)
    }
}
