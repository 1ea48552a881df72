import Testing

@testable import CipherStore

/// What requests promise whose statements are kept.
@Suite struct RequestStatementTests {
    private struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int64
        var name: String
    }

    private struct Team: Codable, FetchableRecord, PersistableRecord {
        static let members = hasMany(Member.self, using: ForeignKey(["team"], to: ["code"]))
        var code: String
    }

    private struct Member: Codable, FetchableRecord, PersistableRecord {
        var name: String
        var team: String
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    INSERT INTO player VALUES (1, 'Arthur'), (2, 'Barbara'), (3, 'Craig');
                    CREATE TABLE team (code TEXT PRIMARY KEY);
                    CREATE TABLE member (name TEXT NOT NULL, team TEXT);
                    INSERT INTO team VALUES ('blue'), ('red');
                    INSERT INTO member VALUES ('Arthur', 'red'), ('Barbara', 'blue'), ('Craig', 'red')
                    """)
        }
    }

    // MARK: Cursors

    @Test func cursorsOfOneRequestInterleave() throws {
        try queue.inDatabase { db in
            func request(from id: Int) -> QueryInterfaceRequest<Player> {
                Player.filter(Column("id") >= id).order(Column("id"))
            }
            for _ in 0..<3 { _ = try request(from: 1).fetchAll(db) }
            let one = try request(from: 1).fetchCursor(db)
            let other = try request(from: 2).fetchCursor(db)
            #expect(try one.next()?.id == 1)
            #expect(try other.next()?.id == 2)
            #expect(try one.next()?.id == 2)
            for id in [1, 3, 2] {
                let found = try request(from: id).fetchAll(db)
                #expect(found.count == 4 - id)
            }
            #expect(try other.next()?.id == 3)
            #expect(try one.next()?.id == 3)
            #expect(try other.next() == nil)
            #expect(try one.next() == nil)
        }
    }

    @Test(arguments: [false, true]) func aCursorKeepsItsArguments(isSQL: Bool) throws {
        try queue.inDatabase { db in
            func request(_ id: Int) -> AnyFetchRequest<Player> {
                if isSQL {
                    return AnyFetchRequest(
                        SQLRequest<Player>(sql: "SELECT * FROM player WHERE id = ?", arguments: [id]))
                }
                return AnyFetchRequest(Player.filter(Column("id") == id))
            }
            for _ in 0..<3 { _ = try request(1).fetchAll(db) }
            let cursor = try request(2).fetchCursor(db)
            for (id, name) in [(1, "Arthur"), (3, "Craig"), (1, "Arthur")] {
                let one = try request(id).fetchOne(db)
                let all = try request(id).fetchAll(db)
                #expect(one?.name == name)
                #expect(all.map(\.name) == [name])
            }
            #expect(try cursor.next()?.name == "Barbara")
            #expect(try cursor.next() == nil)
        }
    }

    // MARK: Statements

    @Test func aRequestInSQLIsPreparedOnce() throws {
        try queue.inDatabase { db in
            let sql = "SELECT * FROM player WHERE id = ?"
            func name(_ id: Int) throws -> String? {
                try SQLRequest<Player>(sql: sql, arguments: [id]).fetchOne(db)?.name
            }
            for _ in 0..<2 { #expect(try name(2) == "Barbara") }
            let first = db.recurringStatements[sql]?.sqliteStatement
            #expect(first != nil)
            #expect(try name(3) == "Craig")
            #expect(db.recurringStatements[sql]?.sqliteStatement == first)
            // Who prepares it has it alone.
            let own = try SQLRequest<Player>(sql: sql, arguments: [1]).makePreparedRequest(db)
            #expect(try name(2) == "Barbara")
            #expect(try Player.fetchOne(own.statement)?.name == "Arthur")
        }
    }

    @Test func aRequestForAssociatedRowsIsPreparedOnce() throws {
        try queue.inDatabase { db throws in
            func names(_ code: String) throws -> [String] {
                let request = Team.filter(Column("code") == code).including(all: Team.members)
                let rows = try Row.fetchAll(db, request)
                return (rows.first?.prefetchedRows["members"] ?? []).map { $0["name"] as String }
            }
            var texts: [String] = []
            db.trace { texts.append("\($0)") }
            for _ in 0..<3 { #expect(try names("red") == ["Arthur", "Craig"]) }
            db.trace(options: [])
            let both = texts.suffix(2)
            let kept = both.map { db.recurringStatements[$0]?.sqliteStatement }
            #expect(both.first?.contains("\"team\"") == true)
            #expect(both.last?.contains("\"member\"") == true)
            #expect(!kept.contains(nil))
            #expect(both.allSatisfy { db.recurringStatements[$0]?.arguments.isEmpty == true })
            #expect(try names("blue") == ["Barbara"])
            #expect(try names("red") == ["Arthur", "Craig"])
            #expect(both.map { db.recurringStatements[$0]?.sqliteStatement } == kept)
        }
    }

    @Test func requestsOfManyTextsAreEachPreparedOnce() throws {
        try queue.inDatabase { db in
            let requests = (1...100).map { Player.order(Column("id")).limit($0) }
            let texts = (1...100).map { "SELECT * FROM \"player\" ORDER BY \"id\" LIMIT \($0)" }
            for _ in 0..<2 { for request in requests { _ = try request.fetchAll(db) } }
            let first = texts.map { db.recurringStatements[$0]?.sqliteStatement }
            #expect(!first.contains(nil))
            for _ in 0..<2 { for request in requests { _ = try request.fetchAll(db) } }
            #expect(texts.map { db.recurringStatements[$0]?.sqliteStatement } == first)
        }
    }

    @Test func whatIsKeptOfRequestsIsBounded() throws {
        try queue.inDatabase { db in
            func text(_ limit: Int) -> String { "SELECT * FROM \"player\" LIMIT \(limit)" }
            for limit in 1...1000 {
                for _ in 0..<2 { _ = try Player.limit(limit).fetchAll(db) }
            }
            let kept = (1...1000).count { db.recurringStatements[text($0)] != nil }
            #expect(kept > 0)
            #expect(kept <= 128)
        }
    }

    @Test func listsOfManyLengthsDriveOutNobody() throws {
        try queue.inDatabase { db in
            let query = "SELECT count(*) FROM player"
            for _ in 0..<3 { _ = try Int.fetchOne(db, sql: query) }
            let recurring = db.recurringStatements[query]?.sqliteStatement
            let cached = try db.cachedStatement(sql: query)
            for count in 1...300 {
                let keys = Array(1001...1000 + count)
                let found = try Player.filter(keys: keys).fetchAll(db)
                #expect(found.isEmpty)
                #expect(try Player.deleteAll(db, keys: keys) == 0)
                #expect(try Player.filter(keys: keys).updateAll(db, Column("name").set(to: "x")) == 0)
            }
            #expect(recurring != nil)
            #expect(db.recurringStatements[query]?.sqliteStatement == recurring)
            let again = try db.cachedStatement(sql: query)
            #expect(again === cached)
        }
    }
}
