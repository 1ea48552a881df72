import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// The files of `Schemas/keyring/vectors.json` and `vectors-v2.json`.
@Suite(.anyEngine) struct KeyringVectorTests {
    struct Vectors: Codable {
        struct Opening: Codable {
            let kind: String
            /// Text, for a key file hexadecimal digits.
            let secret: String
            let slot: String
            let dataKey: String
            let pendingDataKey: String?
        }
        struct File: Codable {
            let name: String
            let content: String
            let openings: [Opening]
        }
        struct Refused: Codable {
            let name: String
            let content: String
            /// A passphrase, for a file that is refused only when a slot was opened.
            let passphrase: String?
            let error: String
        }
        let files: [File]
        let refused: [Refused]
    }

    static let names = ["vectors.json", "vectors-v2.json"]

    static func vectors(_ name: String = "vectors.json") throws -> Vectors {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Schemas/keyring")
        return try JSONDecoder().decode(
            Vectors.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
    }

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    static func secret(_ opening: Vectors.Opening) throws -> KeySlotSecret {
        switch opening.kind {
        case "passphrase": return try .text(opening.secret)
        case "recovery-key": return KeySlotSecret(try RecoveryKey(opening.secret))
        default:
            let bytes = try bytes(opening.secret).withUnsafeBytes { try SecretBytes($0) }
            return KeySlotSecret(kind: .keyFile, bytes: bytes)
        }
    }

    private func hexadecimal(_ key: DataKey?) -> String? {
        key.map { key in
            (key.secret.withUnsafeBytes { Array($0) } + key.salt)
                .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    @Test(arguments: names) func eachFileOpensWithItsSecrets(name: String) throws {
        for file in try Self.vectors(name).files {
            let content = Self.bytes(file.content)
            for opening in file.openings {
                let opened = try UnlockedKeyring(
                    bytes: content, secret: Self.secret(opening), limit: .minimum, path: file.name)
                #expect(opened.slotID?.description == opening.slot, "\(file.name)")
                #expect(hexadecimal(opened.active) == opening.dataKey, "\(file.name)")
                #expect(hexadecimal(opened.pending) == opening.pendingDataKey, "\(file.name)")
                #expect(opened.encoded == content, "\(file.name)")
            }
        }
    }

    @Test(arguments: names) func eachRefusedFileIsRefusedForItsReason(name: String) throws {
        for file in try Self.vectors(name).refused {
            let content = Self.bytes(file.content)
            let error = #expect(throws: StoreError.self, "\(file.name)") {
                guard let passphrase = file.passphrase else {
                    _ = try KeyringFile(parsing: content, path: file.name)
                    return
                }
                _ = try UnlockedKeyring(
                    bytes: content, secret: .text(passphrase), limit: .minimum, path: file.name)
            }
            #expect(error?.code.rawValue == file.error, "\(file.name)")
        }
    }

    /// A program that does not know a kind of slot keeps it, and says when that can't be.
    @Test func slotsOfUnknownKindsAreKeptUntilTheyAreRemoved() throws {
        let file = try #require(
            try Self.vectors("vectors-v2.json").files.first { $0.name.contains("unknown kinds") })
        let opening = try #require(file.openings.first { $0.kind == "key-file" })
        var opened = try UnlockedKeyring(
            bytes: Self.bytes(file.content), secret: Self.secret(opening), limit: .minimum, path: file.name)
        #expect(opened.file.unknownSlots.map(\.kindNumber) == [9, 255])
        let unknown = opened.file.unknownSlots
        let added = try opened.add(.text("another"), label: "", cost: .minimum, now: Date())
        let bytes = try opened.encodedNext(path: file.name)
        var again = try UnlockedKeyring(
            bytes: bytes, secret: .text("another"), limit: .minimum, path: file.name)
        #expect(again.slotID == added.id && again.file.unknownSlots == unknown)
        try again.remove(unknown[0].id)
        #expect(
            try KeyringFile(parsing: again.encodedNext(path: file.name), path: "").unknownSlots.count == 1)
        // All 32 places count.
        #expect(again.file.slotCount == opened.file.slotCount - 1)
        let error = #expect(throws: StoreError.self) {
            try UnlockedKeyring(bytes: bytes, secret: .text("wrong"), limit: .minimum, path: file.name)
        }
        #expect(error?.code == .wrongPassphrase && error?.message.contains("newer programs") == true)
    }

    /// Programs that know version 1 only go on reading what they made.
    @Test func aFileStaysOfItsVersion() throws {
        let file = try #require(try Self.vectors().files.first)
        let opening = try #require(file.openings.first)
        var opened = try UnlockedKeyring(
            bytes: Self.bytes(file.content), secret: Self.secret(opening), limit: .minimum, path: file.name)
        try opened.add(.text("another"), label: "", cost: .minimum, now: Date())
        #expect(try KeyringFile(parsing: opened.encodedNext(path: ""), path: "").version == 1)
        #expect(UnlockedKeyring(creating: try .random(), settings: .default).file.version == 2)
    }

    /// A file that is longer than readers take would lock everybody out.
    @Test func longSlotsOfUnknownKindsLeaveNoRoomForOthers() throws {
        let key = try DataKey.random()
        var file = KeyringFile(
            storeID: [UInt8](repeating: 1, count: KeyringFile.storeIDByteCount), settings: .default,
            activeSalt: key.salt)
        let bytes = [UInt8](repeating: 9, count: KeyringFile.byteCountMax - 200)
        file.unknownSlots = [UnknownKeySlot(id: .random(), kindNumber: 9, bytes: bytes)]
        var keyring = try UnlockedKeyring(
            bytes: file.encoded(authenticatedBy: key), active: key, slotID: nil, path: "")
        try keyring.add(.text("another"), label: "", cost: .minimum, now: Date())
        let error = #expect(throws: StoreError.self) { try keyring.encodedNext(path: "") }
        #expect(error?.code == .tooManySlots)
    }
}
