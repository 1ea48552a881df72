import Crypto
import Foundation

/// The file key of an archive, locked: by one passphrase, or for one recipient.
///
/// There is never more than one: whoever knows one passphrase of several could
/// make an archive that the holder of another one takes for authentic.
enum ArchiveStanza: Equatable {
    case passphrase(cost: ScryptCost, salt: [UInt8], sealed: SealedDataKey)
    case recipient(encapsulated: [UInt8], sealed: [UInt8])

    private static let recipientSealedByteCount = ArchiveFileKey.byteCount + SlotKey.tagByteCount

    /// Locks a file key.
    static func lock(_ fileKey: ArchiveFileKey, for lock: ArchiveLock) throws -> ArchiveStanza {
        switch lock.kind {
        case .passphrase(let secret, let cost):
            let salt = DerivedKeyMemo.newSalt(for: "archive", byteCount: SlotKey.saltByteCount)
            return try seal(fileKey, cost, salt, cost.derive(from: secret.bytes, salt: salt))
        case .shared(let passphrase, let salt):
            let cost = passphrase.cost(of: salt)
            return try seal(fileKey, cost, salt, passphrase.key(cost: cost, salt: salt))
        case .recipient(let recipient):
            var sender = try HPKE.Sender(
                recipientKey: recipient.publicKey, ciphersuite: ArchiveRecipient.ciphersuite,
                info: Data(ArchiveFileKey.label("recipient")))
            let sealed = try fileKey.secret.withUnsafeBytes { try sender.seal(BorrowedBytes($0)) }
            return .recipient(encapsulated: Array(sender.encapsulatedKey), sealed: Array(sealed))
        }
    }

    private static func seal(
        _ fileKey: ArchiveFileKey, _ cost: ScryptCost, _ salt: [UInt8], _ key: SecretBytes
    ) throws -> ArchiveStanza {
        let nonce = SlotKey.randomBytes(SlotKey.nonceByteCount)
        let box = try fileKey.secret.withUnsafeBytes { bytes in
            try ChaChaPoly.seal(
                BorrowedBytes(bytes), using: sealingKey(key), nonce: ChaChaPoly.Nonce(data: nonce),
                authenticating: associatedData(cost: cost, salt: salt))
        }
        return .passphrase(
            cost: cost, salt: salt,
            sealed: SealedDataKey(nonce: nonce, box: Array(box.ciphertext) + Array(box.tag)))
    }

    /// Unlocks the file key.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase`, `costOutOfRange`, or `encryptionMismatch` when
    ///   the archive is locked in the other way.
    func unlock(with secret: ArchiveSecret, limit: ScryptCost, path: String) throws -> ArchiveFileKey {
        switch (self, secret.kind) {
        case (.passphrase(let cost, let salt, let sealed), .passphrase(let passphrase)):
            try Self.check(cost, limit: limit, path: path)
            return try Self.open(
                sealed, cost, salt, cost.derive(from: passphrase.bytes, salt: salt), path: path)
        case (.passphrase(let cost, let salt, let sealed), .shared(let passphrase)):
            try Self.check(cost, limit: limit, path: path)
            return try Self.open(sealed, cost, salt, passphrase.key(cost: cost, salt: salt), path: path)
        case (.recipient(let encapsulated, let sealed), .identity(let identity)):
            let key = try identity.privateKey()
            guard
                var recipient = try? HPKE.Recipient(
                    privateKey: key, ciphersuite: ArchiveRecipient.ciphersuite,
                    info: Data(ArchiveFileKey.label("recipient")), encapsulatedKey: Data(encapsulated)),
                var opened = try? recipient.open(sealed)
            else {
                throw StoreError(
                    .wrongPassphrase, "the file is for another recipient, or its head is damaged",
                    path: path)
            }
            return try Self.take(&opened)
        case (.passphrase, .identity):
            throw StoreError(
                .encryptionMismatch, "the file is locked by a passphrase, not for a recipient", path: path)
        case (.recipient, .passphrase), (.recipient, .shared):
            throw StoreError(
                .encryptionMismatch,
                "the file is locked for a recipient, not by a passphrase; give the identity's file",
                path: path)
        }
    }

    private static func check(_ cost: ScryptCost, limit: ScryptCost, path: String) throws {
        guard cost.logN <= limit.logN else {
            throw StoreError(
                .costOutOfRange,
                "the passphrase of the file needs \(cost.memoryByteCount >> 20) MiB of memory to try, more than allowed",
                path: path)
        }
    }

    private static func open(
        _ sealed: SealedDataKey, _ cost: ScryptCost, _ salt: [UInt8], _ key: SecretBytes, path: String
    ) throws -> ArchiveFileKey {
        guard
            let box = try? ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: sealed.nonce),
                ciphertext: sealed.box.dropLast(SlotKey.tagByteCount),
                tag: sealed.box.suffix(SlotKey.tagByteCount)),
            var opened = try? ChaChaPoly.open(
                box, using: sealingKey(key), authenticating: associatedData(cost: cost, salt: salt))
        else {
            throw StoreError(
                .wrongPassphrase, "the passphrase does not open the file, or its head is damaged",
                path: path)
        }
        return try take(&opened)
    }

    /// Takes a secret out of memory that nobody else zeroes.
    private static func take(_ opened: inout Data) throws -> ArchiveFileKey {
        try opened.withUnsafeMutableBytes { bytes in
            defer { SecretBytes.zero(bytes) }
            return ArchiveFileKey(secret: try SecretBytes(UnsafeRawBufferPointer(bytes)))
        }
    }

    private static func sealingKey(_ key: SecretBytes) -> SymmetricKey {
        key.withUnsafeBytes { bytes in
            HKDF<SHA256>.expand(
                pseudoRandomKey: bytes, info: ArchiveFileKey.label("passphrase"), outputByteCount: 32)
        }
    }

    private static func associatedData(cost: ScryptCost, salt: [UInt8]) -> [UInt8] {
        ArchiveFileKey.label("passphrase") + parameters(cost) + salt
    }

    private static func parameters(_ cost: ScryptCost) -> [UInt8] {
        [UInt8(cost.logN), UInt8(ScryptCost.blockSize), UInt8(ScryptCost.parallelism)]
    }

    // MARK: - Bytes

    var encoded: [UInt8] {
        switch self {
        case .passphrase(let cost, let salt, let sealed):
            [1] + Self.parameters(cost) + salt + sealed.nonce + sealed.box
        case .recipient(let encapsulated, let sealed):
            [2] + encapsulated + sealed
        }
    }

    init(from reader: inout KeyringReader) throws {
        switch try reader.takeByte() {
        case 1:
            self = .passphrase(
                cost: try reader.takeCost(), salt: try reader.take(SlotKey.saltByteCount),
                sealed: try reader.takeSealedKey())
        case 2:
            self = .recipient(
                encapsulated: try reader.take(ArchiveRecipient.keyByteCount),
                sealed: try reader.take(Self.recipientSealedByteCount))
        case let number: throw reader.damaged("it is locked in a way that is not known, \(number)")
        }
    }
}
