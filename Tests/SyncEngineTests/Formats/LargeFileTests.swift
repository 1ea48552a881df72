import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Stores of over a gibibyte. SQLite never writes the page at that place, so it has no code that authenticates it.
///
/// <https://www.sqlite.org/fileformat2.html#the_lock_byte_page>
@Suite(.enabled(if: Campaign.isNightly, "each store takes 1.2 GB of the disk")) struct LargeFileTests {
    private static let gibibyte = 1 << 30

    @Test func rowsBeyondTheLockPageAreSynchronizedCheckedAndKept() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE filler (data BLOB)")
            for _ in 0..<2 { try db.execute(sql: "INSERT INTO filler VALUES (zeroblob(560000000))") }
        }
        for number in 1...200 as ClosedRange<UInt8> { try a.insert(number, "row \(number)") }
        let b = try stores.clone(a, as: "b.db")
        try b.execute("UPDATE note SET body = 'of b' WHERE rowid % 3 = 0")
        try a.execute("UPDATE note SET stars = 5 WHERE rowid % 2 = 0")
        try a.execute("DELETE FROM note WHERE rowid % 7 = 0")
        try a.meet(b)
        try expectEqual([a, b])
        try check(a, b)

        try a.queue.changePassphrase("another one")
        try a.insert(201, "after")
        try a.meet(b)
        try expectEqual([a, b])
        try check(a, b)

        // Room within the file, and then a file without it.
        try a.execute("DELETE FROM filler")
        try a.queue.vacuum()
        try a.insert(202, "after all")
        try a.meet(b)
        try expectEqual([a, b])
        #expect(try a.problems() == [])
    }

    private func check(_ replicas: TestReplica...) throws {
        for replica in replicas {
            try replica.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            let size = try FileManager.default.attributesOfItem(atPath: replica.stores.path(replica.name))[
                .size]
            #expect((size as? Int ?? 0) > Self.gibibyte)
            #expect(try replica.problems() == [])
            #expect(try replica.value("PRAGMA integrity_check", as: String.self) == "ok")
        }
    }
}
