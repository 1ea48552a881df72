import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// The versions that local writes of counters get.
@Suite struct CounterStampTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private struct Version: Equatable {
        let timestamp, sequence: Int64
    }

    private func fold(_ replica: TestReplica) throws {
        let environment = stores.clock.environment
        try replica.queue.write { _ = try FoldedStore.fold($0, environment) }
    }

    private func versions(_ replica: TestReplica, _ sql: String) throws -> [Version] {
        try replica.queue.read { db in
            try Row.fetchAll(db, sql: sql).map {
                Version(timestamp: try $0.decode(atIndex: 0), sequence: try $0.decode(atIndex: 1))
            }
        }
    }

    /// The versions of shares, by row.
    private func shares(_ replica: TestReplica) throws -> [Version] {
        try versions(
            replica,
            """
            SELECT c.hlc, c.oseq FROM _sync_cell AS c JOIN _sync_row AS r ON r.r = c.r
            JOIN _sync_share AS h ON h.tbl = r.tbl AND h.col = c.col
            WHERE c.sid = (SELECT self FROM _sync_state) ORDER BY r.pk
            """)
    }

    private func replica() throws -> TestReplica {
        let replica = try stores.create()
        try replica.synchronizer.setPolicies([.counter("note", "stars")])
        for number in 1...3 as ClosedRange<UInt8> {
            try replica.execute("INSERT INTO note (id, title, stars) VALUES (?, 'n', 5)", [key(number)])
        }
        try fold(replica)
        return replica
    }

    @Test func eachRowHasTheTimeAndTheNumberOfItsLastWrite() throws {
        let a = try replica()
        let start = try #require(try a.value("SELECT folded FROM _sync_state", as: Int64.self))
        for number in [2, 1, 3, 1] as [UInt8] {
            try a.execute("UPDATE note SET stars = stars + 1 WHERE id = ?", [key(number)])
        }
        let written = try versions(
            a, "SELECT max(ms) << 16, max(seq) FROM _sync_log WHERE seq > \(start) GROUP BY pk ORDER BY pk")
        try fold(a)
        #expect(written.count == 3)
        #expect(try shares(a) == written)
        #expect(
            try a.value("SELECT group_concat(stars) FROM (SELECT stars FROM note ORDER BY id)") == "7,6,6")
        #expect(try a.problems() == [])
    }

    @Test func aWriteByAClockThatWasSetBackIsAboveTheOneBefore() throws {
        let a = try replica()
        try a.execute("UPDATE note SET stars = stars + 1")
        try fold(a)
        let before = try shares(a)
        try a.execute("UPDATE note SET stars = stars + 1")
        try a.queue.write {
            try $0.execute(
                sql: "UPDATE _sync_log SET ms = 1 WHERE seq > (SELECT folded FROM _sync_state)")
        }
        try fold(a)
        let after = try shares(a)
        #expect(before.count == 3 && after.count == 3)
        for (old, new) in zip(before, after) {
            #expect(new.timestamp > old.timestamp && new.sequence > old.sequence)
        }
        #expect(try a.problems() == [])
    }
}
