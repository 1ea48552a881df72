import CipherStore
import Testing

private struct Crop: Codable, Equatable, FetchableRecord, PersistableRecord {
    enum Columns: String, ColumnExpression, CaseIterable { case name, weight }

    var id: Int64
    var name: String
    var weight: Int
}

/// Columns that are given as collections of one type, or of several.
@Suite struct ColumnCollectionTests {
    private static let changed = Crop(id: 1, name: "kale", weight: 2)

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE crop (id INTEGER PRIMARY KEY, name TEXT, weight INTEGER)")
            try Crop(id: 1, name: "leek", weight: 1).insert(db)
        }
        return queue
    }

    @Test func anArrayOfColumnsSaysWhatIsUpdated() throws {
        try makeQueue().write { db throws in
            let columns: [Column] = ["name"].map { Column($0) }
            try Self.changed.update(db, columns: columns)
            let stored = try Crop.fetchAll(db)
            #expect(stored == [Crop(id: 1, name: "kale", weight: 1)])
        }
    }

    @Test func aSetOfCasesSaysWhatIsUpdated() throws {
        try makeQueue().write { db throws in
            let columns: Set<Crop.Columns> = [.weight]
            try Self.changed.update(db, columns: columns)
            let stored = try Crop.fetchAll(db)
            #expect(stored == [Crop(id: 1, name: "leek", weight: 2)])
        }
    }

    @Test func allCasesOfAnEnumerationAreUpdatedAndFetched() throws {
        try makeQueue().write { db throws in
            let name = try Self.changed.updateAndFetch(
                db, columns: Crop.Columns.allCases, selection: [Column("name")],
                fetch: { statement in try String.fetchOne(statement) })
            #expect(name == "kale")
            let stored = try Crop.fetchAll(db)
            #expect(stored == [Self.changed])
        }
    }

    @Test func literalsMayHoldColumnsOfOneTypeOrOfSeveral() throws {
        try makeQueue().write { db throws in
            try Self.changed.update(db, columns: [Column("name"), Column("weight")])
            let first = try Crop.fetchAll(db)
            #expect(first == [Self.changed])
            let mixed: [any ColumnExpression] = [Crop.Columns.name, Column("weight")]
            try Crop(id: 1, name: "chard", weight: 3).update(db, columns: mixed)
            let second = try Crop.fetchAll(db)
            #expect(second == [Crop(id: 1, name: "chard", weight: 3)])
        }
    }

    @Test func columnsOfOneTypeAreLeftOut() throws {
        try makeQueue().read { db throws in
            let columns: [Column] = [Column("id"), Column("weight")]
            let row = try Crop.select(.allColumns(excluding: columns)).asRequest(of: Row.self).fetchOne(db)
            #expect(row.map { Array($0.columnNames) } == ["name"])
            let all = try Row.fetchOne(db, sql: "SELECT NULL AS label, name FROM crop")
            let name: String? = all?.coalesce([Column("label"), Column("name")])
            #expect(name == "leek")
        }
    }
}
