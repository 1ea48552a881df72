import CipherStore
import Testing

@testable import SyncEngine

/// Triggers that would run for ever where triggers are recursive.
@Suite struct SelfFiringTriggerTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let schema = "CREATE TABLE note (id BLOB PRIMARY KEY, title, body, at, \"set\");"

    private static func touch(_ event: String, _ changes: String) -> String {
        "CREATE TRIGGER touch \(event) ON note BEGIN UPDATE note SET \(changes) WHERE id = NEW.id; END;"
    }

    @Test(arguments: [
        touch("AFTER UPDATE OF title", "at = 7"),
        touch(
            "AFTER UPDATE OF title, \"BODY\"", "at = (SELECT max(title, 'x') WHERE title = 'y'), [set] = 1"),
        touch("AFTER UPDATE OF title", "(at, \"set\") = (7, 8)"),
        touch("AFTER INSERT", "title = 'new'"),
        "CREATE TRIGGER touch AFTER UPDATE ON note WHEN NEW.at IS OLD.at BEGIN "
            + "UPDATE note SET at = coalesce(at, 0) + 1; END;",
        touch("AFTER UPDATE OF title", "at = 7")
            + "CREATE TRIGGER other AFTER UPDATE OF at ON note BEGIN UPDATE note SET body = NEW.at; END;",
        touch("AFTER UPDATE OF title", "at = 7")
            + "CREATE TRIGGER other AFTER UPDATE OF at ON note WHEN NEW.at IS NOT OLD.at BEGIN "
            + "UPDATE note SET title = 'seven'; END;",
    ])
    func aTriggerThatDoesNotFireItselfIsNoReasonNotToTrack(_ triggers: String) throws {
        let a = try stores.create(schema: Self.schema + triggers, tables: ["note"])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        try a.execute("UPDATE note SET title = 'y'")
        #expect(try a.synchronizer.status().schemaRemarks.map(\.text) == [])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'z', body = 'b'")
        try a.sync(b)
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    @Test(arguments: [
        touch("AFTER UPDATE", "at = 7"),
        touch("AFTER UPDATE OF title, at", "at = 7"),
        touch("AFTER UPDATE OF at", "body = 'x', (title, At) = (1, 2)"),
        touch("BEFORE UPDATE OF \"set\"", "body = coalesce(body, 'x'), \"SET\" = 1"),
        "CREATE TRIGGER touch AFTER UPDATE OF at ON note BEGIN UPDATE OR IGNORE [Note] SET at = 7; END;",
        touch("AFTER UPDATE OF title", "at = 7")
            + "CREATE TRIGGER other AFTER UPDATE OF at ON note BEGIN UPDATE note SET title = NEW.at; END;",
    ])
    func aTriggerThatFiresItselfIsRefusedAndNamedWhenItComesLater(_ triggers: String) throws {
        let queue = try DatabaseQueue(
            path: stores.path("refused.db"), configuration: TestStores.configuration("refused.db"))
        try queue.write { try $0.execute(sql: Self.schema + triggers) }
        let error = #expect(throws: SyncError.self) {
            try Synchronizer(queue, tables: ["note"], environment: stores.clock.environment)
        }
        #expect(error?.code == .unsuitableTable)
        #expect(error?.message.contains("trigger touch") == true)
        let a = try stores.create(schema: Self.schema, tables: ["note"])
        try a.queue.write { try $0.execute(sql: triggers) }
        let remarks = try a.synchronizer.status().schemaRemarks
        #expect(remarks.first?.table == "note")
        #expect(remarks.first?.text.contains("trigger touch") == true)
    }
}
