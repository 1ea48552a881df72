import CipherStore
import Foundation
import Testing

@testable import SyncEngine

@Suite struct MetadataCheckTests {
    let stores: TestStores
    let replica: TestReplica

    init() throws {
        stores = try TestStores()
        replica = try stores.create()
        for number in 1...5 {
            try replica.execute(
                "INSERT INTO note (id, title) VALUES (?, ?)", [key(UInt8(number)), "t\(number)"])
        }
    }

    private func problems(_ replica: TestReplica? = nil, isDeep: Bool = true) throws -> [String] {
        try (replica ?? self.replica).queue.read {
            try MetadataCheck.problems(of: $0, isDeep: isDeep).map(\.message)
        }
    }

    /// Changes the metadata as nobody should.
    private func damage(_ sql: String) throws {
        try replica.queue.write { try $0.execute(sql: sql) }
    }

    @Test func storesInUseAreSound() throws {
        #expect(try problems() == [])
        let other = try stores.clone(replica, as: "b.db")
        #expect(try problems(other) == [])
        try replica.execute("UPDATE note SET title = 'x' WHERE id = ?", [key(1)])
        try other.execute("DELETE FROM note WHERE id = ?", [key(2)])
        try other.execute("INSERT INTO tag VALUES ('00000000-0000-0000-0000-000000000001', 'a')")
        try replica.execute("INSERT INTO tag VALUES ('00000000-0000-0000-0000-000000000002', 'a')")
        #expect(try problems() == [])
        #expect(try problems(other) == [])
        try replica.sync(other)
        #expect(try problems() == [])
        #expect(try problems(other) == [])
        // Rows that wait, and a schema that was changed since.
        try replica.queue.write { try $0.execute(sql: "ALTER TABLE note ADD COLUMN more TEXT DEFAULT 'd'") }
        #expect(try problems() == [])
        try replica.sync(other)
        #expect(try problems() == [])
        #expect(try problems(other) == [])
    }

    @Test func aDatabaseWithoutMetadataHasNoProblems() throws {
        let queue = try DatabaseQueue()
        #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
    }

    @Test(arguments: [
        ("DROP TRIGGER _sync_u0_1", "trigger _sync_u0_1 of table note is missing"),
        (
            "DROP TRIGGER _sync_i_1; CREATE TRIGGER _sync_i_1 AFTER INSERT ON note BEGIN SELECT 1; END",
            "trigger _sync_i_1 of table note was changed"
        ),
        (
            "CREATE TRIGGER _sync_i_9 AFTER INSERT ON note BEGIN SELECT 1; END",
            "table note has a trigger _sync_i_9 and is not tracked"
        ),
        ("DROP TRIGGER _sync_log_guard", "_sync_log_guard is missing in the sync metadata"),
        ("DROP INDEX _sync_row_feed", "_sync_row_feed is missing in the sync metadata"),
        ("DROP TABLE _sync_peer", "_sync_peer is missing in the sync metadata"),
        (
            "UPDATE _sync_state SET applying = 1",
            "changes are not tracked: the mark of a synchronization stayed"
        ),
        ("UPDATE _sync_state SET self = 99", "the sync metadata does not name this replica"),
        (
            "DROP TRIGGER _sync_log_guard; DELETE FROM _sync_log WHERE seq > 2;"
                + "CREATE TRIGGER _sync_log_guard BEFORE DELETE ON _sync_log WHEN 0 BEGIN SELECT 1; END",
            "_sync_log_guard of the sync metadata was changed"
        ),
    ]) func damageIsFoundWithoutLookingAtRows(sql: String, message: String) throws {
        try replica.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        try damage(sql)
        #expect(try problems(isDeep: false).contains(message))
    }

    @Test func numbersThatCannotBeAreFound() throws {
        try replica.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        try damage("UPDATE _sync_row SET oseq = 1000 WHERE r = 1")
        #expect(try problems(isDeep: false).count == 1)
        try damage("UPDATE _sync_row SET oseq = 1 WHERE r = 1; UPDATE _sync_state SET folded = 1000")
        #expect(try problems(isDeep: false).count == 1)
        try damage("UPDATE _sync_state SET folded = 1")
        #expect(try problems(isDeep: false).count == 1)
    }

    @Test(arguments: [
        ("INSERT INTO _sync_cell VALUES (999, 0, 1, 1, 1)", "_sync_cell has 1 entries of unknown rows"),
        ("INSERT INTO _sync_cell VALUES (1, 77, 1, 1, 1)", "_sync_cell has 1 entries of unknown columns"),
        ("UPDATE _sync_row SET sid = 7 WHERE r = 1", "_sync_row has 1 entries of unknown replicas"),
        ("UPDATE _sync_row SET tbl = 7 WHERE r = 1", "_sync_row has 1 entries of unknown tables"),
        (
            "INSERT INTO _sync_shadow VALUES (1, x'ff', 0, 'v', 'why')",
            "_sync_shadow has 1 entries of unknown rows"
        ),
        (
            "UPDATE _sync_state SET applying = 1; DELETE FROM note WHERE id = (SELECT id FROM note LIMIT 1);"
                + "UPDATE _sync_state SET applying = 0", "1 rows of table note went without being tracked"
        ),
        (
            "UPDATE _sync_state SET applying = 1; INSERT INTO note (id) VALUES (x'00112233445566778899aabbccddeeff');"
                + "UPDATE _sync_state SET applying = 0", "1 rows of table note came without being tracked"
        ),
    ]) func rowsAndTheirVersionsMustAgree(sql: String, message: String) throws {
        try replica.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        #expect(try problems() == [])
        try damage(sql)
        #expect(try problems().contains(message))
    }
}
