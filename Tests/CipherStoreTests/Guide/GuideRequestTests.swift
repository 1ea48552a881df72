// Assignments of columns are expressions here.
// swift-format-ignore-file: NoAssignmentInExpressions

import CipherStore
import Foundation
import Testing

/// The query interface: requests, expressions, changes, and SQL inside them.
@Suite struct GuideRequestTests {
    private typealias Columns = Plant.Columns

    private func sql(_ db: Database, _ request: some FetchRequest) throws -> String {
        let statement = try request.makePreparedRequest(db).statement
        return "\(statement.sql) \(statement.arguments)"
    }

    @Test func requestsAreRefinedStepByStep() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let edible = Plant.filter(Columns.isEdible).order(Columns.height.desc)
            #expect(try edible.fetchAll(db).map(\.name) == ["Kale", "Leek", "Basil"])
            #expect(try edible.reversed().fetchOne(db)?.name == "Basil")
            #expect(try edible.limit(1, offset: 1).fetchOne(db)?.name == "Leek")
            #expect(try edible.fetchCount(db) == 3)
            #expect(try Plant.none().isEmpty(db))
            #expect(
                try Plant.select(Columns.bed, as: String.self).distinct().fetchSet(db) == [
                    "north", "south", "pots",
                ])
            #expect(try Table("plant").fetchCount(db) == 4)
            #expect(
                try sql(db, Plant.order(Columns.id).order(Columns.name).limit(3))
                    == #"SELECT * FROM "plant" ORDER BY "name" LIMIT 3 []"#)
        }
    }

    @Test func groupsAreFilteredAndAggregated() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let tallest =
                Plant
                .select(Columns.bed, max(Columns.height).forKey("top"))
                .group(Columns.bed)
                .having(count(Columns.id) > 1)
            #expect(try Row.fetchAll(db, tallest) == [["bed": "north", "top": 60]])
            #expect(try Int.fetchOne(db, Plant.select(sum(Columns.height))) == 245)
            #expect(try Double.fetchOne(db, Plant.select(average(Columns.height))) == 61.25)
            #expect(try Int.fetchOne(db, Plant.select(count(distinct: Columns.bed))) == 3)
            #expect(try Int.fetchOne(db, Plant.select(count(Columns.id, filter: Columns.isEdible))) == 3)
        }
    }

    @Test(
        arguments: [
            (Plant.Columns.bed == "north", [1, 4]),
            (Plant.Columns.label == nil && Plant.Columns.height > 50, [2, 4]),
            (!Plant.Columns.isEdible || Plant.Columns.height < 30, [2, 3]),
            ([1, 3].contains(Plant.Columns.id), [1, 3]),
            ((25...40).contains(Plant.Columns.height), [1, 3]),
            ((25..<40).contains(Plant.Columns.height), [3]),
            (Plant.Columns.name.like("%e"), [2, 4]),
            (Plant.Columns.label === nil, [1, 2, 3, 4]),
            ([Plant.Columns.isEdible, Plant.Columns.height >= 40].joined(operator: .and), [1, 4]),
            ((Plant.Columns.height & 8) > 0, [1, 2, 3, 4]),
            (Plant.Columns.name.lowercased == "rose", [2]),
            (length(Plant.Columns.name) == 5, [3]),
        ] as [(SQLExpression, [Int64])])
    func expressionsFilter(_ expression: SQLExpression, _ ids: [Int64]) throws {
        let store = try GardenStore.planted()
        let found = try store.queue.read { db in
            try Plant.filter(expression).orderByPrimaryKey().selectPrimaryKey(as: Int64.self).fetchAll(db)
        }
        #expect(found == ids)
    }

    @Test func expressionsCompute() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let leek = Plant.filter(key: 1)
            #expect(try Int.fetchOne(db, leek.select(Columns.height * 2 - 1)) == 79)
            #expect(
                try Double.fetchOne(db, leek.select(cast(Columns.height, as: .real) / 3)).map { Int($0) }
                    == 13)
            #expect(
                try String.fetchOne(
                    db, leek.select([Columns.name, "!".databaseValue].joined(operator: .concat))) == "Leek!")
            #expect(try String.fetchOne(db, leek.select(Columns.label ?? Columns.bed)) == "north")
            #expect(try String.fetchOne(db, leek.select(coalesce([Columns.label, Columns.name]))) == "Leek")
            #expect(try Int.fetchOne(db, leek.select(abs(-Columns.height))) == 40)
            let named = Plant.select((Columns.height + 1).forKey("next")).order(Column("next").detached)
            #expect(try Row.fetchOne(db, named) == ["next": 26])
            #expect(try Plant.order(Columns.label.ascNullsLast, Columns.id).fetchOne(db)?.id == 1)
        }
    }

    @Test func aHiddenRequestIsDecodedAsAnotherType() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let hidden = AnyFetchRequest(Plant.filter(key: 1).select(Columns.name))
            let request: AnyFetchRequest<String> = hidden.asRequest(of: String.self)
            let names = try request.fetchAll(db)
            #expect(names == ["Leek"])
            let count = try request.fetchCount(db)
            #expect(count == 1)
            let storage: Database.StorageClass = .text
            let height = try String.fetchOne(
                db, Plant.filter(key: 1).select(cast(Columns.height, as: storage)))
            #expect(height == "40")
        }
    }

    @Test func subqueriesAndCommonTablesFilter() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let top = Plant.select(max(Columns.height))
            #expect(try Plant.filter(Columns.height == top).fetchAll(db).map(\.name) == ["Rose"])
            let bed = TableAlias()
            let grown = Plant.filter(Columns.bed == bed[Column("code")] && Columns.height > 50)
            let beds = Bed.aliased(bed).filter(grown.exists())
            #expect(try Set(beds.fetchAll(db).map(\.code)) == ["north", "south"])
            #expect(try Bed.aliased(bed).filter(!grown.exists()).fetchAll(db).map(\.code) == ["pots"])
            let wide = CommonTableExpression(
                named: "wide", request: Bed.select(Column("code")).filter(Column("area") > 1))
            #expect(try Plant.with(wide).filter(wide.contains(Columns.bed)).fetchCount(db) == 3)
            let small: SQLRequest<String> = "SELECT code FROM bed WHERE area < \(1)"
            #expect(try Plant.filter(small.contains(Columns.bed)).fetchOne(db)?.name == "Basil")
        }
    }

    @Test func rowsAreChangedInBatches() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            #expect(
                try Plant.filter(Columns.isEdible).updateAll(
                    db, Columns.height += 5, Columns.label.set(to: nil)) == 3)
            #expect(
                try Plant.order(Columns.height.desc).limit(1).updateAll(db, Columns.label.set(to: "tall"))
                    == 1)
            #expect(try Plant.updateAll(db, onConflict: .ignore, Columns.label.set(to: "x")) == 1)
            #expect(try Plant.order(Columns.height).limit(2).deleteAll(db) == 2)
            #expect(
                try Plant.select(Columns.height, as: Int.self).order(Columns.height).fetchAll(db) == [
                    65, 120,
                ])
            #expect(try Table("plant").deleteAll(db) == 2)
        }
    }

    @Test func changedRowsAreReturnedByTheStatement() throws {
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            let assignments = [Columns.height += 5]
            guard EngineFeatures.current.supportsReturning else {
                let error = #expect(throws: DatabaseError.self) {
                    try Plant.all().updateAndFetchStatement(db, assignments, select: [Columns.height])
                }
                #expect(error?.message?.contains("3.35") == true)
                return
            }
            let tall = Plant.filter(Columns.height > 50)
            let statement = try tall.updateAndFetchStatement(db, assignments, select: [Columns.height])
            #expect(try Int.fetchSet(statement) == [125, 65])
        }
    }

    @Test func sqlIsEmbeddedInRequests() throws {
        let store = try GardenStore.planted()
        try store.queue.read { db throws in
            let least = 50
            #expect(try Plant.filter(sql: "height > ?", arguments: [least]).fetchCount(db) == 2)
            #expect(try Plant.filter(literal: "height > \(least)").fetchCount(db) == 2)
            let tall: SQL = "\(Columns.height) > \(least)"
            #expect(try Plant.filter(tall && Columns.isEdible).fetchOne(db)?.name == "Kale")
            let half = SQL("\(Columns.height) / 2").sqlExpression
            #expect(try Int.fetchAll(db, Plant.select(half).order(half.desc)) == [60, 30, 20, 12])
            let own = SQLRequest<Plant>(sql: "SELECT * FROM plant WHERE bed = ?", arguments: ["pots"])
            #expect(try own.fetchAll(db).map(\.name) == ["Basil"])
            let adapted = SQLRequest<Row>(sql: "SELECT 1 AS a, 2 AS b").adapted { _ in
                ColumnMapping(["c": "b"])
            }
            #expect(try adapted.fetchOne(db) == ["c": 2])
        }
    }

    @Test func documentsAreSearchedByTableAndByColumn() throws {
        struct Page: Codable, FetchableRecord, PersistableRecord {
            var title: String
            var body: String
        }
        let store = try GardenStore()
        try store.queue.write { db throws in
            try db.create(virtualTable: "page", using: FTS4()) { t in
                t.column("title")
                t.column("body")
            }
            try Page(title: "Pruning roses", body: "Cut above a bud").insert(db)
            try Page(title: "Buds", body: "Of roses and others").insert(db)
            let pattern = FTS3Pattern(matchingAllTokensIn: "ROSES")
            #expect(try Page.matching(pattern).fetchCount(db) == 2)
            #expect(
                try Page.filter(Column("title").match(pattern)).fetchAll(db).map(\.title) == ["Pruning roses"]
            )
            #expect(try Page.filter(Column("page").match(pattern)).fetchCount(db) == 2)
            #expect(try Page.filter(Column("title").match(nil)).fetchCount(db) == 0)
        }
    }
}
