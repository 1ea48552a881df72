import Foundation

@testable import CipherStore

extension FuzzTarget {
    /// The file of a keyring. The first byte says how much of it is made right: nothing, the
    /// checksum, or the MAC and the slots of key files too.
    static let keyring = FuzzTarget(
        name: "keyring", run: KeyringFuzzing.run, seeds: KeyringFuzzing.seeds,
        words: [
            KeyringFile.magic + [1, 0], [14, 8, 1], [17, 8, 1], [22, 8, 1], [3, 10], [4, 12], [1, 32],
            [UInt8](repeating: 0xFF, count: 8),
        ])
}

private enum KeyringFuzzing {
    private static let dataKey = Result {
        DataKey(
            secret: try [UInt8](1...32).withUnsafeBytes { try SecretBytes($0) }, salt: Array(101...116))
    }
    private static let keyFile = Result {
        KeySlotSecret(
            kind: .keyFile, bytes: try [UInt8](33...64).withUnsafeBytes { try SecretBytes($0) })
    }
    private static let recoveryKey = Result {
        KeySlotSecret(
            kind: .recoveryKey, bytes: try [UInt8](1...20).withUnsafeBytes { try SecretBytes($0) })
    }
    private static let passphrase = Result { KeySlotSecret(try Passphrase("correct horse")) }

    static func run(_ input: [UInt8]) throws {
        guard let mode = input.first else { return }
        var bytes = Array(input.dropFirst())
        if mode & 3 != 0 {
            bytes += KeyringFile.checksum(of: bytes) + [UInt8](repeating: 0, count: KeyringFile.macByteCount)
        }
        guard let file = try parsed(bytes) else { return }
        let key = try dataKey.get()
        require(
            file.encoded(authenticatedBy: key).dropLast(KeyringFile.macByteCount)
                == bytes.dropLast(KeyringFile.macByteCount), "there is one way to write a keyring")
        if mode & 3 == 2 { return try openSealed(file) }
        try open(bytes, file)
    }

    private static func parsed(_ bytes: [UInt8]) throws -> KeyringFile? {
        do {
            return try KeyringFile(parsing: bytes, path: "x.keys")
        } catch let error as StoreError where [.keyringDamaged, .formatTooNew].contains(error.code) {
            return nil
        }
    }

    /// Tries secrets that open nothing.
    private static func open(_ bytes: [UInt8], _ file: KeyringFile) throws {
        // A passphrase is tried where each slot costs too much: that must be free.
        let isCostly = file.slots.allSatisfy { $0.cost.map { $0.logN > ScryptCost.minimum.logN } ?? true }
        let secrets = try [keyFile.get(), recoveryKey.get()] + (isCostly ? [passphrase.get()] : [])
        for secret in secrets {
            do {
                _ = try UnlockedKeyring(bytes: bytes, secret: secret, limit: .minimum, path: "x.keys")
                fatalError("broken promise: nobody has made this keyring")
            } catch let error as StoreError {
                let isRefused = secret.kind == .passphrase && file.slots.contains { $0.kind == .passphrase }
                require(
                    error.code == (isRefused ? .costOutOfRange : .wrongPassphrase)
                        || error.code == .keyringDamaged && secret.kind != .passphrase,
                    "the right error: \(error)")
            }
        }
    }

    /// Seals the data key into each slot of a key file, so that what follows can be reached, and
    /// does what a program does with a keyring.
    private static func openSealed(_ file: KeyringFile) throws {
        var file = file
        let (secret, active) = try (keyFile.get(), dataKey.get())
        for index in file.slots.indices where file.slots[index].kind == .keyFile {
            let slot = file.slots[index]
            let key = try SlotKey(secret, salt: slot.salt, cost: nil)
            func sealed(_ salt: [UInt8]) throws -> SealedDataKey {
                try key.seal(
                    active.secret, associatedData: file.associatedData(of: slot, dataKeySalt: salt))
            }
            file.slots[index] = KeySlot(
                describing: slot, commitment: key.commitment(to: file.associatedData(of: slot)),
                active: try sealed(file.activeSalt))
            file.slots[index].pending = try slot.pending == nil ? nil : file.pendingSalt.map(sealed)
        }
        let bytes = file.encoded(authenticatedBy: active)
        guard let first = file.slots.first(where: { $0.kind == .keyFile }) else { return }
        var keyring = try UnlockedKeyring(bytes: bytes, secret: secret, limit: .minimum, path: "x.keys")
        require(keyring.slotID == first.id, "the first slot of this type opens")
        require(keyring.encoded == bytes, "an opened keyring is written as it was")
        try change(&keyring)
    }

    /// Each change is allowed or refused, and what it leaves can be read.
    private static func change(_ keyring: inout UnlockedKeyring) throws {
        let changes: [(inout UnlockedKeyring) throws -> Void] = [
            { try $0.add(try recoveryKey.get(), label: "new", cost: .minimum, now: Date()) },
            { try $0.remove($0.file.slots[0].id) },
            { keyring in
                let salt = keyring.file.activeSalt
                try keyring.resolveRotation(storeSalt: salt, path: "x")
            },
            { keyring in
                let keys = try keyring.slotKeys(of: [], limit: .minimum, path: "x")
                try keyring.begin(rotationTo: try DataKey.random(), keeping: keys)
            },
            { $0.finishRotation() },
        ]
        for change in changes {
            let bytes: [UInt8]
            do {
                try change(&keyring)
                bytes = try keyring.encodedNext(path: "x")
            } catch is StoreError {
                continue
            }
            let opened = try UnlockedKeyring(
                bytes: bytes, secret: keyFile.get(), limit: .minimum, path: "x")
            require(opened.encoded == bytes, "a changed keyring opens")
        }
    }

    static func seeds(_ schemas: String) throws -> [[UInt8]] {
        try SeedCorpus.hexadecimal(schemas + "/keyring/vectors.json", key: "content").flatMap { file in
            [[0] + file, [1] + file.dropLast(48), [2] + file.dropLast(48)]
        }
    }
}
