import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Bundle files of a store whose schema another program changed.
@Suite struct BundleSchemaTests {
    let stores: TestStores
    let path: String

    init() throws {
        stores = try TestStores()
        path = stores.path("changes.bundle")
    }

    private func filled() throws -> TestReplica {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 't')")
        return a
    }

    private func write(_ replica: TestReplica, since base: BundleBase = .nothing) throws -> [BundleFile.Table]
    {
        try? FileManager.default.removeItem(atPath: path)
        try replica.synchronizer.writeBundle(to: path, since: base, .plaintext)
        return try BundleFile.inspect(path, .plaintext).tables
    }

    @Test func aRenamedTableGoesByItsNewName() throws {
        let a = try filled()
        _ = try write(a)
        try a.changeUnobserved("ALTER TABLE note RENAME TO memo")
        #expect(Set(try write(a).map(\.name)) == ["memo", "tag"])
    }

    /// Its rows are known to be somewhere, and are not here: no file can say that.
    @Test func aDroppedTableIsNotWritten() throws {
        let a = try filled()
        _ = try write(a)
        try a.changeUnobserved("DROP TABLE note")
        let error = #expect(throws: SyncError.self) { try write(a) }
        #expect(error?.code == .scopeUnsupported)
        #expect(error?.message.contains("note") == true)
        try a.synchronizer.writeBundle(to: path, since: .nothing, scope: .tables(["tag"]), .plaintext)
        #expect(try BundleFile.inspect(path, .plaintext).tables.map(\.name) == ["tag"])
    }

    @Test func aColumnThatAnotherProgramAddedIsSent() throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        try a.changeUnobserved("ALTER TABLE note ADD COLUMN colour TEXT; UPDATE note SET colour = 'red'")
        try b.changeUnobserved("ALTER TABLE note ADD COLUMN colour TEXT")
        _ = try write(a)
        try b.synchronizer.applyBundle(at: path, .plaintext)
        #expect(try a.dump() == b.dump())
    }

    @Test func rowsOfARebuiltTableAreSentAndGetVersionsFirst() throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
            INSERT INTO new_note SELECT * FROM note WHERE title = 'one';
            INSERT INTO new_note (id, title) VALUES (x'09090909090909090909090909090909', 'three');
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            """)
        _ = try write(a)
        try b.synchronizer.applyBundle(at: path, .plaintext)
        #expect(try a.dump() == b.dump())
        #expect(try b.value("SELECT count(*) FROM note", as: Int.self) == 2)
    }

    @Test func triggersThatWereDroppedAreThereAgain() throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        let triggers = try a.queue.read {
            try String.fetchAll(
                $0,
                sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB '_sync_[iudk]*_1'")
        }
        try a.changeUnobserved(triggers.map { "DROP TRIGGER \($0);" }.joined())
        try a.changeUnobserved(
            "INSERT INTO note (id, title) VALUES (x'08080808080808080808080808080808', 'new')")
        _ = try write(a)
        try a.execute("UPDATE note SET title = 'tracked' WHERE id = ?", [key(1)])
        _ = try write(a)
        try b.synchronizer.applyBundle(at: path, .plaintext)
        #expect(try a.dump() == b.dump())
    }

    // MARK: A rebuilt table (docs/migrations.md)

    @Test func whatIsUpdatedAfterARebuiltTableIsTrackedAgainIsSent() throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
            INSERT INTO new_note SELECT * FROM note;
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            """)
        let remark = try a.synchronizer.status().schemaRemarks.first { $0.table == "note" }
        #expect(remark?.text.contains("track it again before more is written") == true)
        try a.synchronizer.track(["note"])
        try a.execute("UPDATE note SET title = upper(title), body = 'rebuilt'")
        try a.sync(b)
        #expect(try a.dump() == b.dump())
        #expect(try b.value("SELECT group_concat(title) FROM note", as: String.self) == "ONE,TWO")
    }

    // MARK: Names

    @Test func aColumnThatHasTheNameOfTheKeyIsRefused() throws {
        let a = try filled()
        let b = try stores.clone(a, as: "b.db")
        let status = try a.synchronizer.status()
        let header = BundleHeader(
            store: status.store, sender: status.replica, base: VersionVector(), target: VersionVector(),
            replicas: [], tables: [BundleHeader.Table(name: "note", key: "id", columns: ["title", "ID"])])
        let file = try BundleFile.writer(path, .plaintext, stores.clock.environment)
        var writer = try BundleWriter(header: header) { try file.write($0) }
        try writer.finish()
        try file.finish()
        let error = #expect(throws: SyncError.self) {
            try b.synchronizer.applyBundle(at: path, .plaintext)
        }
        #expect(error?.code == .invalidBundle)
    }
}
