import Foundation

@testable import CipherStore

extension FuzzTarget {
    /// What `verify` reads without SQLite: the pages of a database, decrypted, or a WAL. The first
    /// byte says which.
    static let pages = FuzzTarget(
        name: "pages", run: PagesFuzzing.run, seeds: { _ in try PagesFuzzing.seeds() },
        words: [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83], [5], [13], [2], [10], [0, 0, 2, 0]])
}

private enum PagesFuzzing {
    static let pageSize = 512
    nonisolated(unsafe) private static let file = MemoryFile("wal")
    private static let key = Result {
        EncryptionKey(
            keyAndSalt: try [UInt8](1...48).withUnsafeBytes { try SecretBytes($0) },
            settings: CipherSettings(format: .version3, pageSize: pageSize))
    }

    static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        if kind & 1 == 0 { owners(bytes) } else { try wal(bytes) }
    }

    private static func owners(_ bytes: [UInt8]) {
        let count = bytes.count / pageSize
        var reads = 0
        let owners = PageOwners(
            read: { number in
                reads += 1
                guard (1...max(1, count)).contains(number), count > 0 else { return nil }
                return Array(bytes[((number - 1) * pageSize)..<(number * pageSize)])
            }, usableByteCount: pageSize - 48, pageCount: count)
        let all = Set(1...max(1, count))
        let trees = (0..<4).map { PageOwners.Tree(table: "t\($0)", root: $0 + 1) }
        let found = owners.owners(of: all, in: trees)
        require(Set(found.keys).isSubset(of: all), "only pages that were asked for have owners")
        require(reads <= 2 * count + 4, "each page is read once for the trees and once for the free list")
    }

    private static func wal(_ bytes: [UInt8]) throws {
        file.replace(with: bytes)
        let wal = try WALFile(
            path: file.path, authenticator: PageAuthenticator(key: key.get()), pageSize: pageSize)
        let frames = max(0, bytes.count - 32) / (pageSize + 24)
        require(wal.frameCount <= frames, "a WAL has the frames that its size allows")
        require((wal.pageCount == nil) == (wal.frameCount == 0), "a commit says how many pages there are")
        for (number, offset) in wal.offsets {
            require(offset + pageSize <= bytes.count, "a frame is in the file")
            require(wal.page(number) == Array(bytes[offset..<(offset + pageSize)]), "it can be read")
        }
    }

    /// The pages of a database and a WAL, which SQLite writes.
    static func seeds() throws -> [[UInt8]] {
        let path = FileManager.default.temporaryDirectory.path + "/cipherstore-fuzz-\(getpid()).db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = 512;
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
                    CREATE INDEX i ON t(a);
                    INSERT INTO t VALUES (1, hex(zeroblob(900))), (2, 'b'), (3, hex(zeroblob(200)));
                    INSERT INTO t SELECT id + 3, a FROM t;
                    DELETE FROM t WHERE id = 4;
                    """)
        }
        let database = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; UPDATE t SET a = 'c' WHERE id < 3")
        }
        let wal = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
        try queue.close()
        return [[0] + database, [1] + wal]
    }
}
