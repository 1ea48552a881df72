import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Values of files of older programs that a write of the whole row replaces today.
@Suite struct OutlivedCellTests {
    /// Makes a file what a program of version 2 of the metadata leaves behind.
    private func makeOld(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE old AS SELECT id, at, tbl, pk, col, val, hlc, sid, won, why FROM _sync_conflict;
                DROP TABLE _sync_conflict;
                CREATE TABLE _sync_conflict (
                    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, tbl INTEGER NOT NULL, pk NOT NULL,
                    col INTEGER NOT NULL, val, hlc INTEGER NOT NULL, sid INTEGER NOT NULL,
                    won INTEGER NOT NULL, why TEXT NOT NULL);
                INSERT INTO _sync_conflict SELECT * FROM old;
                DROP TABLE old;
                UPDATE _sync_state SET format = 2;
                """)
        let kept = [
            "state", "replica", "table", "column", "log", "row", "cell", "shadow", "conflict", "peer",
            "alias",
        ]
        for table in try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_sync_*'")
        where !kept.contains(String(table.dropFirst(6))) { try db.execute(sql: "DROP TABLE \(table)") }
    }

    /// A cell that its row has outlived, one that it has not, and a value of a column that is not here.
    private func makeStore(_ stores: TestStores) throws -> TestReplica {
        let a = try stores.create()
        for number in 1...3 {
            try a.execute(
                "INSERT INTO note (id, title, body, stars) VALUES (?, 't', 'b', ?)",
                [key(UInt8(number)), number == 3 ? 0 : number])
        }
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        try a.queue.write { db in
            let body = "(SELECT col FROM _sync_column WHERE name = 'body')"
            let stars = "(SELECT col FROM _sync_column WHERE name = 'stars')"
            try db.execute(
                sql: """
                    INSERT INTO _sync_cell SELECT r, \(body), hlc - 1, sid, oseq FROM _sync_row WHERE pk = x'01010101010101010101010101010101';
                    INSERT INTO _sync_cell SELECT r, \(body), hlc + 1, sid, oseq FROM _sync_row WHERE pk = x'02020202020202020202020202020202';
                    INSERT INTO _sync_cell SELECT r, \(stars), hlc - 1, sid, oseq FROM _sync_row WHERE pk <> x'02020202020202020202020202020202';
                    INSERT INTO _sync_column VALUES (1, 9, 'gone', 0);
                    INSERT INTO _sync_cell SELECT r, 9, hlc - 1, sid, oseq FROM _sync_row WHERE pk = x'03030303030303030303030303030303';
                    INSERT INTO _sync_shadow
                    SELECT tbl, pk, 9, 'elsewhere', 'no such column' FROM _sync_row WHERE pk = x'03030303030303030303030303030303';
                    """)
            try makeOld(db)
        }
        return a
    }

    @Test func theyGoBackToTheirDefaultsAndAreKeptInTheJournal() throws {
        let stores = try TestStores()
        let a = try makeStore(stores)
        try a.execute(
            "CREATE TABLE seen (stars); CREATE TRIGGER user AFTER UPDATE ON note BEGIN INSERT INTO seen VALUES (1); END"
        )
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        #expect(try a.value("SELECT count(*) FROM _sync_cell", as: Int.self) == 1)
        #expect(try a.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 0)
        let rows = try a.queue.read { db in
            try Row.fetchAll(db, sql: "SELECT title, body, stars FROM note ORDER BY id")
                .map { $0.databaseValues.map(\.description).joined(separator: " ") }
        }
        #expect(rows == [#""t" NULL 0"#, #""t" "b" 2"#, #""t" "b" 0"#])
        // What was at its default already is no loss.
        let lost = try a.synchronizer.conflicts().map { "\($0.column) \($0.lost)" }.sorted()
        #expect(lost == [#"body "b""#, #"gone "elsewhere""#, "stars 1"])
        #expect(try a.value("SELECT applying FROM _sync_state", as: Int.self) == 0)
        #expect(
            try a.value("SELECT count(*) FROM _sync_log WHERE seq > (SELECT folded FROM _sync_state)") == 0)
        let problems = try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
        #expect(problems.filter { $0 != "_sync_conflict of the sync metadata was changed" } == [])
    }

    /// The key column takes both spellings of the key for the same, and the table has a row for each.
    @Test func aRowOfAnotherSpellingOfTheKeyKeepsItsValue() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE note (id TEXT COLLATE NOCASE, body TEXT, PRIMARY KEY (id COLLATE BINARY))",
            tables: ["note"])
        let keys = ["0190F5FE-7C00-7A00-8000-00000000000A", "0190f5fe-7c00-7a00-8000-00000000000a"]
        for (key, body) in zip(keys, ["upper", "lower"]) {
            try a.execute("INSERT INTO note VALUES (?, ?)", [key, body])
        }
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        try a.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _sync_cell
                    SELECT r, (SELECT col FROM _sync_column WHERE name = 'body'), hlc - 1, sid, oseq FROM _sync_row WHERE pk = ?
                    """, arguments: [keys[0]])
            try makeOld(db)
        }
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        let bodies = try a.queue.read { db in
            try DatabaseValue.fetchAll(db, sql: "SELECT body FROM note ORDER BY id COLLATE BINARY")
                .map(\.description)
        }
        #expect(bodies == ["NULL", "\"lower\""])
        #expect(try a.synchronizer.conflicts().map { "\($0.lost)" } == ["\"upper\""])
    }
}
