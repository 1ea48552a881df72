import Testing

@testable import CipherStore

/// Databases that are erased because their migrations changed.
@Suite struct MigrationEraseTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open() throws -> DatabaseQueue {
        try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
    }

    private func migrator(_ column: String) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("first") { db in
            try db.execute(sql: "CREATE TABLE t (\(column))")
        }
        return migrator
    }

    private func count(_ queue: DatabaseQueue) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test func aChangedMigrationErasesTheDatabase() throws {
        let queue = try open()
        try migrator("a").migrate(queue)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try migrator("b").migrate(queue)
        #expect(try count(queue) == 0)
    }

    /// An app and its extension that start together both see that the migrations changed.
    @Test func whatWasWrittenAfterAnotherConnectionErasedIsKept() throws {
        let (queue, other) = (try open(), try open())
        try migrator("a").migrate(queue)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try migrate(queue, by: migrator("b")) {
            try migrator("b").migrate(other)
            try other.write { try $0.execute(sql: "INSERT INTO t (b) VALUES (2), (3)") }
        }
        #expect(try count(queue) == 2)
        #expect(try count(other) == 2)
    }

    /// What follows in the same access works with the schema that the other connection made.
    @Test func migrationsAfterAnotherConnectionErasedSeeItsSchema() throws {
        let (queue, other) = (try open(), try open())
        try migrator("a").migrate(queue)
        var longer = migrator("b")
        longer.registerMigration("second") { db in
            let columns = try db.columns(in: "t").map(\.name)
            try db.execute(sql: "CREATE TABLE seen (columns TEXT)")
            try db.execute(sql: "INSERT INTO seen VALUES (?)", arguments: [columns.joined(separator: ",")])
        }
        try migrate(queue, by: longer) {
            try migrator("b").migrate(other)
            try other.write { try $0.execute(sql: "INSERT INTO t (b) VALUES (2), (3)") }
        }
        let seen = try queue.read { try String.fetchAll($0, sql: "SELECT columns FROM seen") }
        #expect(seen == ["b"])
        #expect(try count(queue) == 2)
    }

    /// Migrates a database, and lets others change it just before nobody else can do so any more.
    private func migrate(
        _ queue: DatabaseQueue, by migrator: DatabaseMigrator, meanwhile change: @escaping () throws -> Void
    ) throws {
        var isChanged = false
        queue.inDatabase { db in
            db.trace { event in
                guard !isChanged, "\(event)".hasPrefix("BEGIN EXCLUSIVE") else { return }
                isChanged = true
                do {
                    try change()
                } catch {
                    Issue.record(error)
                }
            }
        }
        defer { queue.inDatabase { $0.trace(options: []) } }
        try migrator.migrate(queue)
        #expect(isChanged)
    }
}
