import CipherStore
import Foundation
import Testing

/// SQL: statements, arguments, fetching, cursors and rows.
@Suite struct GuideStatementTests {
    @Test func argumentsArePositionalNamedOrInTheText() throws {
        let store = try GardenStore()
        let name = "Lady's mantle"
        try store.queue.write { db throws in
            try db.execute(sql: "INSERT INTO plant (name, height) VALUES (?, ?)", arguments: [name, 30])
            try db.execute(
                sql: "UPDATE plant SET height = :height WHERE id = :id", arguments: ["id": 1, "height": 31])
            try db.execute(
                literal:
                    "INSERT INTO plant (name) VALUES (\(name)); UPDATE plant SET label = \("A") WHERE id = 2")
            #expect(db.lastInsertedRowID == 2)
            #expect(db.changesCount == 1)
            let rows = try Row.fetchAll(db, sql: "SELECT name, height, label FROM plant")
            #expect(
                rows == [
                    ["name": name, "height": 31, "label": nil], ["name": name, "height": 10, "label": "A"],
                ])
        }
    }

    @Test func eachStatementOfATextIsPrepared() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            let statements = try db.allStatements(
                sql: "DELETE FROM plant WHERE name = ?; SELECT name FROM plant WHERE height > ?",
                arguments: ["Rose", 30])
            var names: [String] = []
            while let statement = try statements.next() {
                names += try String.fetchAll(statement)
            }
            #expect(names == ["Leek", "Kale"])
        }
    }

    @Test func aStatementIsUsedAgainWithOtherArguments() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let statement = try db.makeStatement(sql: "SELECT height FROM plant WHERE name = :name")
            #expect(try Int.fetchOne(statement, arguments: ["name": "Kale"]) == 60)
            try statement.setArguments(["name": "Basil"])
            #expect(try Int.fetchOne(statement) == 25)
            #expect(throws: DatabaseError.self) { try statement.setArguments(["height": 1]) }
        }
    }

    @Test func valuesRowsAndRecordsAreFetchedInFourShapes() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let sql = "SELECT * FROM plant WHERE isEdible ORDER BY name"
            #expect(try Row.fetchOne(db, sql: sql)?["name"] == "Basil")
            #expect(try Plant.fetchAll(db, sql: sql).map(\.name) == ["Basil", "Kale", "Leek"])
            #expect(try Set(Plant.fetchCursor(db, sql: sql)).count == 3)
            #expect(try Int.fetchSet(db, sql: "SELECT height > 30 FROM plant") == [0, 1])
            #expect(try Bool.fetchOne(db, sql: "SELECT isEdible FROM plant WHERE name = 'Oak'") == nil)
            let labels = try Optional<String>.fetchAll(db, sql: "SELECT label FROM plant LIMIT 2")
            #expect(labels == [nil, nil])
            let label = try Optional<String>.fetchOne(db, sql: "SELECT label FROM plant")
            #expect(label == .some(.none))
        }
    }

    @Test func cursorsAreTransformedLazilyAndFillCollections() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            func heights() throws -> some Cursor<Int> {
                try Int.fetchCursor(db, sql: "SELECT height FROM plant ORDER BY id")
            }
            #expect(try Array(heights().filter { $0 > 30 }.map { $0 / 10 }) == [4, 12, 6])
            #expect(try heights().max() == 120)
            #expect(try heights().reduce(0, +) == 245)
            #expect(try Array(heights().dropFirst().prefix(2)) == [120, 25])
            #expect(try heights().contains(60))
            #expect(try heights().suffix(1) == [60])
            let byBed = try Dictionary(grouping: Plant.fetchCursor(db), by: \.bed)
            #expect(byBed["north"]?.map(\.name) == ["Leek", "Kale"])
            let pairs = try Plant.fetchCursor(db).map { ($0.name, $0.height) }
            #expect(try Dictionary(uniqueKeysWithValues: pairs)["Rose"] == 120)
        }
    }

    @Test func columnsAreReadByPlaceNameAndColumn() throws {
        let store = try GardenStore.planted()
        let found = try store.queue.read { db in
            try Row.fetchOne(db, sql: "SELECT id, name, label, x'0102' AS seed, name AS name FROM plant")
        }
        let row = try #require(found)
        #expect(row[0] as Int == 1)
        #expect(row["NAME"] as String == "Leek")
        #expect(row[Plant.Columns.name] as String == "Leek")
        #expect(row["label"] as String? == nil)
        #expect(row["missing"] as Int? == nil)
        #expect(row.hasColumn("seed"))
        #expect(row.coalesce(["label", "name"]) as String? == "Leek")
        #expect(Array(row.columnNames) == ["id", "name", "label", "seed", "name"])
        let value: DatabaseValue = row["seed"]
        #expect(value.storage == .blob(Data([1, 2])))
        #expect(Int.fromDatabaseValue(value) == nil)
        #expect(Dictionary(row, uniquingKeysWith: { first, _ in first }).count == 4)
        #expect(throws: (any Error).self) { try row.decode(Date.self, forColumn: "name") }
    }

    @Test func blobsAreReadWithoutACopy() throws {
        let store = try GardenStore()
        try store.queue.read { db throws in
            let rows = try Row.fetchCursor(db, sql: "SELECT x'CAFE' AS seed")
            let row = try #require(try rows.next())
            let first = try row.withUnsafeData(named: "seed") { $0?.first }
            let last = try row.withUnsafeData(name: "seed") { $0?.last }
            #expect(first == 0xCA)
            #expect(last == 0xFE)
        }
    }

    @Test func rowsAreMadeOfDictionaries() {
        let row: Row = ["name": "Mint", "height": 20, "label": nil]
        #expect(row["height"] as Int == 20)
        #expect(Array(row.columnNames) == ["name", "height", "label"])
        #expect(Row(["name": "Mint"]) == ["name": "Mint"])
        #expect(Row(["height": Date.self] as [AnyHashable: Any]) == nil)
    }
}
