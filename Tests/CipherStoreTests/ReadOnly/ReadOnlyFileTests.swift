import Foundation
import Testing

@testable import CipherStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that can't be written. Modes mean nothing to root, so tests of them run for others only.
@Suite struct ReadOnlyFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("a.db") }

    init() throws {
        folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
    }

    private static var isRoot: Bool { geteuid() == 0 }

    private func configuration(readonly: Bool = true) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("secret") }
        configuration.readonly = readonly
        configuration.journalMode = readonly ? .default : .wal
        return configuration
    }

    private func value(_ reader: some DatabaseReader) throws -> Int? {
        try reader.read { try Int.fetchOne($0, sql: "SELECT max(a) FROM t") }
    }

    private func immutable() throws -> Database {
        try Database(
            path: path, configuration: configuration(), keyCache: KeyCache(),
            mode: try #require(OpeningMode.immutable(path)))
    }

    @Test func aFileThatCanBeWrittenIsOpenedAsSQLiteDoes() throws {
        #expect(try OpeningMode.choose(path, readonly: true) == .ordinary)
        #expect(try OpeningMode.choose(path, readonly: false) == .ordinary)
    }

    @Test func aFileThatIsReadAsItIsLeavesNothingBesideIt() throws {
        let db = try immutable()
        defer { db.dispose() }
        #expect(try db.readSnapshot { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try folder.contents() == ["a.db"])
    }

    @Test(arguments: ["a b?c#d%41.db", "über.db", "-x&y=1.db"]) func anyNameIsReadAsItIs(name: String) throws
    {
        try FileManager.default.copyItem(atPath: path, toPath: folder.file(name))
        let db = try Database(
            path: folder.file(name), configuration: configuration(), keyCache: KeyCache(),
            mode: try #require(OpeningMode.immutable(folder.file(name))))
        defer { db.dispose() }
        #expect(try db.readSnapshot { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test func aReadDuringWhichSomebodyWroteFails() throws {
        let db = try immutable()
        defer { db.dispose() }
        let writer = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
        try writer.write {
            try $0.execute(sql: "CREATE TABLE more AS SELECT randomblob(100000) AS b; UPDATE t SET a = 2")
        }
        try writer.close()
        let error = #expect(throws: DatabaseError.self) {
            try db.readSnapshot { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        }
        #expect(error?.storeError?.code == .busy)
    }

    @Test func whatIsNotInTheFileIsNotLeftOut() throws {
        let writer = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
        try writer.write { try $0.execute(sql: "UPDATE t SET a = 2") }
        #expect(OpeningMode.immutable(path) == nil)
        try writer.close()
        #expect(OpeningMode.immutable(path) != nil)
    }

    @Test(.enabled(if: !isRoot)) func aFileOfMode0400IsReadAndLocksNobodyOut() throws {
        chmod(path, 0o400)
        for readonly in [true, false] {
            let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: readonly))
            #expect(try value(queue) == 1)
            #expect(try folder.contents() == ["a.db"])
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { try $0.execute(sql: "UPDATE t SET a = 3") }
            }
            #expect(error?.resultCode == .SQLITE_READONLY)
            try queue.close()
        }
        chmod(path, 0o600)
        let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
        try queue.write { try $0.execute(sql: "UPDATE t SET a = 3") }
        #expect(try value(queue) == 3)
    }

    @Test(.enabled(if: !isRoot)) func aFolderThatCannotBeWrittenIsRead() throws {
        chmod(folder.path, 0o500)
        defer { chmod(folder.path, 0o700) }
        #expect(try value(DatabaseQueue(path: path, configuration: configuration())) == 1)
        #expect(try value(DatabasePool(path: path, configuration: configuration())) == 1)
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: true)
        #expect(report.isSound)
    }

    @Test(.enabled(if: !isRoot)) func aFileOutOfReachIsNoDamage() throws {
        chmod(path, 0)
        defer { chmod(path, 0o600) }
        let error = #expect(throws: (any Error).self) {
            try StoreCheck.run(path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false)
        }
        #expect(error.flatMap { StoreError($0) }?.code == .cannotRead)
    }
}
