import Foundation
import Testing

@testable import CipherStore

/// Files that somebody named: they may be anything, such as a store that this process has open.
@Suite struct NamedFileTests {
    #if compiler(>=6.3)
        /// What takes a path and looks for a file of another kind there.
        private static let readers: [@Sendable (String) throws -> Void] = [
            { try StoreArchive.verify($0, opening: ArchiveSecret(Passphrase("a"))) },
            {
                try StoreArchive.restore(
                    $0, to: $0 + ".restored", opening: ArchiveSecret(Passphrase("a")),
                    passphrase: Passphrase("b"))
            },
            { _ = try SealedFileReader.isSealed($0) },
            { _ = try SealedFileReader.kind(of: $0) },
            {
                let kind = SealedFileKind(rawValue: 1)
                _ = try SealedFileReader(path: $0, kind: kind, opening: nil).next()
            },
            {
                _ = try SealedFileReader(
                    path: $0, kind: SealedFileKind(rawValue: 1), opening: ArchiveSecret(Passphrase("a")))
            },
            { _ = try Secret(keyFile: $0) },
            { _ = try ArchiveIdentity(file: $0) },
        ]

        /// Whoever closes a descriptor of a file of its own drops all locks of the process on it.
        @Test(.timeLimit(.minutes(5)))
        func whatIsAskedOfTheFileOfAnOpenStoreTakesNoLockFromIt() async throws {
            let folder = try TemporaryFolder()
            try await ForeignProcess.run(folder) { process in
                let kind = StoreKind(isPool: false, isEncrypted: true)
                let path = folder.file("notes.db")
                let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
                try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
                for (number, read) in Self.readers.enumerated() {
                    try queue.writeWithoutTransaction { db throws in
                        try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
                        // Most of them refuse the file.
                        try? read(path)
                        let problem = #expect(throws: ForeignProcess.Problem.self, "reader \(number)") {
                            try process.execute("INSERT INTO t VALUES (2)", path, kind)
                        }
                        #expect(problem?.description.contains("locked") == true)
                        try db.execute(sql: "COMMIT")
                    }
                }
                try queue.close()
            }
        }
    #endif

    @Test func aNamedFileIsReadAsItIs() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        let content = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try content.write(to: URL(fileURLWithPath: path))
        let source = try NamedFileSource.open(path)
        #expect(source is NamedFileSource)
        #expect(source.byteCount == 1000)
        #expect(try source.peek(upToCount: 16) == content.prefix(16))
        #expect(try source.read(upToCount: 600) == content.prefix(600))
        #expect(try source.read(upToCount: 600) == content.suffix(400))
        #expect(try source.read(upToCount: 1).isEmpty)
        try source.rewind()
        #expect(try source.read(upToCount: 5000) == content)
    }

    @Test func aFileThatIsCutOffWhileItIsReadEndsThere() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        try Data(repeating: 1, count: 1000).write(to: URL(fileURLWithPath: path))
        let source = try NamedFileSource.open(path)
        #expect(try source.read(upToCount: 100).count == 100)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 300)
        try handle.close()
        #expect(try source.read(upToCount: 600) == Data(repeating: 1, count: 200))
        #expect(try source.read(upToCount: 600).isEmpty)
    }

    @Test func whatIsNoFileWithContentIsRefused() throws {
        let folder = try TemporaryFolder()
        let (empty, pipe) = (folder.file("empty"), folder.file("pipe"))
        try Data().write(to: URL(fileURLWithPath: empty))
        try #require(mkfifo(pipe, 0o600) == 0)
        func code(_ path: String) -> StoreError.Code? {
            let error = #expect(throws: StoreError.self) { _ = try NamedFileSource.open(path) }
            return error?.code
        }
        #expect(code(folder.file("none")) == .missing)
        #expect(code(empty) == .empty)
        #expect(code(pipe) == .cannotRead)
        #expect(code(folder.path) == .cannotRead)
    }

    /// Opening a pipe would wait for somebody who writes into it.
    @Test(.timeLimit(.minutes(1)))
    func aKeyFileThatIsAPipeIsRefusedAtOnce() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("key")
        try #require(mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: StoreError.self) { _ = try Secret(keyFile: pipe) }
        #expect(error?.code == .keyFileInvalid)
    }
}
