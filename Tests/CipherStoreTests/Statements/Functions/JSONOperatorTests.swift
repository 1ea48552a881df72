import CipherStore
import Testing

/// `->` and `->>` of the query interface are those of SQLite, on engines without them too.
@Suite struct JSONOperatorTests {
    private let documents = Table("document")
    private let info = JSONColumn("info")
    private let path = Column("path")

    private func makeQueue(_ rows: [(info: String, path: DatabaseValue)]) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE document (info TEXT, path)")
            for row in rows {
                try db.execute(sql: "INSERT INTO document VALUES (?, ?)", arguments: [row.info, row.path])
            }
        }
        return queue
    }

    @Test func aPartIsJSONAsItIsWritten() throws {
        let parts = [
            "true", "false", "null", "12345678901234567890", "1.50", "-0", "1e5", #""a\nb""#, "[1,2]",
            #"{"b":1}"#,
        ]
        let rows = parts.map { (info: "{\"a\": \($0)}", path: "a".databaseValue) }
        try makeQueue(rows).read { (db: Database) throws -> Void in
            let constant = documents.select(info.jsonRepresentation(atPath: "a"))
            #expect(try String.fetchAll(db, constant) == parts)
            let variable = documents.select(info.jsonRepresentation(atPath: path))
            #expect(try String.fetchAll(db, variable) == parts)
            let array = documents.select(Database.jsonArray([info.jsonRepresentation(atPath: "a")]))
            #expect(try String.fetchAll(db, array) == parts.map { "[\($0)]" })
            let missing = documents.filter(info.jsonRepresentation(atPath: "b") != nil)
            #expect(try missing.fetchCount(db) == 0)
        }
    }

    @Test func aPathIsAnElementOrAProperty() throws {
        let rows = [
            (info: "[7,8]", path: 1.databaseValue), (info: "[7,8]", path: "[1]".databaseValue),
            (info: "[7,8]", path: "[#-1]".databaseValue), (info: "[7,8]", path: "$[1]".databaseValue),
            (info: #"{"[]": 8}"#, path: "[]".databaseValue), (info: #"{"[1": 8}"#, path: "[1".databaseValue),
            (info: #"{"a.b": 8}"#, path: "a.b".databaseValue),
        ]
        try makeQueue(rows).read { (db: Database) throws -> Void in
            for row in rows {
                let request = documents.filter(path == row.path && info == row.info)
                #expect(try Int.fetchOne(db, request.select(info[row.path])) == 8, "\(row)")
                #expect(try Int.fetchOne(db, request.select(info[path])) == 8, "\(row)")
                let part = request.select(info.jsonRepresentation(atPath: row.path))
                #expect(try String.fetchOne(db, part) == "8", "\(row)")
            }
        }
    }
}
