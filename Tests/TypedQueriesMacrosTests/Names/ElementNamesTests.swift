import Foundation
import Testing
import TypedQueriesMacros

private enum Typed {
    @Table("visits") struct Visit: Equatable {
        let id: Int
        @Column(as: [UUID].JSONRepresentation.self) var guests: [UUID] = []
    }
}

/// Elements of JSON beside others in one statement, which SQLite calls by one name.
struct ElementNamesTests {
    private enum Other: AliasName {}

    private func withCamps(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            "CREATE TABLE camps (id INTEGER PRIMARY KEY, teams TEXT NOT NULL, tags TEXT NOT NULL)")
        try queue.write { db throws in
            try Camp.insert {
                Camp(
                    id: 1, teams: [Team(label: "red", members: ["x", "y"]), Team(label: "blue")],
                    tags: ["blue", "green"])
                Camp(id: 2, teams: [Team(label: "red", parts: [Team(label: "deep")])])
            }.execute(db)
            try body(db)
        }
    }

    private let teams = Camp.join(Camp.columns.teams.jsonEach()) { _, _ in true }

    @Test func elementsOfTwoColumnsAreJoined() throws {
        let both = teams.join(Camp.columns.tags.jsonEach()) { $1.value.jsonExtract(\.label).eq($2.value) }
        let query = both.select { ($0.id, $1.key, $2.key, $2.value) }
        #expect(
            sql(query).hasSuffix(
                """
                JOIN json_each("camps"."teams") ON 1
                JOIN json_each("camps"."tags") AS "json_each_2" \
                ON (json_extract("json_each"."value", '$.label')) = ("json_each_2"."value")
                """))
        try withCamps { db throws in
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0) == [1])
            #expect(rows.map(\.1) == [1])
            #expect(rows.map(\.2) == [0])
            #expect(rows.map(\.3) == ["blue"])
            let whole = try both.fetchAll(db)
            #expect(whole.map(\.1.label) == ["blue"])
            #expect(whole.map(\.2) == ["blue"])
        }
    }

    @Test func aRowWithoutElementsOfOneStays() throws {
        try withCamps { db throws in
            let both = teams.leftJoin(Camp.columns.tags.jsonEach()) { $1.key.eq($2.key) }
                .order { camp, team, _ in (camp.id, team.key) }
            let rows = try both.select { ($0.id, $1.key, $2.value) }.fetchAll(db)
            #expect(rows.map(\.0) == [1, 1, 2])
            #expect(rows.map(\.1) == [0, 1, 0])
            #expect(rows.map(\.2) == ["blue", "green", nil])
            let without = try both.where { $2.value.is(nil) }.select { camp, _, _ in camp.id }.fetchAll(db)
            #expect(without == [2])
        }
    }

    @Test func elementsOfOneTypeHaveNamesThatAreGiven() throws {
        let tags = Camp.join(Camp.columns.tags.jsonEach()) { _, _ in true }
        let pairs = tags.join(Camp.columns.tags.jsonEach().where { $0.key > 0 }.as(Other.self)) {
            $1.key < $2.key
        }
        let query = pairs.select { ($0.id, $1.value, $2.value) }
        #expect(sql(query).contains(#"JOIN json_each("camps"."tags") AS "others" ON"#))
        try withCamps { db throws in
            let rows = try query.fetchAll(db)
            #expect(rows.map(\.0) == [1])
            #expect(rows.map(\.1) == ["blue"])
            #expect(rows.map(\.2) == ["green"])
            let mistaken = tags.join(Camp.columns.tags.jsonEach()) { $1.key < $2.key }
                .select { ($0.id, $1.value, $2.value) }
            let error = #expect(throws: (any Error).self) { _ = try mistaken.fetchAll(db) }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.contains(".as("))
        }
    }

    @Test func elementsAreJoinedToThoseThatTheyAreMadeOf() throws {
        typealias TeamElements = JSONElements<Int, JSONTextRepresentation<Team>>
        try withCamps { db throws in
            let members = TeamElements.columns.value.jsonEach(\.members)
            let pairs = try teams.join(members) { _, _, _ in true }.order { ($1.key, $2.key) }
                .select { ($1.value.jsonExtract(\.label), $2.value) }.fetchAll(db)
            #expect(pairs.map(\.0) == ["red", "red"])
            #expect(pairs.map(\.1) == ["x", "y"])
            let parts = TeamElements.columns.value.jsonEach(\.parts).as(Other.self)
            let inner = try teams.join(parts) { _, _, _ in true }
                .select { ($1.value.jsonExtract(\.label), $2.value.jsonExtract(\.label)) }.fetchAll(db)
            #expect(inner.map(\.0) == ["red"])
            #expect(inner.map(\.1) == ["deep"])
        }
    }

    /// The innermost statement speaks of its own elements only, and keeps their name when the one around it gets another.
    @Test func elementsOfOneTypeWithinEachOtherStayTheirOwn() throws {
        try withCamps { db throws in
            let tagged = Camp.where { camp in
                camp.teams.jsonEach().where { team in
                    camp.tags.jsonEach().where { tag in
                        camp.tags.jsonEach().where { $0.value.eq("green") }.exists()
                        tag.value.eq(team.value.jsonExtract(\.label))
                    }.exists()
                }.exists()
            }
            let found = try tagged.fetchAll(db).map(\.id)
            #expect(found == [1])
        }
    }

    @Test func joinedElementsWithinASubqueryStayItsOwn() throws {
        try withCamps { db throws in
            let query = Camp.leftJoin(Camp.columns.tags.jsonEach()) { _, _ in true }
                .where { camp, tag in
                    Camp.as(Other.self).join(camp.teams.jsonEach()) { other, team in
                        other.id.eq(2) && team.value.jsonExtract(\.label).eq(tag.value)
                    }.exists()
                }
            let values = try query.select { $1.value }.fetchAll(db)
            #expect(values == ["blue"])
        }
    }

    @Test func identifiersOfRowsThatMayBeAbsentAreCompared() throws {
        let queue = try encryptedDatabase(
            "CREATE TABLE visits (id INTEGER PRIMARY KEY, guests TEXT NOT NULL)")
        try queue.write { db throws in
            let guest = UUID()
            try Typed.Visit.insert {
                Typed.Visit(id: 1, guests: [UUID(), guest])
                Typed.Visit(id: 2)
            }.execute(db)
            let joined = Typed.Visit.leftJoin(Typed.Visit.columns.guests.jsonEach()) { _, _ in true }
            let found = try joined.where { $1.value.eq(guest) }.select { $1.key }.fetchAll(db)
            #expect(found == [1])
            let named = Typed.Visit.join(Typed.Visit.columns.guests.jsonEach().as(Other.self)) {
                $1.value.eq(guest)
            }
            let keys = try named.select { $1.key }.fetchAll(db)
            #expect(keys == [1])
            let perhaps = Typed.Visit.leftJoin(Typed.Visit.columns.guests.jsonEach().as(Other.self)) { _, _ in
                true
            }
            let foundKeys = try perhaps.where { $1.value.eq(guest) }.select { $1.key }.fetchAll(db)
            #expect(foundKeys == [1])
        }
    }
}
