import CipherStore
import Foundation
import Testing

private struct Label: Codable, FetchableRecord, PersistableRecord, Equatable {
    var id: UUID
    var name: String
}

/// Requests with more keys than a statement can have arguments.
@Suite struct ManyKeysTests {
    private func uuid(_ number: Int) -> UUID {
        var uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 0x70, 7, 0x80, 9, 10, 11, 12, 0, 0, 0))
        withUnsafeMutableBytes(of: &uuid) { bytes in
            bytes[13] = UInt8(number >> 16 & 255)
            bytes[14] = UInt8(number >> 8 & 255)
            bytes[15] = UInt8(number & 255)
        }
        return uuid
    }

    @Test func rowsAreFoundByManyUUIDsAndTexts() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE label (id BLOB PRIMARY KEY, name TEXT)")
            let last = Label(id: uuid(39_999), name: "it's 39999")
            try Label(id: uuid(0), name: "it's 0").insert(db)
            try last.insert(db)
            let ids = (1..<40_000).map(uuid)
            let byID = try Label.filter(keys: ids).fetchAll(db)
            #expect(byID == [last])
            let names = (1..<40_000).map { "it's \($0)" } + ["a\0b"]
            let byName = try Label.filter(names.contains(Column("name"))).fetchAll(db)
            #expect(byName == [last])
        }
    }

    @Test func everyEngineReadsTheVeryNumberThatIsWritten() throws {
        var numbers: [Double] = [
            0, 1, -3, 0.1, -0.1, 1.0 / 3, 0.3, 0.1 + 0.2, 5e-324, 1e-300, 1e22, 1e23, 0x1p53, 0x1p63,
            123_456_789.987_654_32, Double.infinity, -Double.infinity, -Double.greatestFiniteMagnitude,
            Double.leastNormalMagnitude, Double.leastNormalMagnitude.nextDown,
        ]
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let number = Double(bitPattern: random.next())
            if !number.isNaN { numbers.append(number) }
        }
        try DatabaseQueue().write { db throws in
            for number in numbers {
                let read = try Double.fetchOne(db, sql: "SELECT \(number.exactSQL)")
                #expect(read?.bitPattern == number.bitPattern, "\(number)")
            }
            let none = try Double.fetchOne(db, sql: "SELECT \(Double.nan.exactSQL)")
            #expect(none == nil)
        }
    }

    @Test func rowsAreFoundByManyNumbers() throws {
        let numbers: [Double] = (0..<1200).map { Double($0 - 600) * 0.7 }
        let integers = Array(-1200..<0)
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE point (x REAL, y INTEGER, PRIMARY KEY (x, y))")
            for index in [0, 1, 599, 600, 1198, 1199] {
                try db.execute(
                    sql: "INSERT INTO point VALUES (?, ?)", arguments: [numbers[index], integers[index]])
            }
            let byX = try Table("point").filter(numbers.contains(Column("x"))).fetchCount(db)
            #expect(byX == 6)
            let keys = zip(numbers, integers).map { number, integer in
                ["x": number, "y": integer] as [String: (any DatabaseValueConvertible)?]
            }
            let byBoth = try Table("point").filter(keys: keys).fetchCount(db)
            #expect(byBoth == 6)
        }
    }

    @Test func noEventAndNoErrorShowsTheValuesThatAreNoArguments() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE label (id BLOB PRIMARY KEY, name TEXT)")
            let count = max(db.maximumStatementArgumentCount / 2, 400) + 50
            let names = (0..<count).map { "MARKER \($0)" }
            try Label(id: uuid(0), name: "MARKER \(count - 1)").insert(db)
            var events: [String] = []
            db.trace(options: [.statement, .profile]) { event in events.append(event.description) }
            let found = try Label.filter(names.contains(Column("name"))).fetchAll(db)
            let numbers = (0...500).map { 7_700_000 + $0 }
            let none = try Label.filter(numbers.contains(Column("name"))).fetchAll(db)
            db.trace(options: [])
            #expect(found.count == 1 && none.isEmpty)
            #expect(!events.contains { $0.contains("77000") })
            #expect(events.contains { $0.contains("hidden values") })
            #expect(!events.contains { $0.contains("MARKER") })
            let error = #expect(throws: DatabaseError.self) {
                try Label.filter(names.contains(Column("missing"))).fetchAll(db)
            }
            #expect(error?.message?.contains("missing") == true)
            #expect(error?.sql?.contains("hidden values") == true)
            #expect(error?.description.contains("MARKER") == false)
        }
    }

    @Test func rowsAreFoundByManyKeysOfTwoColumns() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE pair (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO pair VALUES ('x0', -1), ('x1', 0), ('x1199', 1198), ('y', 3)
                    """)
            let keys = (0..<1200).map {
                ["a": "x\($0)", "b": $0 - 1] as [String: (any DatabaseValueConvertible)?]
            }
            let rows = try Table("pair").filter(keys: keys).order(Column("b")).fetchAll(db)
            #expect(rows.map { $0["b"] as Int } == [-1, 0, 1198])
        }
    }
}
