import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables whose keys have types of each affinity, which decide how SQLite compares them with the keys of the metadata.
@Suite struct KeyTypeTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let types = [
        "BLOB", "TEXT", "UUID", "BINARY(16)", "REAL", "INT", "TEXT COLLATE NOCASE", "UUID COLLATE NOCASE",
        "UUID COLLATE RTRIM",
    ]
    /// The keys of the rows one, two and three. The text begins as a number does.
    private static let keys = [k(1), k(2), "'1e000000-0000-4000-8000-00000000000a'"]

    private static func schema(_ type: String) -> String {
        "CREATE TABLE note (id \(type) PRIMARY KEY, title TEXT, body TEXT)"
    }

    private func create(_ type: String) throws -> TestReplica {
        let replica = try stores.create(schema: Self.schema(type), tables: ["note"])
        for (key, title) in zip(Self.keys, ["one", "two", "three"]) {
            try replica.execute("INSERT INTO note VALUES (\(key), '\(title)', 'body')")
        }
        return replica
    }

    private func pair(_ type: String) throws -> (TestReplica, TestReplica) {
        let a = try create(type)
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func titles(_ replica: TestReplica) throws -> String? {
        try replica.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY title)")
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    private func expectEqual(_ a: TestReplica, _ b: TestReplica) throws {
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try problems(a) == [])
        #expect(try problems(b) == [])
    }

    @Test(arguments: types) func aTableThatIsTrackedAgainIsMerged(_ type: String) throws {
        let (a, b) = try pair(type)
        try a.synchronizer.untrack(["note"])
        try a.execute("UPDATE note SET body = 'mine' WHERE title = 'one'")
        try a.execute("UPDATE note SET title = 'DREI' WHERE title = 'three'")
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try b.execute("UPDATE note SET title = 'drei' WHERE title = 'three'")
        try b.execute("DELETE FROM note WHERE title = 'two'")
        try a.sync(b)
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "drei,theirs")
        #expect(try a.value("SELECT body FROM note WHERE title = 'theirs'") == "mine")
        #expect(try a.conflicts() == ["0 \"DREI\" \"newer\""])
        try a.sync(b)
        try expectEqual(a, b)
    }

    @Test(arguments: types) func aTableThatIsMadeAnewTakesWhatPeersWroteSinceTheDrop(_ type: String) throws {
        let (a, b) = try pair(type)
        try a.migrate("drop") { try $0.drop(table: "note") }
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        try a.migrate("anew") { try $0.execute(sql: Self.schema(type)) }
        for (key, title) in zip(Self.keys, ["one", "two", "three"]) {
            try a.execute("INSERT INTO note VALUES (\(key), '\(title)', 'anew')")
        }
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "theirs,three,two")
        #expect(try a.conflicts() == ["0 \"one\" \"newer\""])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(DISTINCT body) FROM note") == "anew")
        try expectEqual(a, b)
    }

    @Test(arguments: types) func aColumnThatPeersHadBeforeIsFilledWithWhatWaits(_ type: String) throws {
        let (a, b) = try pair(type)
        try b.migrate("extra") { try $0.execute(sql: "ALTER TABLE note ADD COLUMN extra TEXT") }
        try b.execute("UPDATE note SET extra = 'theirs' WHERE title <> 'two'")
        try a.sync(b)
        try a.migrate("extra") { db in
            try db.execute(sql: "ALTER TABLE note ADD COLUMN extra TEXT; UPDATE note SET extra = 'filled'")
        }
        try a.sync(b)
        try a.sync(b)
        let extra = "SELECT group_concat(extra) FROM (SELECT extra FROM note ORDER BY title)"
        #expect(try a.value(extra) == "theirs,theirs,filled")
        try expectEqual(a, b)
    }

    @Test(arguments: types) func rowsThatCameUntrackedAreFoundAndNoOthers(_ type: String) throws {
        let a = try create(type)
        let environment = stores.clock.environment
        try a.queue.write { db in
            _ = try FoldedStore.fold(db, environment)
            try db.execute(
                sql: """
                    UPDATE _sync_state SET applying = 1;
                    INSERT INTO note VALUES (\(k(9)), 'nine', ''), ('2e000000-0000-4000-8000-00000000000a', 'ten', '');
                    UPDATE _sync_state SET applying = 0
                    """)
        }
        #expect(try problems(a).contains("2 rows of table note came without being tracked"))
        try a.queue.write { db in
            let rows = UntrackedRows(store: try FoldedStore.fold(db, environment))
            #expect(try rows.find().map(\.keys.count) == [2])
            try rows.adopt()
            #expect(try rows.find().isEmpty)
        }
        #expect(try problems(a) == [])
    }

    @Test(arguments: types) func rowsThatAreAboutToGoAreNoParents(_ type: String) throws {
        let a = try create(type)
        try a.queue.write { db in
            let table = try #require(SyncedTable.loadAll(db).first)
            let key = try #require(
                try DatabaseValue.fetchOne(db, sql: "SELECT id FROM note WHERE title = 'three'"))
            let doomed = try DoomedRows(db, [(table: table, key: key)])
            defer { doomed.forget() }
            let condition = try DoomedRows.excludes(db, in: "note")
            let sql = "FROM note AS p WHERE \(condition)"
            let left = try String.fetchAll(db, sql: "SELECT title \(sql) ORDER BY title")
            #expect(left == ["one", "two"])
            #expect(try isByKey(db, "SELECT 1 \(sql)"))
        }
    }

    /// Whether a statement looks for keys of the metadata by their index, and not for their table alone.
    private func isByKey(_ db: Database, _ sql: String) throws -> Bool {
        let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { row -> String in row["detail"]
        }
        let searches = plan.filter { $0.contains("(tbl=?") }
        return !searches.isEmpty && searches.allSatisfy { $0.contains("(tbl=? AND pk=?") }
    }

    @Test(arguments: types) func keysOfTheMetadataAreFoundByTheirIndex(_ type: String) throws {
        let a = try create(type)
        try a.queue.read { db in
            let table = try #require(SyncedTable.loadAll(db).first)
            let keys = ["_sync_row": table.untypedKey(), "_sync_shadow": table.untypedKey(of: "note")]
            for (metadata, key) in keys {
                let sql = """
                    SELECT 1 FROM main.note WHERE NOT EXISTS (
                        SELECT 1 FROM \(metadata) AS m WHERE m.tbl = \(table.number) AND m.pk = \(key))
                    """
                #expect(try isByKey(db, sql))
            }
        }
        try a.synchronizer.untrack(["note"])
        try a.queue.read { db in
            let kept = try #require(SyncedTable.loadAll(db).first)
            let tracking = TableTracking(db: db, environment: stores.clock.environment)
            let isUnwritten = try #require(try tracking.isUnwrittenSinceDrop("k.id", kept))
            #expect(try isByKey(db, "SELECT 1 FROM \(kept.qualifiedName) AS k WHERE \(isUnwritten)"))
        }
    }
}
