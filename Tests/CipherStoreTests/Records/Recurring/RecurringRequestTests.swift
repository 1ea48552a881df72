import Testing

@testable import CipherStore

/// Requests whose text recurs, and records by their keys.
@Suite struct RecurringRequestTests {
    private struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int64
        var name: String
    }

    /// A record type whose table can be another one each time.
    private struct Moved: FetchableRecord, TableRecord {
        @TaskLocal static var table = "player"
        static var databaseTableName: String { table }
        let name: String

        init(row: Row) { name = row["name"] }
    }

    private struct Named: FetchableRecord, TableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [Column("name")] }
        let columnCount: Int

        init(row: Row) { columnCount = row.count }
    }

    /// A request that hands out the same statement each time.
    private struct Keeping: FetchRequest {
        typealias RowDecoder = Player
        let prepared: PreparedRequest
        var sqlSubquery: SQLSubquery { SQLRequest<Player>(sql: prepared.statement.sql).sqlSubquery }

        func fetchCount(_ db: Database) -> Int { 1 }

        func databaseRegion(_ db: Database) -> DatabaseRegion { prepared.statement.databaseRegion }

        func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) -> PreparedRequest {
            prepared
        }
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            for (id, name) in [(1, "Arthur"), (2, "Barbara"), (3, "Craig")] {
                try Player(id: Int64(id), name: name).insert(db)
            }
        }
        return queue
    }

    @Test func aRequestIsPreparedOnce() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            func names(from id: Int) throws -> [String] {
                try Player.filter(Column("id") >= id).order(Column("id")).fetchAll(db).map(\.name)
            }
            #expect(try names(from: 2) == ["Barbara", "Craig"])
            #expect(SQLiteHandle.firstStatement(db.handle)?.contains("ORDER BY") != true)
            #expect(try names(from: 3) == ["Craig"])
            let sql = try #require(SQLiteHandle.firstStatement(db.handle))
            // Whoever holds the statement keeps it from coming back.
            let first = db.recurringStatements[sql]?.sqliteStatement
            #expect(db.recurringStatements[sql]?.arguments.isEmpty == true)
            #expect(try names(from: 1).count == 3)
            #expect(first != nil)
            #expect(db.recurringStatements[sql]?.sqliteStatement == first)
        }
    }

    @Test func whoPreparesARequestHasItsStatementAlone() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let request = Player.filter(Column("id") == 2)
            for _ in 0..<3 { _ = try request.fetchAll(db) }
            let own = try request.makePreparedRequest(db, forSingleResult: false)
            let other = try Player.filter(Column("id") == 3).fetchAll(db)
            #expect(other.map(\.name) == ["Craig"])
            let found = try Player.fetchAll(own.statement)
            #expect(found.map(\.name) == ["Barbara"])
            let cursor = try request.fetchCursor(db)
            let first = try cursor.next()
            #expect(try request.fetchAll(db).count == 1)
            #expect(first?.name == "Barbara")
            #expect(try cursor.next() == nil)
        }
    }

    @Test func aRequestOfAnotherTypeKeepsItsStatement() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let request = Player.filter(Column("id") == 2)
            for _ in 0..<3 { _ = try request.fetchAll(db) }
            let keeping = Keeping(prepared: try request.makePreparedRequest(db, forSingleResult: false))
            for _ in 0..<3 {
                #expect(try keeping.fetchAll(db).map(\.name) == ["Barbara"])
                #expect(try Player.filter(Column("id") == 1).fetchAll(db).map(\.name) == ["Arthur"])
            }
        }
    }

    @Test func aRecordIsFetchedByItsKeyWhateverItsTableBecomes() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for _ in 0..<3 { #expect(try Player.fetchOne(db, key: 2)?.name == "Barbara") }
            #expect(try Player.fetchOne(db, key: 9) == nil)
            #expect(try Player.fetchOne(db, key: nil as Int?) == nil)
            #expect(throws: RecordError.self) { try Player.find(db, key: 9) }
            try db.execute(
                sql: """
                    DROP TABLE player;
                    CREATE TABLE player (name TEXT NOT NULL, id INTEGER, code TEXT PRIMARY KEY);
                    INSERT INTO player VALUES ('Diana', 7, '2')
                    """)
            #expect(try Player.fetchOne(db, key: "2") == Player(id: 7, name: "Diana"))
            try db.execute(sql: "DROP TABLE player")
            #expect(throws: DatabaseError.self) { try Player.fetchOne(db, key: 2) }
        }
    }

    @Test func anotherConnectionsTableIsSeenByKey() throws {
        let folder = try TemporaryFolder()
        let one = try DatabaseQueue(path: folder.file("shared.db"))
        let other = try DatabaseQueue(path: folder.file("shared.db"))
        try one.write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            try Player(id: 1, name: "Arthur").insert(db)
        }
        for _ in 0..<3 { #expect(try one.read { try Player.fetchOne($0, key: 1)?.name } == "Arthur") }
        try other.write {
            try $0.execute(
                sql: """
                    DROP TABLE player;
                    CREATE TABLE player (id INTEGER, name TEXT NOT NULL, code INTEGER PRIMARY KEY);
                    INSERT INTO player VALUES (5, 'Eve', 1)
                    """)
        }
        #expect(try one.read { try Player.fetchOne($0, key: 1) } == Player(id: 5, name: "Eve"))
    }

    @Test func theTableOfATypeCanBeAnotherOne() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE former (name); INSERT INTO former (rowid, name) VALUES (2, 'Ben')")
            for _ in 0..<2 {
                #expect(try Moved.fetchOne(db, key: 2)?.name == "Barbara")
                let former = try Moved.$table.withValue("former") { try Moved.fetchOne(db, key: 2) }
                #expect(former?.name == "Ben")
            }
        }
    }

    @Test func aSelectionOfColumnsIsKept() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for _ in 0..<3 {
                let record = try Named.fetchOne(db, key: 2)
                #expect(record?.columnCount == 1)
            }
        }
    }

    @Test func anObservationOfAKeyIsOfThatRowAfterTheTextRecurs() throws {
        let queue = try makeQueue()
        let region = try queue.inDatabase { db in
            for _ in 0..<3 { _ = try Player.fetchOne(db, key: 2) }
            return try Player.filter(key: 2).databaseRegion(db)
        }
        #expect(region.description.contains("[2]"))
    }
}
