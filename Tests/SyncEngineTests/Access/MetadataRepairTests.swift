import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What peers planted before there were bounds on it is named, and taken out with everything else kept.
@Suite struct MetadataRepairTests {
    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) }.map(\.message)
    }

    /// Plants something in a hub with a row, shows that it is named, repairs it, and shows that all go on.
    private func expectHealed(_ plant: String, names word: String, refuses: Bool = true) throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope, x, y) VALUES (?, 'a', 1, 2)", [itemKey(1)])
        let other = try stores.clone(hub, as: "other.db")
        try hub.execute("UPDATE item SET x = 3")
        _ = try hub.peer.greet()
        try hub.queue.write { db in try db.execute(sql: plant) }
        let named = try problems(hub)
        #expect(named.contains { $0.contains(word) }, "\(named)")
        if refuses {
            let frames = try? hub.everythingAsBundle()
            #expect(throws: (any Error).self) {
                guard let frames else { throw SyncError(.damagedMetadata, "not even made") }
                _ = try other.take(frames, within: nil)
            }
        }
        let report = try hub.synchronizer.repairMetadata()
        #expect(!report.isEmpty)
        #expect(try problems(hub) == [])
        #expect(try hub.synchronizer.repairMetadata().isEmpty)
        try hub.sync(other)
        try other.execute("UPDATE item SET y = 7")
        try hub.sync(other)
        #expect(try hub.dump(["item"]) == other.dump(["item"]))
        #expect(try hub.value("SELECT x + y FROM item", as: Int.self) == 10)
        try expectHealthy([hub, other])
    }

    @Test func stampsOfTheFarFuture() throws {
        try expectHealed("UPDATE _sync_row SET hlc = 9223372036854775807", names: "4199")
        try expectHealed("UPDATE _sync_cell SET hlc = 9223372032559808511", names: "4199")
    }

    @Test func stampsThatNoChangeCanHave() throws {
        try expectHealed("UPDATE _sync_cell SET hlc = -7, oseq = -5", names: "below")
        try expectHealed("UPDATE _sync_row SET oseq = 0", names: "below", refuses: false)
    }

    @Test func livesThatNoRowReaches() throws {
        try expectHealed("UPDATE _sync_row SET cl = 9223372036854775807", names: "life")
    }

    @Test(arguments: ["hlc = 9223372036854775807", "cl = 9223372036854775807"])
    func rowsThatWaitKeepTheirValues(_ planted: String) throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE tag (id BLOB PRIMARY KEY, name UNIQUE, n INTEGER DEFAULT 0)"
        let hub = try stores.create(schema: schema, tables: ["tag"])
        try hub.synchronizer.setPolicies([.counter("tag", "n")])
        let other = try stores.clone(hub, as: "other.db")
        try hub.execute("INSERT INTO tag VALUES (?, 'x', 1)", [key(1)])
        try other.execute("INSERT INTO tag VALUES (?, 'x', 5)", [key(2)])
        try hub.sync(other)
        #expect(try hub.synchronizer.parkedRows().map(\.key) == [key(2).databaseValue])
        try hub.queue.write { try $0.execute(sql: "UPDATE _sync_row SET \(planted) WHERE pk = \(k(2))") }
        #expect(try hub.synchronizer.repairMetadata().rowCount == 1)
        #expect(try problems(hub) == [])
        #expect(try hub.synchronizer.parkedRows().map(\.reason) == [.unique])
        #expect(try hub.conflicts() == [])
        try hub.sync(other)
        try hub.execute("DELETE FROM tag")
        try hub.sync(other)
        for replica in [hub, other] {
            #expect(try replica.value("SELECT name || n FROM tag WHERE id = \(k(2))") == "x5")
        }
        try other.execute("UPDATE tag SET n = n + 2")
        try hub.sync(other)
        #expect(try hub.value("SELECT n FROM tag", as: Int.self) == 7)
        try expectHealthy([hub, other])
    }

    @Test func whatOthersWroteOtherwiseThanTheTableShowsItStays() throws {
        let stores = try TestStores()
        let hub = try stores.create(
            schema: "CREATE TABLE s (id BLOB PRIMARY KEY, v INTEGER)", tables: ["s"])
        let author = try stores.clone(hub, as: "author.db")
        try author.changeUnobserved("DROP TABLE s; CREATE TABLE s (id BLOB PRIMARY KEY, v TEXT)")
        try author.synchronizer.track(["s"])
        try author.execute("INSERT INTO s VALUES (?, '5')", [key(1)])
        try hub.sync(author)
        #expect(try hub.value("SELECT typeof(v) FROM s", as: String.self) == "integer")
        let far = "SET hlc = 9223372036854775807"
        try hub.queue.write {
            try $0.execute(sql: "UPDATE _sync_row \(far); UPDATE _sync_original \(far)")
        }
        #expect(try hub.synchronizer.repairMetadata().rowCount == 1)
        let original = "SELECT typeof(o.val) FROM _sync_original AS o JOIN _sync_row AS r ON r.r = o.r"
        #expect(try hub.value(original + " AND r.hlc = o.hlc AND r.sid = o.sid", as: String.self) == "text")
        try expectHealthy([hub])
    }

    @Test func numbersThatNoReplicaReaches() throws {
        try expectHealed(
            """
            INSERT INTO _sync_replica (rid, oseq) VALUES (x'00112233445566778899aabbccddeeff', 9223372036854775807)
            """, names: "_sync_replica")
        try expectHealed(
            "INSERT INTO _sync_floor (sid, oseq) VALUES (1, 9223372036854775807)", names: "_sync_floor",
            refuses: false)
    }

    @Test func retirementsOfTheFarFuture() throws {
        try expectHealed(
            """
            INSERT INTO _sync_replica (rid) VALUES (x'00112233445566778899aabbccddeeff');
            INSERT INTO _sync_retired (sid, at, reason) SELECT max(sid), 95617584000000, 1 FROM _sync_replica;
            """, names: "retired after the year 4199")
    }

    @Test func replicasThatSomebodyInvented() throws {
        try expectHealed(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO _sync_replica (rid) SELECT CAST(printf('%016d', i) AS BLOB) FROM n;
            INSERT INTO _sync_known (sid, origin, oseq) SELECT 1, sid, 1 FROM _sync_replica WHERE sid > 2;
            """, names: "20000 replicas", refuses: false)
    }

    @Test func tablesAndColumnsThatSomebodyInvented() throws {
        try expectHealed(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11000)
            INSERT INTO _sync_table (name, key, tracked) SELECT 't' || i, 'id', 0 FROM n;
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO _sync_column (tbl, col, name, present) SELECT 1, i, 'c' || i, 0 FROM n;
            """, names: "columns", refuses: false)
    }

    @Test func policiesThatSomebodyInvented() throws {
        try expectHealed(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
            INSERT INTO _sync_column (tbl, col, name, present)
            SELECT t.tbl, i, hex(zeroblob(800)) || i, 0 FROM n, _sync_table AS t WHERE t.name = 'item';
            INSERT INTO _sync_policy (tbl, col, kind, name, hlc, rid)
            SELECT tbl, col, 'max', '', 5, zeroblob(16) FROM _sync_column WHERE col >= 100;
            """, names: "columns and policies", refuses: false)
    }

    /// A newer app has declared it, and an update here can bring the column before anybody has written to it.
    @Test func aPolicyOfAColumnWithoutValuesStays() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO _sync_column (tbl, col, name, present)
                    SELECT tbl, 100, 'stars', 0 FROM _sync_table WHERE name = 'item';
                    INSERT INTO _sync_column (tbl, col, name, present)
                    SELECT tbl, 101, 'plain', 0 FROM _sync_table WHERE name = 'item';
                    INSERT INTO _sync_policy (tbl, col, kind, name, hlc, rid)
                    SELECT tbl, 100, 'counter', '', 5, zeroblob(16) FROM _sync_table WHERE name = 'item';
                    """)
        }
        #expect(try hub.synchronizer.compact().repair.nameCount == 1)
        #expect(try hub.value("SELECT group_concat(name) FROM _sync_column WHERE col >= 100") == "stars")
        #expect(try hub.synchronizer.policies() == [.counter("item", "stars")])
        #expect(try hub.synchronizer.repairMetadata().isEmpty)
    }

    @Test func otherNamesThatSomebodyInvented() throws {
        try expectHealed(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            INSERT INTO _sync_alias (tbl, col, name) SELECT t.tbl, 1, 'n' || i FROM n, _sync_table AS t
            WHERE t.name = 'item';
            """, names: "other names", refuses: false)
    }

    /// Columns have affinities and not types: any program can write a word where a number belongs.
    @Test func aWordWhereANumberBelongsIsAnErrorWithAName() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope, x, y) VALUES (?, 'a', 1, 2)", [itemKey(1)])
        try hub.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = 'soon'") }
        #expect(try problems(hub) == ["1 of _sync_log's entries have a ms that is no number"])
        #expect(throws: SyncError.self) { _ = try hub.peer.greet() }
        #expect(try hub.synchronizer.repairMetadata().claimCount == 1)
        _ = try hub.peer.greet()
        try expectHealthy([hub])
    }

    /// New columns are counted from the last one, and overflowing would end the program.
    @Test func theLastNumberOfAllOfAColumnIsAnError() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO _sync_column (tbl, col, name, present)
                    SELECT tbl, 9223372036854775807, 'far', 0 FROM _sync_table WHERE name = 'item'
                    """)
        }
        func addColumn(_ db: Database) throws {
            let item = try #require(SyncedTable.loadAll(db).first { $0.name == "item" })
            _ = try item.addingColumns(db, ["z"], place: .elsewhere)
        }
        #expect(throws: SyncError.self) { try hub.queue.write(addColumn) }
        #expect(try hub.synchronizer.repairMetadata().nameCount == 1)
        try hub.queue.write(addColumn)
        try expectHealthy([hub])
    }

    /// What other programs may write into the metadata overflows no arithmetic.
    @Test(arguments: [
        "UPDATE _sync_state SET folded = 9223372036854775807",
        "UPDATE _sync_state SET folded = -9223372036854775808",
        "INSERT INTO _sync_setting (name, value) VALUES ('history.count', 9223372036854775807)",
        "INSERT INTO _sync_setting (name, value) VALUES ('history.count', -9223372036854775808)",
        "INSERT INTO _sync_setting (name, value) VALUES ('history.milliseconds', -9223372036854775808)",
    ])
    func numbersAtTheEndsOfTheirRangeEndNoProgram(sql: String) throws {
        let stores = try TestStores()
        let hub = try stores.create()
        try hub.queue.write { try $0.execute(sql: sql) }
        try hub.insert(1, "x")
        do {
            try hub.synchronizer.compact()
        } catch is SyncError {
            // Whatever it is called, it is no trap.
        }
    }

    @Test(arguments: [
        "_sync_replica SET oseq = 'x'", "_sync_table SET tracked = 'x'", "_sync_column SET present = 'x'",
    ])
    func damagedMetadataAreNamedAndNotCrashedOn(change: String) throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.queue.write { try $0.execute(sql: "UPDATE \(change)") }
        #expect(try !problems(hub).isEmpty)
        #expect(throws: (any Error).self) { _ = try hub.peer.greet() }
    }
}
