import CipherStore
import Foundation
import SyncTesting
import Testing

/// An app's own schema and edits.
@Suite struct SimulatedAppTests {
    private static let ids = (1...4).map { number in
        Data(repeating: UInt8(number), count: 16)
    }

    private static func app(
        schema: String, update: String = "UPDATE note SET stars = ? WHERE id = ?"
    ) -> SimulatedApp {
        SimulatedApp(tables: ["note"]) { database, _ in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("notes") { try $0.execute(sql: schema) }
            try migrator.migrate(database)
        } edit: { db, random, _ in
            guard let id = random.element(of: ids) else { return "nothing" }
            switch random.number(below: 3) {
            case 0:
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'new')", arguments: [id])
                return "insert"
            case 1:
                try db.execute(sql: update, arguments: [random.number(below: 5), id])
                return "update"
            default:
                try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id])
                return "delete"
            }
        }
    }

    @Test(arguments: 1...4) func replicasOfAnAppAgree(seed: UInt64) throws {
        let app = Self.app(
            schema: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT NOT NULL, stars INTEGER)")
        let result = try Simulation(seed: seed, app: app, stepCount: 30).run()
        #expect(result.violation == nil, "\(result)")
        #expect(result.trace.contains { $0.contains("update") })
    }

    @Test func countersOfAnAppAreSummedUp() throws {
        let app = SimulatedApp(tables: ["note"], counters: ["Note": ["Stars"]]) { database, _ in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("notes") {
                try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, stars INTEGER)")
            }
            try migrator.migrate(database)
        } edit: { db, random, _ in
            guard let id = random.element(of: Self.ids) else { return "nothing" }
            try db.execute(sql: "INSERT OR IGNORE INTO note VALUES (?, 0)", arguments: [id])
            try db.execute(sql: "UPDATE note SET stars = stars + 1 WHERE id = ?", arguments: [id])
            return "count"
        }
        for seed in 1...2 as ClosedRange<UInt64> {
            let result = try Simulation(seed: seed, app: app, stepCount: 20).run()
            #expect(result.violation == nil, "\(result)")
        }
    }

    @Test func anErrorOfAnEditEndsTheRun() throws {
        let app = Self.app(
            schema: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, stars INTEGER)",
            update: "UPDATE note SET stars = nowhere(?) WHERE id = ?")
        let result = try Simulation(seed: 1, app: app).run()
        #expect(result.violation?.rule == .failure)
        #expect(result.violation?.message.contains("nowhere") == true)
    }

    @Test func aTableThatCannotBeSynchronizedEndsTheRun() throws {
        let app = Self.app(schema: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, stars INTEGER)")
        let result = try Simulation(seed: 1, app: app).run()
        #expect(result.violation?.message.contains("UUID") == true)
    }
}
