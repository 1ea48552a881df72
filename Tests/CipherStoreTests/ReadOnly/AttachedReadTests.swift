import Foundation
import Testing

@testable import CipherStore

/// A read of attached files is checked as one of the main file.
@Suite struct AttachedReadTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    private var other: String { folder.file("b.db") }

    /// Makes a store whose last page is the end of a large value.
    private func makeOther() throws {
        let queue = try DatabaseQueue(path: other, configuration: .keyed("other"))
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE small (a); INSERT INTO small VALUES (1); CREATE TABLE large (a)")
            try db.execute(
                sql: "INSERT INTO large VALUES (?)", arguments: [Data(repeating: 7, count: 40_000)])
        }
        try queue.close()
    }

    private func damage() throws {
        let file = try #require(FileHandle(forUpdatingAtPath: other))
        try file.seek(toOffset: file.seekToEnd() - 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 100))
        try file.close()
    }

    private func makeQueue(attaching name: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try attach(name, to: queue)
        return queue
    }

    private func attach(_ name: String, to queue: DatabaseQueue) throws {
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: "ATTACH ? AS \(name.quotedDatabaseIdentifier) KEY ?", arguments: [other, "other"])
        }
    }

    private func number(_ queue: DatabaseQueue, _ sql: String) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: sql) }
    }

    private func expectDamage(_ queue: DatabaseQueue, _ name: String) {
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { db in
                try Data.fetchOne(db, sql: "SELECT a FROM \(name.quotedDatabaseIdentifier).large")
            }
        }
        #expect(error?.storeError?.code == .damaged || error?.resultCode == .SQLITE_CORRUPT)
    }

    @Test(arguments: ["other", #"of "him""#]) func aDamagedPageOfAnAttachedFileIsNoticed(name: String) throws
    {
        try makeOther()
        let queue = try makeQueue(attaching: name)
        for _ in 0..<2 {
            #expect(try number(queue, "SELECT a FROM t") == 1)
            #expect(try number(queue, "SELECT a FROM small") == 1)
        }
        try damage()
        for _ in 0..<2 {
            expectDamage(queue, name)
            #expect(try number(queue, "SELECT a FROM t") == 1)
        }
        try queue.close()
    }

    @Test func aFileThatIsAttachedAfterReadsIsCheckedAndDetachedAgain() throws {
        try makeOther()
        try damage()
        let queue = try makeQueue(attaching: "first")
        expectDamage(queue, "first")
        try queue.writeWithoutTransaction { try $0.execute(sql: "DETACH first") }
        #expect(try number(queue, "SELECT a FROM t") == 1)
        try attach("second", to: queue)
        expectDamage(queue, "second")
        try queue.close()
    }

    @Test func anAttachedFileThatSomebodyWritesStopsNoReadOfAnother() throws {
        try makeOther()
        let queue = try makeQueue(attaching: "other")
        let writer = try DatabaseQueue(path: other, configuration: .keyed("other"))
        try writer.writeWithoutTransaction { db in
            try db.inTransaction(.exclusive) {
                let value = try number(queue, "SELECT a FROM t")
                #expect(value == 1)
                return .rollback
            }
        }
        #expect(try number(queue, "SELECT a FROM other.small") == 1)
        try writer.close()
        try queue.close()
    }

    @Test func whereNothingIsAttachedTheMainFileIsCheckedOnly() throws {
        try makeOther()
        let queue = try makeQueue(attaching: "other")
        func checks() throws -> [String] {
            try queue.read { try $0.readStatements.attachedChecks.current(on: $0).map(\.schema) }
        }
        let attached = try checks()
        #expect(attached == ["other"])
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "DETACH other; CREATE TEMPORARY TABLE passing (a)")
        }
        let none = try checks()
        #expect(none.isEmpty)
        try queue.close()
    }
}
