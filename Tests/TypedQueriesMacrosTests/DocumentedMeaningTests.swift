import Foundation
import Testing
import TypedQueriesMacros

@Table struct Memo: Codable, Equatable {
    let id: Int
    var title = ""
    var isDeleted = false
    var priority: Int?
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
    @Column(as: MemoSource.JSONRepresentation.self) var source = MemoSource()

    static let all = Self.where { !$0.isDeleted }
}

struct MemoSource: Codable, Equatable {
    var externalID = UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
}

@Table struct MemoLine: Codable, Equatable {
    let id: Int
    var memoID: Int
    var text = ""
}

@Selection struct MemoTitle {
    var title: String
}

/// A default scope that is made of several queries.
@Table struct Alternative {
    let id: Int
    var isOpen = false
    var isLate = false

    static let all = Self.where(\.isOpen).or(Self.where(\.isLate).not())
}

private enum Other: AliasName {}

/// A function with a state, which its instance has.
private struct Prefixer: Sendable {
    let prefix: String

    @DatabaseFunction func prefixed(_ text: String) -> String { prefix + text }
}

/// What queries mean that are written as the documentation of others has them.
@Suite struct DocumentedMeaningTests {
    private func database(prepare: @escaping @Sendable (Database) throws -> Void = { _ in }) throws
        -> DatabaseQueue
    {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE memos (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, isDeleted INTEGER NOT NULL DEFAULT 0, priority INTEGER,
                tags TEXT NOT NULL DEFAULT '[]', source TEXT NOT NULL DEFAULT '{}');
            CREATE TABLE memoLines (id INTEGER PRIMARY KEY, memoID INTEGER NOT NULL, text TEXT NOT NULL);
            """, prepare: prepare)
        try queue.write { db in
            try Memo.insert {
                Memo(id: 1, title: "Milk", priority: 2, tags: ["a", "b", "c"])
                Memo(id: 2, title: "Bread", isDeleted: true)
                Memo(id: 3, title: "SILK")
            }.execute(db)
            try MemoLine.insert {
                MemoLine(id: 1, memoID: 1, text: "x")
                MemoLine(id: 2, memoID: 1, text: "y")
            }.execute(db)
        }
        return queue
    }

    @Test func aCollatedTextContainsAnother() throws {
        let query = Memo.where { $0.title.collate(.nocase).contains("il") }
        #expect(sql(query).contains(#"LIKE '%il%'"#))
        try database().read { db throws in #expect(try query.fetchAll(db).map(\.id) == [1, 3]) }
    }

    @Test func aChangeBesideATableWithoutRowsIsNotRun() throws {
        try database().write { db throws in
            try With {
                Memo.none.select { MemoTitle.Columns(title: $0.title) }
            } query: {
                Memo.unscoped.delete()
            }.execute(db)
            #expect(try Memo.unscoped.fetchCount(db) == 3)
        }
    }

    @Test func aCommonTableWithoutRowsStandsForTheTableOfItsName() throws {
        try database().write { db throws in
            let rows = With {
                Memo.none
                MemoLine.all
            } query: {
                Memo.unscoped.select(\.id)
            }
            #expect(try rows.fetchAll(db) == [])
            let titles = With {
                MemoLine.all
                Memo.none.select { MemoTitle.Columns(title: $0.title) }
            } query: {
                MemoTitle.all
            }
            #expect(try titles.fetchCount(db) == 0)
            try With {
                Memo.none
                MemoLine.where { $0.id.eq(2) }
            } query: {
                MemoLine.where { $0.memoID.notIn(Memo.unscoped.select(\.id)) }.delete()
            }.execute(db)
            #expect(try MemoLine.all.fetchCount(db) == 0)
        }
    }

    @Test func aLeftJoinKeepsRowsThatTheDefaultScopeLeavesAlone() throws {
        try database().write { db throws in
            try MemoLine.insert { MemoLine(id: 3, memoID: 2, text: "z") }.execute(db)
            let lines = MemoLine.order(by: \.id)
            let scoped = lines.leftJoin(Memo.all) { $0.memoID.eq($1.id) }.select { ($0.id, $1.title) }
            let rows = try scoped.fetchAll(db)
            #expect(rows.map(\.0) == [1, 2, 3])
            #expect(rows.map(\.1) == ["Milk", "Milk", nil])
            // Conditions of the query's own are met by all rows.
            let own = lines.leftJoin(Memo.where { $0.id.gt(0) }) { $0.memoID.eq($1.id) }
            #expect(try own.select { line, _ in line.id }.fetchAll(db) == [1, 2])
            let inner = lines.join(Memo.all) { $0.memoID.eq($1.id) }
            #expect(try inner.select { line, _ in line.id }.fetchAll(db) == [1, 2])
        }
    }

    @Test func otherOuterJoinsKeepRowsThatTheDefaultScopeLeavesAlone() throws {
        let lines = MemoLine.order(by: \.id)
        let right = Memo.rightJoin(lines) { $0.id.eq($1.memoID) }.select { ($0.title, $1.id) }
        let full = lines.fullJoin(Memo.all) { $0.memoID.eq($1.id) }.select { ($0.id, $1.title) }
        let reverse = Memo.fullJoin(lines) { $0.id.eq($1.memoID) }.select { ($0.title, $1.id) }
        let own = Memo.where { $0.id.gt(0) }.rightJoin(lines) { $0.id.eq($1.memoID) }
            .select { ($0.title, $1.id) }
        #expect(sql(right).contains(#"FROM (SELECT * FROM "memos" WHERE "#))
        #expect(sql(full).contains(#"FULL JOIN (SELECT * FROM "memos" WHERE "#))
        guard EngineFeatures.current.sqliteVersionNumber >= 3_039_000 else { return }
        try database().write { db throws in
            try MemoLine.insert { MemoLine(id: 3, memoID: 2, text: "z") }.execute(db)
            let rightRows = try right.fetchAll(db)
            #expect(rightRows.map(\.0) == ["Milk", "Milk", nil])
            #expect(rightRows.map(\.1) == [1, 2, 3])
            let fullRows = try full.fetchAll(db)
            #expect(fullRows.map(\.0) == [nil, 1, 2, 3])
            #expect(fullRows.map(\.1) == ["SILK", "Milk", "Milk", nil])
            let reverseRows = try reverse.fetchAll(db)
            #expect(reverseRows.map(\.0) == ["SILK", "Milk", "Milk", nil])
            // Conditions of the query's own are met by all rows.
            let ownRows = try own.fetchAll(db)
            #expect(ownRows.map(\.1) == [1, 2])
        }
    }

    @Test func anOuterJoinKeepsRowsThatTheDefaultScopeOfAnInnerJoinLeavesAlone() throws {
        let others = MemoLine.as(Other.self).order(by: \.id)
        let query = MemoLine.join(Memo.all) { $0.memoID.eq($1.id) }
            .rightJoin(others) { line, _, other in line.id.eq(other.id) }
            .select { ($0.id, $1.title, $2.id) }
        #expect(!sql(query).contains("WHERE"))
        guard EngineFeatures.current.sqliteVersionNumber >= 3_039_000 else { return }
        try database().write { db throws in
            try MemoLine.insert { MemoLine(id: 3, memoID: 2, text: "z") }.execute(db)
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0) == [1, 2, nil])
            #expect(rows.map(\.1) == ["Milk", "Milk", nil])
            #expect(rows.map(\.2) == [1, 2, 3])
        }
    }

    @Test func theDefaultScopeIsThatOfDraftsAndAliases() throws {
        try database().read { db throws in
            #expect(try Memo.Draft.all.fetchAll(db).map(\.title) == ["Milk", "SILK"])
            #expect(try Memo.Draft.where { $0.title.neq("Milk") }.fetchAll(db).map(\.title) == ["SILK"])
            #expect(try Memo.as(Other.self).select(\.id).fetchAll(db) == [1, 3])
            #expect(try Memo.as(Other.self).unscoped.select(\.id).fetchAll(db) == [1, 2, 3])
            #expect(try Memo.Draft.find([1, 2]).fetchAll(db).map(\.title) == ["Milk"])
            let pairs = Memo.join(Memo.as(Other.self).all) { $0.id.lt($1.id) }.select { ($0.id, $1.id) }
            #expect(try pairs.fetchAll(db).map(\.1) == [3])
        }
    }

    @Test func elementsOfJSONAreCountedInEachRow() throws {
        try database().read { db throws in
            #expect(try Memo.select { $0.tags.jsonEach().count() }.fetchAll(db) == [3, 0])
        }
    }

    @Test func equalRowsAreOneInJSON() throws {
        try database().read { db throws in
            let query = Memo.group(by: \.id).where { $0.id.eq(1) }.leftJoin(MemoLine.all) {
                $0.id.eq($1.memoID)
            }
            .leftJoin(Memo.as(Other.self).unscoped) { _, _, other in other.id.gt(0) }
            .select { _, line, _ in line.jsonGroupArray(distinct: true) }
            #expect(try query.fetchOne(db)?.map(\.id).sorted() == [1, 2])
        }
    }

    @Test func aQueryWithoutConditionsAddsNothingToOthers() throws {
        try database().read { db throws in
            #expect(try Memo.unscoped.or(Memo.unscoped.where { $0.id.eq(2) }).fetchCount(db) == 1)
            #expect(try Memo.unscoped.where { $0.id.eq(2) }.or(Memo.unscoped).fetchCount(db) == 1)
            #expect(try Memo.all.or(Memo.where { $0.id.eq(1) }).select(\.id).fetchAll(db) == [1])
            #expect(try Memo.where { $0.id.eq(1) }.or(Memo.all).select(\.id).fetchAll(db) == [1])
            #expect(try Memo.none.or(Memo.where { $0.id.eq(1) }).fetchCount(db) == 1)
            #expect(try Memo.where { $0.id.eq(1) }.or(.where { $0.id.eq(3) }).fetchCount(db) == 2)
            #expect(try Memo.where { $0.id.gt(0) }.and(.where(\.isDeleted)).fetchCount(db) == 0)
        }
    }

    @Test func combinedQueriesDoNotTakeTheDefaultScopeForAConditionOfTheirOwn() throws {
        try database().write { db throws in
            let deleted = Memo.all.or(Memo.where { $0.id.eq(2) })
            #expect(try deleted.fetchCount(db) == 0)
            #expect(try Memo.all.where { $0.id.gt(0) }.and(deleted).fetchCount(db) == 0)
            #expect(try Memo.order(by: \.id).and(deleted).fetchCount(db) == 0)
            let others = deleted.or(Memo.where { $0.id.eq(1) }).not()
            #expect(try others.select(\.id).fetchAll(db) == [3])
            #expect(try Memo.all.or(Memo.all).select(\.id).fetchAll(db) == [1, 3])
            // Beside a query of all rows, the other one keeps its scope.
            let unscoped = Memo.unscoped.where { $0.id.eq(2) }.or(Memo.all.where { $0.id.lt(3) })
            #expect(try unscoped.order(by: \.id).select(\.id).fetchAll(db) == [1, 2])
            try Memo.all.or(Memo.where { $0.id.eq(1) }).delete().execute(db)
            #expect(try Memo.unscoped.select(\.id).fetchAll(db) == [2, 3])
        }
    }

    @Test func aDefaultScopeMayCombineQueries() throws {
        #expect(sql(Alternative.all).contains("WHERE"))
        #expect(sql(Alternative.all.or(.where { $0.id.eq(1) })) == sql(Alternative.where { $0.id.eq(1) }))
    }

    @Test func identifiersInJSONAreComparedWithoutRegardToTheirCase() throws {
        try database().read { db throws in
            let id = MemoSource().externalID
            #expect(try Memo.where { $0.source.jsonExtract(\.externalID).eq(id) }.fetchCount(db) == 2)
        }
    }

    @Test func keysAreFoundInChangesAndByStatements() throws {
        try database().write { db throws in
            #expect(
                try Memo.update { $0.title.append("!") }.find(1).returning(\.title).fetchAll(db) == ["Milk!"])
            #expect(try Memo.find(MemoLine.select(\.memoID)).fetchAll(db).map(\.id) == [1])
            try Memo.unscoped.delete().where(\.isDeleted).execute(db)
            #expect(try Memo.unscoped.fetchCount(db) == 2)
            try Memo.delete().find([1, 2]).execute(db)
            #expect(try Memo.unscoped.select(\.id).fetchAll(db) == [3])
            #expect(try Values(Memo.exists()).fetchOne(db) == true)
        }
    }

    @Test func optionalValuesAreMapped() throws {
        try database().read { db throws in
            #expect(try Memo.order(by: \.id).select { $0.priority.map { $0 + 1 } }.fetchAll(db) == [3, nil])
            let plain: Int? = 3
            #expect(plain.map { $0 + 1 } == 4)
        }
    }

    @Test func numbersOfBitsAreAssigned() throws {
        try database().write { db throws in
            try Memo.find(1).update {
                $0.priority |= 5
                $0.isDeleted.toggle()
            }.execute(db)
            #expect(try Memo.unscoped.find(1).select(\.priority).fetchOne(db) == .some(7))
            try Memo.unscoped.find(1).update { $0.priority.negate() }.execute(db)
            #expect(try Memo.unscoped.find(1).select(\.priority).fetchOne(db) == .some(-7))
        }
    }

    @Test func columnsAreNamedByTheirType() throws {
        try database().read { db throws in
            let titles = #sql("SELECT \(Memo.title) FROM \(Memo.self) ORDER BY \(Memo.id)", as: String.self)
            #expect(try titles.fetchAll(db) == ["Milk", "Bread", "SILK"])
        }
    }

    @Test func aFunctionOfAnInstanceIsCalled() throws {
        let prefixer = Prefixer(prefix: "> ")
        let queue = try database { db in db.add(function: prefixer.$prefixed) }
        try queue.read { db throws in
            #expect(try Memo.select { prefixer.$prefixed($0.title) }.fetchAll(db) == ["> Milk", "> SILK"])
        }
    }
}
