import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Rows whose keys differ in case only, in tables whose key column takes both for the same.
@Suite struct KeySpellingTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let upper = "0190F5FE-7C00-7A00-8000-00000000000A"
    private static let lower = "0190f5fe-7c00-7a00-8000-00000000000a"

    /// A table that has one row for all spellings of a key.
    private static let single =
        "CREATE TABLE note (id TEXT PRIMARY KEY COLLATE NOCASE, body TEXT, stars INTEGER)"
    /// A table that has a row for each spelling.
    private static let several =
        "CREATE TABLE note (id TEXT COLLATE NOCASE, body TEXT, stars INTEGER, PRIMARY KEY (id COLLATE BINARY))"

    private func fold(_ replica: TestReplica) throws {
        try replica.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    /// A store with a row for each of two spellings.
    private func storeWithBoth(_ policies: [ColumnPolicy] = []) throws -> TestReplica {
        let replica = try stores.create(schema: Self.several, tables: ["note"])
        try replica.synchronizer.setPolicies(policies)
        try replica.execute("INSERT INTO note VALUES ('\(Self.upper)', 'upper', 1)")
        try replica.execute("INSERT INTO note VALUES ('\(Self.lower)', 'lower', 2)")
        return replica
    }

    /// Spells the key in another way, as a program does that stops the triggers.
    private func respell(_ replica: TestReplica) throws {
        try replica.queue.write { db in
            try db.execute(
                sql: """
                    UPDATE _sync_state SET applying = 1; UPDATE note SET id = lower(id);
                    UPDATE _sync_state SET applying = 0
                    """)
        }
    }

    @Test func aCheckTellsBothSpellingsOfAKeyThatNobodyTracked() throws {
        let a = try stores.create(schema: Self.single, tables: ["note"])
        try a.execute("INSERT INTO note VALUES ('\(Self.upper)', 'x', 1)")
        try fold(a)
        #expect(try problems(a) == [])
        try respell(a)
        let found = try problems(a)
        #expect(found.contains("1 rows of table note came without being tracked"))
        #expect(found.contains("1 rows of table note went without being tracked"))
    }

    @Test func anotherSpellingThatWaitsInTheLogHidesNothingFromACheck() throws {
        let a = try stores.create(schema: Self.single, tables: ["note"])
        try fold(a)
        try a.execute("INSERT INTO note VALUES ('\(Self.upper)', 'x', 1)")
        #expect(try problems(a) == [])
        try respell(a)
        #expect(try problems(a).contains("1 rows of table note came without being tracked"))
    }

    @Test func aCounterBeginsWithWhatItsOwnRowHolds() throws {
        let a = try storeWithBoth([.counter("note", "stars")])
        try fold(a)
        let bases = try a.queue.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT r.pk, p.val FROM _sync_part AS p JOIN _sync_row AS r ON r.r = p.r ORDER BY r.pk"
            ).map { $0.databaseValues.map(\.description).joined(separator: " ") }
        }
        #expect(bases == ["\"\(Self.upper)\" 1", "\"\(Self.lower)\" 2"])
    }

    private func note(_ db: Database) throws -> SyncedTable {
        try #require(SyncedTable.loadAll(db).first { $0.name == "note" })
    }

    /// Unites the column `body` with one that somebody else wrote later, of one row only.
    private func uniteColumns(_ db: Database) throws {
        let absent = try #require(note(db).addingColumns(db, ["other"], place: .elsewhere).columns.last)
        let table = try note(db)
        let body = try #require(table.columns.first { $0.name == "body" })
        try db.execute(
            sql: "INSERT INTO _sync_replica (sid, rid, oseq) VALUES (77, ?, 1)", arguments: [key(7)])
        try db.execute(
            sql: """
                INSERT INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT r, ?, hlc + 1, 77, 1 FROM _sync_row WHERE pk = '\(Self.upper)'
                """, arguments: [absent.number])
        try db.execute(
            sql: """
                INSERT INTO _sync_shadow (tbl, pk, col, val, why)
                VALUES (?, '\(Self.upper)', ?, 'new', 'no such column')
                """, arguments: [table.number, absent.number])
        try ColumnUnion(db: db, environment: stores.clock.environment).unite(absent, into: body, of: table)
    }

    @Test func columnsThatAreUnitedLoseTheValueOfTheirOwnRowOnly() throws {
        let a = try storeWithBoth()
        try fold(a)
        try a.queue.write { try uniteColumns($0) }
        let lost = try a.value("SELECT group_concat(val) FROM _sync_conflict", as: String.self)
        #expect(lost == "upper")
    }

    @Test func aTableThatIsTrackedAgainLosesOnlyTheRowThatAPeerDeleted() throws {
        let a = try storeWithBoth()
        let b = try stores.clone(a, as: "b.db")
        try a.synchronizer.untrack(["note"])
        try b.execute("DELETE FROM note WHERE body = 'upper'")
        try a.sync(b)
        try a.synchronizer.track(["note"])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT group_concat(body) FROM note", as: String.self) == "lower")
        }
    }
}
