import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What the schema of a file may have that somebody else has written, before a store of one's own is made of it.
@Suite struct ForeignSchemaTests {
    let stores: TestStores
    let a: TestReplica

    init() throws {
        let stores = try TestStores()
        a = try stores.create()
        try a.insert(1, "of a")
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        self.stores = stores
    }

    private func expectRefusal(_ name: String, of file: String, _ make: @escaping () throws -> Void) {
        let error = #expect(throws: SyncError.self) { try make() }
        #expect(error?.code == .unsafeSchema)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(file) == true)
        #expect(!FileManager.default.fileExists(atPath: stores.path("b.db")))
    }

    @Test(arguments: [
        (
            "CREATE TRIGGER spy AFTER INSERT ON _sync_member_key BEGIN INSERT INTO note (id, body) VALUES (randomblob(16), NEW.key); END",
            "trigger spy is on _sync_member_key"
        ),
        (
            "DROP TABLE _sync_device; CREATE VIEW _sync_device AS SELECT 1 AS id, x'00' AS key; CREATE TRIGGER kept INSTEAD OF DELETE ON _sync_device BEGIN SELECT 1; END",
            "view _sync_device has a name"
        ),
        (
            "CREATE TRIGGER spy AFTER INSERT ON note BEGIN UPDATE note SET body = (SELECT hex(key) FROM _sync_epoch_key) WHERE id = NEW.id; END",
            "trigger spy names _sync_epoch_key"
        ),
        ("CREATE VIEW spy AS SELECT value FROM \"_SYNC_Setting\"", "view spy names _SYNC_Setting"),
        ("CREATE VIEW spy AS SELECT key FROM '_sync_device_key'", "view spy names _sync_device_key"),
        (
            "CREATE VIRTUAL TABLE spy USING fts4(content=\"_sync_statement\", name)",
            "table spy names _sync_statement"
        ),
        ("CREATE INDEX spy ON _sync_setting (value)", "index spy is on _sync_setting"),
        (
            "CREATE TRIGGER mute AFTER INSERT ON note WHEN (SELECT applying FROM _sync_state) = 0 BEGIN UPDATE OR IGNORE _sync_state SET applying = 1; END",
            "trigger mute writes to _sync_state"
        ),
        (
            "DROP TRIGGER _sync_log_guard; CREATE TRIGGER _sync_log_guard BEFORE DELETE ON _sync_log BEGIN SELECT 1; END",
            "trigger _sync_log_guard has a name"
        ),
        (
            "DROP TRIGGER _sync_i_1; CREATE TRIGGER _sync_i_1 AFTER INSERT ON note BEGIN UPDATE note SET body = 'x'; END",
            "trigger _sync_i_1 has a name"
        ),
        (
            "DROP TRIGGER _sync_i_1; CREATE TRIGGER _sync_i_1 AFTER INSERT ON note BEGIN INSERT INTO _sync_log (tbl, op, pk, mask, ms) SELECT 1, 1, value, 0, 0 FROM _sync_setting; END",
            "trigger _sync_i_1 has a name"
        ),
        (
            "DROP TABLE _sync_attempt; CREATE TABLE _sync_attempt (a DEFAULT (random()))",
            "table _sync_attempt has a name"
        ),
        ("CREATE TABLE _sync_more (a)", "table _sync_more has a name"),
    ]) func nothingIsTakenOverThatReachesIntoTheMetadata(sql: String, name: String) throws {
        try a.changeUnobserved(sql)
        expectRefusal(name, of: "a.db") { _ = try stores.clone(a, as: "b.db") }
    }

    @Test func whatAnAppMayHaveIsTakenOver() throws {
        try a.changeUnobserved(
            """
            CREATE TABLE seen (id BLOB PRIMARY KEY, _sync_status TEXT, last_sync_at INTEGER);
            CREATE INDEX by_status ON seen (_sync_status);
            CREATE TRIGGER look AFTER INSERT ON note WHEN (SELECT applying FROM _sync_state) = 0 BEGIN
                INSERT OR REPLACE INTO seen (id, _sync_status) VALUES (NEW.id, 'local');
            END;
            CREATE VIEW lost AS SELECT t.name, c.val FROM _sync_conflict AS c JOIN _sync_table AS t ON t.tbl = c.tbl;
            CREATE VIEW statuses AS SELECT _sync_status FROM seen;
            """)
        // What a dropped table leaves, and what one leaves that was taken out.
        try a.migrate("drop") { db in try db.execute(sql: "DROP TABLE tag") }
        try a.synchronizer.untrack(["note"])
        let sql = """
            SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE name GLOB ? ORDER BY name)
            """
        let kept = try a.queue.read { try String.fetchOne($0, sql: sql, arguments: ["_sync_dropped_*"]) }
        #expect(kept?.contains("_base") == true && kept?.contains("_known") == true)
        let b = try stores.clone(a, as: "b.db")
        for pattern in ["[a-z]*", "_sync_dropped_*"] {
            let (here, there) = try (
                a.queue.read { try String.fetchOne($0, sql: sql, arguments: [pattern]) },
                b.queue.read { try String.fetchOne($0, sql: sql, arguments: [pattern]) }
            )
            #expect(here == there)
        }
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
    }

    /// SQLite writes the new name into the triggers that track it.
    @Test func aTableThatAnotherProgramHasRenamedKeepsNobodyOut() throws {
        try a.changeUnobserved("ALTER TABLE note RENAME TO \"my notes\"")
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO \"my notes\" (id, title) VALUES (?, 'of b')", [key(2)])
        try a.sync(b)
        #expect(try a.value("SELECT count(*) FROM \"my notes\"", as: Int.self) == 2)
    }

    /// They read and write nothing that they may not. Those of older programs differ, too.
    @Test func triggersThatTrackNothingAreMadeAnew() throws {
        try a.changeUnobserved(
            """
            DROP TRIGGER _sync_i_1;
            CREATE TRIGGER _sync_i_1 AFTER INSERT ON note WHEN 0 BEGIN
                INSERT INTO _sync_log (tbl, op, pk, mask, ms) SELECT 1, 1, NEW.id, 0, 0;
            END
            """)
        let b = try stores.clone(a, as: "b.db")
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
    }

    // MARK: Stores in use

    private func findings(isDeep: Bool = true) throws -> [StoreProblem] {
        try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: isDeep) }.filter { $0.kind == .schema }
    }

    @Test(arguments: [
        (
            "CREATE TRIGGER spy AFTER INSERT ON _sync_member_key BEGIN SELECT 1; END",
            "trigger spy is on _sync_member_key"
        ),
        ("CREATE VIEW spy AS SELECT key FROM _sync_device_key", "view spy names _sync_device_key"),
        ("CREATE INDEX spy ON _sync_setting (value)", "index spy is on _sync_setting"),
        ("CREATE TABLE \"_sync_more of it\" (a TEXT)", "table _sync_more of it has a name"),
        (
            "CREATE TRIGGER mute AFTER INSERT ON note BEGIN UPDATE _sync_state SET applying = 1; END",
            "trigger mute writes to _sync_state"
        ),
    ]) func aDeepCheckNamesWhatReachesIntoTheMetadata(sql: String, name: String) throws {
        #expect(try findings() == [])
        try a.changeUnobserved(sql)
        let found = try findings()
        #expect(found.count == 1)
        #expect(found.first?.message.contains(name) == true)
        #expect(found.first?.message.contains("drop it") == true)
        let shallow = try findings(isDeep: false)
        #expect(shallow == [])
        // It keeps nobody from using the store.
        try a.execute("UPDATE _sync_state SET applying = 0")
        _ = try a.peer.greet()
    }

    /// What has a name of the library's is compared letter by letter, and is named once.
    @Test func whatTakesTheNameOfOneOfTheLibrarysIsNamedOnce() throws {
        try a.changeUnobserved(
            """
            DROP TRIGGER _sync_i_1;
            CREATE TRIGGER _sync_i_1 AFTER INSERT ON note BEGIN UPDATE note SET body = 'x'; END
            """)
        let problems = try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
        #expect(problems == ["trigger _sync_i_1 of table note was changed"])
    }

    // MARK: Archives and plain files

    private let spy = """
        CREATE TRIGGER spy AFTER INSERT ON note BEGIN
            UPDATE note SET body = (SELECT hex(key) FROM _sync_member_key) WHERE id = NEW.id;
        END
        """

    private func restore() throws {
        try Synchronizer.restore(
            archive: stores.path("a.csa"), to: stores.path("b.db"),
            opening: ArchiveSecret(Passphrase("archive")), passphrase: Passphrase("passphrase of b.db"),
            environment: stores.clock.environment)
    }

    @Test func anArchiveOfAReplicaIsLookedAt() throws {
        try a.changeUnobserved(spy)
        try a.synchronizer.archive(
            to: stores.path("a.csa"), lock: ArchiveLock(passphrase: Passphrase("archive"), cost: .minimum))
        expectRefusal("trigger spy names _sync_member_key", of: "a.csa") { try restore() }
    }

    /// A store that is made of it later has tables of these names.
    @Test func filesWithoutMetadataAreLookedAtToo() throws {
        let plain = try DatabaseQueue(
            path: stores.path("plain.db"), configuration: TestStores.configuration("plain.db"))
        try plain.write { try $0.execute(sql: TestStores.schema + spy) }
        let lock = try ArchiveLock(passphrase: Passphrase("archive"), cost: .minimum)
        try plain.writeWithoutTransaction { db in
            try StoreArchive.write(of: db, to: stores.path("a.csa"), lock: lock)
        }
        expectRefusal("trigger spy names _sync_member_key", of: "a.csa") { try restore() }
        expectRefusal("trigger spy names _sync_member_key", of: "old.sqlite") {
            try Synchronizer.checkSchema(of: plain, from: "old.sqlite")
        }
        try plain.write { try $0.execute(sql: "DROP TRIGGER spy") }
        try Synchronizer.checkSchema(of: plain, from: "old.sqlite")
    }
}
