import Foundation

@testable import CipherStore

extension FuzzTarget {
    /// An archive. The first byte says whether it is read as it is, or its head gets the MAC of a
    /// key that the reader knows, and what follows the head says which chunks are sealed after it.
    static let archive = FuzzTarget(
        name: "archive", run: ArchiveFuzzing.run, seeds: ArchiveFuzzing.seeds,
        words: [ArchiveHeader.magic + [1, 0], [14, 8, 1], [22, 8, 1], [0, 3, 9], [0, 1, 0, 1]])
}

private enum ArchiveFuzzing {
    private static let fileKey = Result {
        ArchiveFileKey(secret: try [UInt8](1...32).withUnsafeBytes { try SecretBytes($0) })
    }
    private static let identity = Result {
        ArchiveIdentity(secret: try [UInt8](33...64).withUnsafeBytes { try SecretBytes($0) })
    }
    nonisolated(unsafe) private static let file = MemoryFile("archive")
    nonisolated(unsafe) private static let output = MemoryFile("archive-output")

    static func run(_ input: [UInt8]) throws {
        guard let mode = input.first else { return }
        let bytes = Array(input.dropFirst())
        if mode & 1 == 0 { return try open(bytes) }
        guard let (header, count) = try parsed(bytes) else { return }
        let fileKey = try fileKey.get()
        let head = header.encoded(fileKey: fileKey)
        let content = count - ArchiveHeader.macByteCount
        require(
            Array(head.prefix(content)) == Array(bytes.prefix(content)), "there is one way to write a head")
        try ArchiveHeader.verify(head, fileKey: fileKey, path: "x")
        guard case .database(let settings) = header.content else { return }
        var chunks = ChunkScript(header, fileKey)
        try chunks.seal(bytes.dropFirst(count))
        file.replace(with: head + chunks.bytes)
        let opened = try opened(header, fileKey)
        let isWhole =
            chunks.isSound && chunks.content.count >= CipherSettings.saltByteCount
            && chunks.content.count.isMultiple(of: settings.pageSize)
        require((opened != nil) == isWhole, "an archive opens when its chunks are those that were sealed")
        if let opened { require(opened == Data(chunks.content), "what comes out is what went in") }
    }

    private static func parsed(_ bytes: [UInt8]) throws -> (ArchiveHeader, byteCount: Int)? {
        do {
            return try ArchiveHeader.parse(Array(bytes.prefix(ArchiveHeader.byteCountMax)), path: "x")
        } catch let error as StoreError where [.archiveDamaged, .formatTooNew].contains(error.code) {
            return nil
        }
    }

    /// Opens a file that nobody has made.
    private static func open(_ bytes: [UInt8]) throws {
        file.replace(with: bytes)
        do {
            let archive = try ArchiveFile(file.path)
            let stanza = archive.header.stanza
            var secret = ArchiveSecret(try identity.get())
            if case .passphrase(let cost, _, _) = stanza, cost.logN > ScryptCost.minimum.logN {
                secret = ArchiveSecret(try Passphrase("correct horse"))
            }
            let fileKey = try stanza.unlock(with: secret, limit: .minimum, path: "x")
            // The seeds have heads for this identity, but no chunks.
            try ArchiveHeader.verify(archive.headerBytes, fileKey: fileKey, path: "x")
            guard try opened(archive.header, fileKey) != nil else { return }
            fatalError("broken promise: nobody has made this archive")
        } catch let error as StoreError {
            require(
                [
                    .empty, .archiveDamaged, .formatTooNew, .wrongPassphrase, .encryptionMismatch,
                    .costOutOfRange,
                ].contains(error.code), "the right error: \(error)")
        }
    }

    private static func opened(_ header: ArchiveHeader, _ fileKey: ArchiveFileKey) throws -> Data? {
        do {
            let archive = try ArchiveFile(file.path)
            require(archive.header == header, "the head is read as it was written")
            let into = try FileReplacement(destination: output.path, purpose: "fuzz")
            defer { into.discard() }
            let cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: header.payloadNonce)
            let (salt, count) = try archive.open(into: into, cipher: cipher)
            let data = try Data(contentsOf: URL(fileURLWithPath: into.temporary))
            require(data.count == count && data.starts(with: salt), "the size and the salt are right")
            return data
        } catch let error as StoreError where error.code == .archiveDamaged {
            return nil
        }
    }

    /// Chunks that are sealed as bytes say: four for each.
    private struct ChunkScript {
        private(set) var bytes: [UInt8] = []
        /// The content of all chunks.
        private(set) var content: [UInt8] = []
        /// Whether these are the chunks that a writer would make of the content.
        private(set) var isSound = false

        private let fileKey: ArchiveFileKey
        private let nonce: [UInt8]

        init(_ header: ArchiveHeader, _ fileKey: ArchiveFileKey) {
            self.fileKey = fileKey
            nonce = header.payloadNonce
        }

        /// - parameter script: The chunk's number less its place, its size in half kilobytes (255: a
        ///   full one), whether it is marked as the last, and how it is damaged.
        mutating func seal(_ script: ArraySlice<UInt8>) throws {
            let script = Array(script.prefix(32))
            let count = script.count / 4
            isSound = count > 0
            for place in 0..<count {
                let step = Array(script[(place * 4)..<(place * 4 + 4)])
                let number = place + Int(step[0] & 3)
                let size = step[1] == 255 ? ArchiveChunkCipher.chunkByteCount : Int(step[1]) * 512
                let isLast = step[2] & 1 == 1
                var cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: nonce)
                for _ in 0..<number { _ = try cipher.seal(Data(), isLast: false) }
                let chunk = Data(repeating: UInt8(truncatingIfNeeded: place), count: size)
                var sealed = [UInt8](try cipher.seal(chunk, isLast: isLast))
                let isEnd = place == count - 1
                if number != place || size == 0 || isLast != isEnd { isSound = false }
                if size > ArchiveChunkCipher.chunkByteCount { isSound = false }
                if !isLast, size != ArchiveChunkCipher.chunkByteCount { isSound = false }
                switch step[3] & 3 {
                case 1:
                    sealed[Int(step[3] >> 2) * sealed.count / 64] ^= 1
                    isSound = false
                case 2:
                    sealed.removeLast()
                    isSound = false
                case 3:
                    sealed.append(0)
                    isSound = false
                default: break
                }
                bytes += sealed
                content += chunk
            }
        }
    }

    static func seeds(_ schemas: String) throws -> [[UInt8]] {
        let fileKey = try fileKey.get()
        let locks = [
            ArchiveLock(passphrase: try Passphrase("secret"), cost: .minimum),
            ArchiveLock(recipient: try identity.get().recipient),
        ]
        let scripts: [[UInt8]] = [
            [0, 2, 1, 0], [0, 255, 0, 0, 0, 2, 1, 0], [0, 255, 0, 0, 1, 255, 1, 0], [0, 2, 1, 1],
        ]
        return try locks.flatMap { lock in
            let header = ArchiveHeader(
                stanza: try .lock(fileKey, for: lock),
                content: .database(CipherSettings(format: .version3, pageSize: 1024)),
                createdMilliseconds: 1_700_000_000_000, payloadNonce: [UInt8](repeating: 7, count: 16))
            let head = header.encoded(fileKey: fileKey)
            let raw: [UInt8] = [0] + head + [UInt8](repeating: 0, count: 100)
            return [raw] + scripts.map { script -> [UInt8] in [1] + head + script }
        }
    }
}
