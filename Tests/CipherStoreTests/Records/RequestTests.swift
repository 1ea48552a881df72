import Foundation
import Testing

@testable import CipherStore

private struct Player: TableRecord, FetchableRecord, Codable, Hashable {
    var id: Int64
    var name: String
    var score: Int?

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
    }
}

extension FetchRequest {
    fileprivate func text(_ db: Database) throws -> String {
        let statement = try makePreparedRequest(db, forSingleResult: false).statement
        return statement.sql
    }
}

@Suite struct RequestTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 100), (2, 'Barbara', NULL), (3, 'O''Brien', 20);
                    CREATE TABLE pair (a TEXT, b TEXT, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO pair VALUES ('x', 'y', 1), ('x', 'z', 2), ('w', 'z', 3);
                    """)
        }
        return queue
    }

    @Test func valuesNeverReachTheText() throws {
        try makeQueue().read { db in
            let name = "O'Brien'; DROP TABLE player; --"
            let request = Player.filter { $0.name == name || $0.name.like("%\(name)%") }.order(\.id)
            let firstResult = try request.text(db)
            #expect(
                firstResult == #"SELECT * FROM "player" WHERE ("name" = ?) OR ("name" LIKE ?) ORDER BY "id""#)
            let secondResult = try request.fetchAll(db)
            #expect(secondResult == [])
        }
    }

    @Test func namesAreQuotedWhateverTheyHold() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: #"CREATE TABLE "we""ird" ("select" INTEGER); INSERT INTO "we""ird" VALUES (1)"#)
            let request = Table(#"we"ird"#).filter(Column("select") == 1)
            let result = try request.fetchCount(db)
            #expect(result == 1)
        }
    }

    @Test func nullsSortLastOnEveryEngine() throws {
        try makeQueue().read { db in
            let last = try Player.order { $0.score.ascNullsLast }.fetchAll(db).map(\.id)
            let first = try Player.order { $0.score.ascNullsLast }.reversed().fetchAll(db).map(\.id)
            #expect(last == [3, 1, 2])
            #expect(first == [2, 1, 3])
        }
    }

    @Test func aggregatesAreFilteredOnEveryEngine() throws {
        try makeQueue().read { db in
            let request = Player.select(
                { [sum($0.score, filter: $0.id > 1), count($0.id, filter: $0.score == nil)] }, as: Row.self)
            let fetched = try request.fetchOne(db)
            let row = try #require(fetched)
            #expect(row[0] as Int == 20)
            #expect(row[1] as Int == 1)
        }
    }

    @Test func aSubqueryRefersToTheTableAroundIt() throws {
        try makeQueue().read { db in
            // Both queries are on one table, so the inner one needs a name of its own.
            let outer = TableAlias<Player>()
            let better = Player.filter { $0.score > outer.score }
            let best = Player.aliased(outer).filter { $0.score != nil && !better.exists() }
            let firstResult = try best.fetchAll(db).map(\.name)
            #expect(firstResult == ["Arthur"])
            let secondResult = try best.text(db)
            #expect(
                secondResult == """
                    SELECT * FROM "player" WHERE ("score" IS NOT NULL) AND (NOT EXISTS \
                    (SELECT "player1".* FROM "player" "player1" WHERE "player1"."score" > "player"."score"))
                    """)
        }
    }

    @Test func thousandsOfRowsAreFoundById() throws {
        try makeQueue().read { db in
            let request = Player.filter { (2...5000).map { Int64($0) }.contains($0.id) }
            let result = try request.fetchAll(db).map(\.id)
            #expect(result == [2, 3])
        }
    }

    @Test func anAliasOfNothingIsAnError() throws {
        try makeQueue().read { db in
            let request = Player.filter(TableAlias<Player>().score > 1)
            #expect(throws: DatabaseError.self) { try request.fetchCount(db) }
        }
    }

    @Test func aKeyOfSeveralColumnsNeedsADictionary() throws {
        try makeQueue().read { db in
            #expect(throws: DatabaseError.self) { try Table("pair").filter(key: "x").fetchCount(db) }
            #expect(throws: DatabaseError.self) { try Table("pair").filter(key: ["n": 1]).fetchCount(db) }
            #expect(throws: DatabaseError.self) {
                try Table("pair").filter(key: ["a": "x", "b": "y", "c": 1]).fetchCount(db)
            }
            let result = try Table("pair").filter(key: ["b": "y", "a": "x"]).fetchCount(db)
            #expect(result == 1)
        }
    }

    @Test func sqlOfTheUserKeepsItsArguments() throws {
        try makeQueue().read { db in
            let literal: SQL = "score > \(50) OR name = \("O'Brien")"
            let request = Player.filter(literal).filter(sql: "id < ?", arguments: [3]).filter { $0.id > 0 }
            let result = try request.fetchAll(db).map(\.id)
            #expect(result == [1])
            let names = Player.filter(sql: "id = :id", arguments: ["id": 1])
                .filter(sql: "score = :id", arguments: ["id": 2])
            #expect(throws: DatabaseError.self) { try names.fetchCount(db) }
        }
    }

    @Test func aRequestTellsItsRowids() throws {
        try makeQueue().read { db in
            let firstResult = try Player.filter { [1, 2, 3].contains($0.id) && $0.id != 2 }.relation.rowIDs(
                db)
            #expect(
                firstResult == [
                    1, 2, 3,
                ])
            let secondResult = try Player.filter { $0.id == 1 || $0.score == 2 }.relation.rowIDs(db)
            #expect(secondResult == nil)
            let thirdResult = try Player.filter { $0.id == 1 && $0.score == 2 }.relation.rowIDs(db)
            #expect(thirdResult == [1])
            let fourthResult = try Player.filter(Column("ROWID") == 7).relation.rowIDs(db)
            #expect(fourthResult == [7])
            let fifthResult = try Player.none().relation.rowIDs(db)
            #expect(fifthResult == [])
            let sixthResult = try Player.filter(key: 5).relation.rowIDs(db)
            #expect(sixthResult == [5])
            let seventhResult = try Table("pair").filter(Column("n") == 1).relation.rowIDs(db)
            #expect(seventhResult == nil)
        }
    }

    @Test func jsonIsReadByPathOnEveryEngine() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE document (info TEXT);
                    INSERT INTO document VALUES ('{"name": "Arthur", "tags": ["a", "b"], "none": null}');
                    """)
            let info = JSONColumn("info")
            let alias = TableAlias(name: "d")
            let request = Table("document").aliased(alias).select(
                info["name"], info["$.tags[1]"], info.jsonRepresentation(atPath: "tags"), info["missing"],
                alias[info].jsonRepresentation(atPath: "tags").jsonExtract(atPath: "$[0]"))
            let row = try request.fetchOne(db)
            let values = try #require(row).databaseValues
            #expect(
                values == [
                    "Arthur".databaseValue, "b".databaseValue, #"["a","b"]"#.databaseValue, .null,
                    "a".databaseValue,
                ])
            let count = try Table("document").filter(info["name"] == "Arthur").fetchCount(db)
            #expect(count == 1)
        }
    }

    @Test func literalsCanStandInDefinitions() throws {
        try makeQueue().write { db in
            let request = Player.filter { $0.name != "O'Brien" && $0.score != 1.5 }
            let sql = try request.sqlSubquery.literalSQL(db)
            #expect(sql == #"SELECT * FROM "player" WHERE ("name" <> 'O''Brien') AND ("score" <> 1.5)"#)
            try db.execute(sql: "CREATE VIEW v AS \(sql)")
            let result = try Table("v").fetchCount(db)
            #expect(result == 1)
            let arguments = Player.filter(sql: "name = ?", arguments: ["Arthur"])
            #expect(throws: DatabaseError.self) { try arguments.sqlSubquery.literalSQL(db) }
        }
    }
}

@Suite struct BatchTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 100), (2, 'Barbara', 50), (3, 'Craig', 20);
                    CREATE TABLE pair (a TEXT, b TEXT, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO pair VALUES ('x', 'y', 1), ('x', 'z', 2), ('w', 'z', 3);
                    """)
        }
        return queue
    }

    @Test func aLimitedDeletionDeletesTheFirstRows() throws {
        try makeQueue().write { db in
            let firstResult = try Player.order(\.score).limit(2).deleteAll(db)
            #expect(firstResult == 2)
            let secondResult = try Player.all().fetchAll(db).map(\.name)
            #expect(secondResult == ["Arthur"])
        }
    }

    @Test func aLimitedUpdateWorksWithoutRowids() throws {
        try makeQueue().write { db in
            let request = Table("pair").order(Column("n").desc).limit(2)
            let firstResult = try request.updateAll(db, [Column("n").set(to: Column("n") + 10)])
            #expect(firstResult == 2)
            let secondResult = try Table("pair").select(Column("n"), as: Int.self).order(Column("n"))
                .fetchAll(db)
            #expect(
                secondResult == [
                    1, 12, 13,
                ])
        }
    }

    @Test func deletedRecordsAreReturned() throws {
        try makeQueue().write { db in
            let deleted = try Player.filter { $0.score < 100 }.deleteAndFetchSet(db)
            #expect(Set(deleted.map(\.id)) == [2, 3])
            let result = try Player.all().fetchCount(db)
            #expect(result == 1)
        }
    }

    @Test func updatedRecordsAreReturnedAlthoughTheFilterNoLongerFindsThem() throws {
        try makeQueue().write { db in
            let updated = try Player.filter { $0.score < 100 }.updateAndFetchAll(db) {
                [$0.score.set(to: 1000)]
            }
            #expect(updated.map(\.id).sorted() == [2, 3])
            #expect(updated.allSatisfy { $0.score == 1000 })
            // The next one finds no remains of the first.
            let again = try Player.filter { $0.score == 1000 }.updateAndFetchSet(db) {
                [$0.score.set(to: $0.score - 1)]
            }
            #expect(again.map(\.score) == [999, 999])
        }
    }

    @Test func aFailedUpdateLeavesNothingBehind() throws {
        try makeQueue().write { db in
            for _ in 0..<2 {
                #expect(throws: DatabaseError.self) {
                    try Player.all().updateAndFetchAll(db) { [$0.name.set(to: nil)] }
                }
            }
            let result = try Player.all().updateAndFetchAll(db) { [$0.score.set(to: 0)] }.count
            #expect(result == 3)
        }
    }
}

/// Joins are made by associations; these are the relations that they make.
@Suite struct JoinedRelationTests {
    private func child(_ key: String, _ kind: RelationChild.Kind, _ relation: Relation) -> RelationChild {
        RelationChild(
            key: key, kind: kind,
            condition: .expression { _, left, right in
                .equality(
                    .equal, SQLExpression.column("id").scoped(to: right),
                    SQLExpression.column("parentId").scoped(to: left))
            }, relation: relation)
    }

    private func sql(_ relation: Relation) throws -> String {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: "CREATE TABLE node (id INTEGER PRIMARY KEY, parentId INTEGER, name TEXT)")
            return try QueryInterfaceRequest<Row>(relation: relation).text(db)
        }
    }

    @Test func tablesThatAreJoinedToThemselvesAreNumbered() throws {
        var parent = Relation(source: .table("node"))
        parent.filters = [Column("name") != nil]
        var node = Relation(source: .table("node"))
        node.filters = [Column("name") == nil]
        node.children = [child("parent", .optional, parent)]
        let result = try sql(node)
        #expect(
            result == """
                SELECT "node1".*, "node2".* FROM "node" "node1" LEFT JOIN "node" "node2" \
                ON ("node2"."id" = "node1"."parentId") AND ("node2"."name" IS NOT NULL) \
                WHERE "node1"."name" IS NULL
                """)
    }

    @Test func aliasesReachJoinedTables() throws {
        let alias = TableAlias()
        let named = TableAlias(name: "NODE")
        var parent = Relation(source: .table("node"), selection: [])
        parent.aliases = [alias.identity]
        var node = Relation(source: .table("node"), selection: [SQLSelection(.expression(.column("id")))])
        node.aliases = [named.identity]
        node.children = [child("parent", .required, parent)]
        node.filters = [alias[Column("name")] > named[Column("name")]]
        node.ordering.append(.ordering(Column("id").desc))
        let result = try sql(node)
        #expect(
            result == """
                SELECT "NODE"."id" FROM "node" "NODE" JOIN "node" "node1" ON "node1"."id" = "NODE"."parentId" \
                WHERE "node1"."name" > "NODE"."name" ORDER BY "NODE"."id" DESC
                """)
    }

    @Test func oneTableCantHaveTwoNames() throws {
        var node = Relation(source: .table("node"))
        node.aliases = [TableAlias(name: "a").identity, TableAlias(name: "b").identity]
        #expect(throws: DatabaseError.self) { try sql(node) }
    }
}
