import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// The files of `Schemas/keyring/vectors.json`.
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

    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Schemas/keyring/vectors.json")

    static func vectors() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
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

    @Test func eachFileOpensWithItsSecrets() throws {
        for file in try Self.vectors().files {
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

    @Test func eachRefusedFileIsRefusedForItsReason() throws {
        for file in try Self.vectors().refused {
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
}
