import Crypto
import Foundation
import Testing

@testable import CipherStore

/// The archives of `Schemas/archive/vectors.json`.
@Suite struct ArchiveVectorTests {
    struct Vectors: Codable {
        struct Secret: Codable {
            var passphrase: String?
            /// The hexadecimal digits of a private key.
            var identity: String?
        }
        struct Archive: Codable {
            let name: String
            let secret: Secret
            let format: Int
            let pageSize: Int
            let createdMilliseconds: Int64
            let fileKey: String
            let databaseKey: String
            let contentByteCount: Int
            let contentSHA256: String
            /// In Base64, where it is small.
            let content: String?
            /// In Base64.
            let archive: String
        }
        /// What is done to an archive before it is refused.
        struct Refused: Codable {
            let name: String
            let archive: String
            var secret: Secret?
            /// A byte's place and its new value.
            var byte: [Int]?
            /// How many bytes of it are left.
            var byteCount: Int?
            /// What follows it, in hexadecimal digits.
            var appended: String?
            let error: String
        }
        let archives: [Archive]
        let refused: [Refused]
    }

    let folder: TemporaryFolder
    let vectors: Vectors

    init() throws {
        folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Schemas/archive/vectors.json")
        vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
    }

    private func secret(_ secret: Vectors.Secret) throws -> ArchiveSecret {
        if let passphrase = secret.passphrase { return ArchiveSecret(try Passphrase(passphrase)) }
        let digits = try #require(secret.identity)
        let bytes = try KeyringVectorTests.bytes(digits).withUnsafeBytes { try SecretBytes($0) }
        return ArchiveSecret(ArchiveIdentity(secret: bytes))
    }

    private func write(_ data: Data) throws -> String {
        let path = folder.file(UUID().uuidString)
        try data.write(to: URL(fileURLWithPath: path))
        return path
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func eachArchiveOpensAndHoldsItsContent() throws {
        #expect(vectors.archives.count >= 6)
        for vector in vectors.archives {
            let path = try write(#require(Data(base64Encoded: vector.archive)))
            let file = try ArchiveFile(path)
            let key = try file.header.stanza.unlock(with: secret(vector.secret), limit: .minimum, path: path)
            #expect(key.secret.withUnsafeBytes { hexadecimal($0) } == vector.fileKey, "\(vector.name)")
            try ArchiveHeader.verify(file.headerBytes, fileKey: key, path: path)
            #expect(file.header.createdMilliseconds == vector.createdMilliseconds, "\(vector.name)")
            guard case .database(let settings) = file.header.content else {
                Issue.record("\(vector.name) holds no database")
                continue
            }
            #expect(settings.format.rawValue == vector.format, "\(vector.name)")
            #expect(settings.pageSize == vector.pageSize, "\(vector.name)")
            #expect(file.header.encoded(fileKey: key) == file.headerBytes, "\(vector.name)")

            let output = try FileReplacement(destination: folder.file("content"), purpose: "archive")
            defer { output.discard() }
            let cipher = ArchiveChunkCipher(fileKey: key, nonce: file.header.payloadNonce)
            let (salt, byteCount) = try file.open(into: output, cipher: cipher)
            let content = try Data(contentsOf: URL(fileURLWithPath: output.temporary))
            #expect(byteCount == vector.contentByteCount, "\(vector.name)")
            #expect(hexadecimal(SHA256.hash(data: content)) == vector.contentSHA256, "\(vector.name)")
            if let text = vector.content { #expect(content == Data(base64Encoded: text), "\(vector.name)") }
            let databaseKey = try key.databaseKey(salt: salt, settings: settings)
            #expect(databaseKey.withKeyBytes { hexadecimal($0) } == vector.databaseKey, "\(vector.name)")
        }
    }

    /// The rest of what a writer does has no freedom: the same content under the same key and nonce
    /// gives the same chunks.
    @Test func theChunksOfEachArchiveAreWrittenAgainByteByByte() throws {
        for vector in vectors.archives {
            let bytes = try #require(Data(base64Encoded: vector.archive))
            let file = try ArchiveFile(write(bytes))
            let key = ArchiveFileKey(
                secret: try KeyringVectorTests.bytes(vector.fileKey)
                    .withUnsafeBytes { try SecretBytes($0) })
            let content = try FileReplacement(destination: folder.file("content"), purpose: "archive")
            defer { content.discard() }
            let cipher = ArchiveChunkCipher(fileKey: key, nonce: file.header.payloadNonce)
            _ = try file.open(into: content, cipher: cipher)
            let path = folder.file("sealed-" + UUID().uuidString)
            let sealed = try FileReplacement(destination: path, purpose: "archive")
            try ArchiveFile.seal(
                content.temporary, header: file.headerBytes, cipher: cipher, path: path,
                to: OutputDescriptor(sealed).write)
            try sealed.moveIntoPlace()
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "\(vector.name)")
        }
    }

    @Test func aStoreIsMadeOfEachArchiveThatTheLibraryCanRead() throws {
        var count = 0
        for vector in vectors.archives {
            let path = try write(#require(Data(base64Encoded: vector.archive)))
            let destination = folder.file("restored-" + UUID().uuidString)
            func restore() throws {
                try StoreArchive.restore(
                    path, to: destination, opening: secret(vector.secret), passphrase: Passphrase("new"))
            }
            guard vector.format == 3 || EngineFeatures.current.supportsFormat4 else {
                let error = #expect(throws: StoreError.self, "\(vector.name)") { try restore() }
                #expect(error?.code == .formatTooNew, "\(vector.name)")
                continue
            }
            try restore()
            let queue = try DatabaseQueue(path: destination, configuration: .keyed("new"))
            let tables = try queue.read {
                try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            #expect(tables == (vector.name.hasPrefix("empty") ? [] : ["note"]), "\(vector.name)")
            count += 1
        }
        #expect(count >= 5)
    }

    @Test func eachRefusedArchiveIsRefusedForItsReason() throws {
        #expect(vectors.refused.count >= 20)
        for refused in vectors.refused {
            let vector = try #require(vectors.archives.first { $0.name == refused.archive })
            var bytes = try #require(Data(base64Encoded: vector.archive))
            if let change = refused.byte {
                #expect(bytes[change[0]] != UInt8(change[1]), "\(refused.name) changes nothing")
                bytes[change[0]] = UInt8(change[1])
            }
            if let count = refused.byteCount { bytes = bytes.prefix(count) }
            if let digits = refused.appended { bytes += KeyringVectorTests.bytes(digits) }
            let path = try write(bytes)
            let error = #expect(throws: StoreError.self, "\(refused.name)") {
                try StoreArchive.verify(path, opening: secret(refused.secret ?? vector.secret))
            }
            #expect(error?.code.rawValue == refused.error, "\(refused.name)")
        }
    }
}
