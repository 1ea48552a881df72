import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Triggers that a file brings along, and whose names are like those of triggers that track a table.
@Suite struct HostileTriggerTests {
    private static func trigger(_ name: String, _ column: String, _ bit: String) -> String {
        "CREATE TRIGGER \"\(name)\" AFTER UPDATE ON note BEGIN SELECT (NEW.\(column) IS NULL) << \(bit); END"
    }

    private func captured(_ replica: TestReplica) throws -> CapturedSchema? {
        try replica.queue.read { try CapturedSchema.load($0, table: 1) }
    }

    @Test(arguments: [
        Self.trigger("_sync_u9223372036854775807_1", "title", "5"),
        Self.trigger("_sync_u-9223372036854775808_1", "title", "5"),
        Self.trigger("_sync_u153722867280912930_1", "title", "59"),
        Self.trigger("_sync_u7_1", "title", "9223372036854775807"),
        Self.trigger("_sync_u7_1", "title", "60"),
        Self.trigger("_sync_u00_1", "body", "0"),
        Self.trigger("_sync_u+0_1", "body", "0"),
        Self.trigger("_sync_u_1", "body", "0"),
        Self.trigger("_sync_u9223372036854775807_9223372036854775807", "title", "59"),
    ])
    func aTriggerThatIsNoneOfTheLibraryNamesNoColumn(sql: String) throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let columns = try captured(a)?.columns
        #expect(columns?.isEmpty == false)
        try b.changeUnobserved(sql)
        #expect(try captured(b)?.columns == columns)
        let all = try b.queue.read { try CapturedSchema.loadAll($0) }
        #expect(all[1]?.columns == columns)
        try a.execute("UPDATE note SET body = 'first'")
        try a.sync(b)
        #expect(try b.value("SELECT body FROM note") == "first")
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    /// It gives way to those of the library.
    @Test func theTriggersAreMadeAnew() throws {
        let a = try TestStores().create()
        try a.changeUnobserved(Self.trigger("_sync_u9223372036854775807_1", "title", "5"))
        #expect(try a.problems() != [])
        let environment = a.stores.clock.environment
        try a.queue.write { db in
            try db.withoutReportingSchemaChanges {
                _ = try TableTracking(db: db, environment: environment).refresh()
            }
        }
        #expect(try a.problems() == [])
    }
}
