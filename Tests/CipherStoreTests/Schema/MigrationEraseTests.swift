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
        var isErased = false
        queue.inDatabase { db in
            db.trace { event in
                guard !isErased, "\(event)".hasPrefix("BEGIN EXCLUSIVE") else { return }
                isErased = true
                do {
                    try migrator("b").migrate(other)
                    try other.write { try $0.execute(sql: "INSERT INTO t (b) VALUES (2), (3)") }
                } catch {
                    Issue.record(error)
                }
            }
        }
        try migrator("b").migrate(queue)
        queue.inDatabase { $0.trace(options: []) }
        #expect(isErased)
        #expect(try count(queue) == 2)
        #expect(try count(other) == 2)
    }
}
