import CipherStore
import Foundation
import Testing

/// Values that SQLite can't store: what is to store them throws, and stores nothing.
@Suite struct UnencodableValueTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE counter (id INTEGER PRIMARY KEY, n)") }
    }

    private struct Counter: Codable, PersistableRecord {
        static let databaseTableName = "counter"
        var id: Int64
        var n: UInt64
    }

    private struct ManualCounter: PersistableRecord {
        static let databaseTableName = "counter"
        var n: (any DatabaseValueConvertible)?

        func encode(to container: inout PersistenceContainer) {
            container["id"] = 1
            container["n"] = n
        }
    }

    /// A type that encodes itself, and fails.
    private struct Secret: Codable, DatabaseValueConvertible {
        struct Refusal: Error {}
        var text = "secret"
        init() {}
        init(from decoder: any Decoder) throws { throw Refusal() }
        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    private struct Holder: Encodable, PersistableRecord {
        static let databaseTableName = "counter"
        var id = 1
        var n = Secret()
    }

    private func expectMismatch(_ body: (Database) throws -> Void) throws {
        let error = #expect(throws: DatabaseError.self) { try queue.write { try body($0) } }
        #expect(error?.resultCode == .SQLITE_MISMATCH)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("\(UInt64.max)") == false)
        let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM counter") }
        #expect(count == 0)
    }

    @Test func anIntegerOutOfRangeIsRefusedByStatements() throws {
        let sql = "INSERT INTO counter (n) VALUES (?)"
        for value: any DatabaseValueConvertible in [UInt64.max, UInt.max, UInt64(Int64.max) + 1] {
            try expectMismatch { try $0.execute(sql: sql, arguments: [value]) }
            try expectMismatch { db in
                let statement = try db.makeStatement(sql: sql)
                statement.setUncheckedArguments([value])
                try statement.execute()
            }
            try expectMismatch { _ = try Row.fetchOne($0, sql: "SELECT ?", arguments: [value]) }
        }
        try queue.write { try $0.execute(sql: sql, arguments: [UInt64(Int64.max)]) }
        #expect(try queue.read { try UInt64.fetchOne($0, sql: "SELECT n FROM counter") } == UInt64(Int64.max))
    }

    @Test func anIntegerOutOfRangeIsRefusedByRecords() throws {
        try expectMismatch { try Counter(id: 1, n: .max).insert($0) }
        try expectMismatch { try ManualCounter(n: UInt64.max).insert($0) }
        try expectMismatch { try ManualCounter(n: UInt.max).upsert($0) }
        try expectMismatch { try ManualCounter(n: UInt64.max).save($0) }
        #expect(throws: DatabaseError.self) { try ManualCounter(n: UInt64.max).databaseDictionary }
        try queue.write { db in
            try Counter(id: 1, n: 2).insert(db)
            #expect(throws: DatabaseError.self) { try Counter(id: 1, n: .max).update(db) }
            // A failure is that of one record only.
            try Counter(id: 2, n: 3).insert(db)
            #expect(try Int.fetchAll(db, sql: "SELECT n FROM counter ORDER BY id") == [2, 3])
        }
    }

    @Test func aValueThatFailsToEncodeIsRefused() throws {
        try expectMismatch {
            try $0.execute(sql: "INSERT INTO counter (n) VALUES (?)", arguments: [Secret()])
        }
        try expectMismatch { try Holder().insert($0) }
        try expectMismatch { try ManualCounter(n: Secret()).insert($0) }
    }

    @Test func aFunctionThatReturnsSuchAValueFails() throws {
        try queue.write { db in
            db.add(function: DatabaseFunction("huge") { _ in UInt64.max })
            #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: "SELECT huge()") }
        }
    }

    @Test func aMemberOfALongListIsRefused() throws {
        for (index, count) in [(0, 501), (250, 501), (1499, 1500)] {
            var values = (0..<count).map { UInt64($0) }
            values[index] = .max
            let request = Table("counter").filter(values.contains(Column("n")))
            try expectMismatch { _ = try request.fetchCount($0) }
            try expectMismatch { _ = try request.deleteAll($0) }
        }
    }

    @Test func suchAValueIsRefusedInExpressions() throws {
        let negated = Table("counter").filter(!UInt64.max.databaseValue.sqlExpression)
        try expectMismatch { _ = try negated.fetchCount($0) }
        try expectMismatch { _ = try Table("counter").filter(Column("id") == UInt64.max).databaseRegion($0) }
    }

    @Test func suchAValueIsRefusedInDefinitions() throws {
        try expectMismatch { db in
            try db.create(table: "total") { $0.column("n").defaults(to: UInt64.max) }
        }
        try expectMismatch { db in
            try db.create(view: "high", as: Table("counter").filter(Column("n") > UInt64.max))
        }
    }
}
