import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Replicas whose schemas differ, and schemas that change under the tracking.
@Suite struct SchemaChangeTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func aTableThatIsNotThereYetWaitsForIt() throws {
        let a = try stores.create(
            schema: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)", tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT)")
        try a.synchronizer.track(["page"])
        try a.execute("INSERT INTO page VALUES (?, 'kept')", [key(9)])
        try a.execute("ALTER TABLE note ADD COLUMN colour TEXT")
        try a.execute("INSERT INTO note VALUES (?, 't', 'green')", [key(1)])
        #expect(try a.sync(b).parkedCount == 2)
        #expect(try b.value("SELECT title FROM note") == "t")
        try b.execute("CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT)")
        try b.synchronizer.track(["page"])
        try b.execute("ALTER TABLE note ADD COLUMN colour TEXT")
        try a.execute("INSERT INTO note VALUES (?, 'u', 'red')", [key(2)])
        try a.sync(b)
        #expect(try b.dump(["note", "page"]) == a.dump(["note", "page"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }

    @Test func parkedRowsAppearAsSoonAsTheirTableIsTracked() throws {
        let a = try stores.create(
            schema: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)", tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT)")
        try a.synchronizer.track(["page"])
        try a.execute("INSERT INTO page VALUES (?, 'kept')", [key(9)])
        try a.sync(b)
        try b.execute("CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT)")
        try b.synchronizer.track(["page"])
        #expect(try b.dump(["page"]) == a.dump(["page"]))
        // What was written by a peer is not sent back as a change of b's.
        #expect(try a.sync(b).pulled == nil)
    }

    @Test func rowsThatBothHadBeforeTrackingAreMergedAndNoValueIsLost() throws {
        let a = try stores.create(
            schema: "CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT, note TEXT)", tables: [])
        try a.execute("INSERT INTO page VALUES (?, 'same', 'of a')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("UPDATE page SET note = 'of b'")
        try a.synchronizer.track(["page"])
        try a.sync(b)
        stores.clock.advance(milliseconds: 1000)
        try b.synchronizer.track(["page"])
        try a.sync(b)
        #expect(try a.dump(["page"]) == b.dump(["page"]))
        // Nobody knows when b's value was written.
        #expect(try a.value("SELECT note FROM page") == "of a")
        #expect(try a.conflicts() + b.conflicts() == ["1 \"of b\" \"newer\""])
    }

    @Test func whatRowsOfAPeerHoldInColumnsThatItLacksIsSentAsWell() throws {
        let a = try stores.create(schema: "CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT)", tables: [])
        try a.execute("INSERT INTO page VALUES (?, 'same'), (?, 'same')", [key(1), key(2)])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("ALTER TABLE page ADD COLUMN note TEXT DEFAULT 'none'")
        try b.execute("UPDATE page SET note = 'of b' WHERE id = ?", [key(1)])
        try a.synchronizer.track(["page"])
        try a.sync(b)
        try b.synchronizer.track(["page"])
        try a.sync(b)
        try a.execute("ALTER TABLE page ADD COLUMN note TEXT DEFAULT 'none'")
        #expect(
            try a.value("SELECT group_concat(note) FROM (SELECT note FROM page ORDER BY id)") == "of b,none")
        #expect(try a.dump(["page"]) == b.dump(["page"]))
        #expect(try a.value("SELECT count(*) FROM _sync_cell", as: Int.self) == 1)
    }

    @Test func aTableThatWasMadeAnewIsTrackedAgain() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'stays'), (?, 'goes')", [key(1), key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute(
            """
            CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
            INSERT INTO new_note SELECT * FROM note WHERE title = 'stays';
            INSERT INTO new_note (id, title) VALUES (x'09090909090909090909090909090909', 'comes');
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            """)
        try a.sync(b)
        #expect(
            try b.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)")
                == "stays,comes")
        try a.execute("UPDATE note SET body = 'tracked' WHERE title = 'stays'")
        try a.sync(b)
        #expect(try a.dump() == b.dump())
    }

    @Test func aRenamedTableGoesOnAsItself() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("ALTER TABLE note RENAME TO memo")
        try a.execute("UPDATE memo SET title = 'y'")
        try a.sync(b)
        // b has the old name still, and learns the new one.
        #expect(try b.value("SELECT title FROM note") == "y")
        try b.execute("UPDATE note SET title = 'of b'")
        try b.sync(a)
        #expect(try a.value("SELECT title FROM memo") == "of b")
        try b.execute("ALTER TABLE note RENAME TO memo")
        try a.execute("UPDATE memo SET title = 'z'")
        try a.sync(b)
        #expect(try a.state(["memo"]) == b.state(["memo"]))
        #expect(try b.value("SELECT title FROM memo") == "z")
        #expect(try b.synchronizer.status().parked.isEmpty)
    }

    /// How a column comes into a tracked table, with values, while its triggers don't know it.
    enum Filling: CaseIterable {
        case whileUntracked, byAnotherProgram, byARebuild
    }

    @Test(arguments: Filling.allCases)
    func aValueThatTheColumnTakesForItsDefaultIsSent(_ filling: Filling) throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        let b = try stores.clone(a, as: "b.db")
        let columns = [
            "extra TEXT COLLATE NOCASE DEFAULT 'none'", "rank DEFAULT 1", "level INTEGER DEFAULT '7'",
        ]
        let addition = columns.map { "ALTER TABLE note ADD COLUMN \($0);" }.joined()
        let values = "SET extra = 'None', rank = 1.0, level = 7 WHERE title = 'one'"
        switch filling {
        case .whileUntracked:
            try a.synchronizer.untrack(["note"])
            try a.execute(addition + "UPDATE note \(values)")
            try a.synchronizer.track(["note"])
        case .byAnotherProgram:
            try a.changeUnobserved(addition + "UPDATE note \(values)")
        case .byARebuild:
            try a.execute(
                """
                CREATE TABLE new_note (
                    id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0,
                    \(columns.joined(separator: ", ")));
                INSERT INTO new_note (id, title, body, stars) SELECT * FROM note;
                UPDATE new_note \(values);
                DROP TABLE note;
                ALTER TABLE new_note RENAME TO note;
                """)
        }
        try a.sync(b)
        try b.execute(addition)
        let shown =
            "SELECT group_concat(v) FROM (SELECT extra || typeof(rank) || level AS v FROM note ORDER BY id)"
        #expect(try a.value(shown) == "Nonereal7,noneinteger7")
        #expect(try a.dump() == b.dump())
        // Nor does a default count as a write that the column converts.
        #expect(try a.value("SELECT count(*) FROM _sync_cell", as: Int.self) == 2)
    }
}
