import Testing
import TypedQueriesMacros

@Selection struct Place: Codable, Equatable {
    var latitude = 0.0
    var label = ""
}

struct Stock: Codable, Equatable {
    var onHand = 0
}

struct Trivia: Codable, Equatable {
    var names: [String] = []
    var scores: [String: Int] = [:]
    var places: [Place] = []
}

struct Team: Codable, Equatable {
    var label = ""
    var members: [String] = []
    var parts: [Team] = []
}

@Table struct Camp: Equatable {
    let id: Int
    @Column(as: [Team].JSONRepresentation.self) var teams: [Team] = []
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
}

@Table struct Tour: Equatable {
    let id: Int
    var title = ""
    @Column(as: [Place].JSONRepresentation.self) var places: [Place] = []
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
    @Column(as: [String: Stock].JSONRepresentation.self) var stocks: [String: Stock] = [:]
    @Column(as: Trivia.JSONRepresentation.self) var trivia = Trivia()
}

/// The elements of JSON as the rows of a table, on engines with SQLite's `json_each` and on others.
@Suite struct JSONElementsTests {
    private func withTours(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE tours (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, places TEXT NOT NULL, tags TEXT NOT NULL,
                stocks TEXT NOT NULL, trivia TEXT NOT NULL)
            """)
        try queue.write { db throws in
            try Tour.insert {
                Tour(
                    id: 1, title: "North",
                    places: [Place(latitude: 40.5, label: "home"), Place(latitude: 51.5, label: "away")],
                    tags: ["home", "it's"], stocks: ["SFO": Stock(), "JFK": Stock(onHand: 4)],
                    trivia: Trivia(names: ["swift"], scores: ["swift": 9], places: [Place(label: "deep")]))
                Tour(
                    id: 2, title: "Mixed",
                    places: [Place(latitude: 40.5, label: "home"), Place(latitude: -33.5, label: "south")],
                    tags: ["work"], stocks: ["SFO": Stock(onHand: 7)])
                Tour(id: 3, title: "Empty")
            }.execute(db)
            try body(db)
        }
    }

    @Test func elementsAreConditions() throws {
        let query = Tour.where { !$0.places.jsonEach().where { $0.latitude < 0 }.exists() }.select(\.title)
        #expect(
            sql(query) == """
                SELECT "tours"."title"
                FROM "tours"
                WHERE NOT (EXISTS (SELECT "json_each"."value"
                FROM json_each("tours"."places")
                WHERE (json_extract("json_each"."value", '$.latitude')) < (0.0)))
                """)
        try withTours { db throws in
            #expect(try query.fetchAll(db) == ["North", "Empty"])
            let byPath = Tour.where {
                $0.places.jsonEach().where { $0.value.jsonExtract(\.latitude) < 0 }.exists()
            }
            #expect(try byPath.fetchAll(db).map(\.id) == [2])
            let tagged = Tour.where { $0.tags.jsonEach().where { $0.value.eq("it's") }.exists() }
            #expect(try tagged.fetchAll(db).map(\.id) == [1])
            #expect(try Tour.where { $0.tags.jsonEach().contains("work") }.fetchAll(db).map(\.id) == [2])
        }
    }

    @Test func elementsAreOrderedLimitedAndAggregated() throws {
        try withTours { db throws in
            let northmost = Tour.where { $0.places.jsonArrayLength() > 0 }.order(by: \.id).select {
                $0.places.jsonEach().select(\.label).order { $0.latitude.desc() }.limit(1)
            }
            #expect(try northmost.fetchAll(db) == ["away", "home"])
            let greatest = Tour.order(by: \.id).select { $0.places.jsonEach().select { $0.latitude.max() } }
            #expect(try greatest.fetchAll(db) == [51.5, 40.5, nil])
            #expect(
                try Tour.order(by: \.id).select { $0.places.jsonEach().count() }.fetchAll(db) == [2, 2, 0])
            let first = Tour.find([1, 2]).order(by: \.id).select {
                $0.places.jsonEach().where { $0.key.eq(0) }.select { $0.value.jsonExtract(\.label) }
            }
            #expect(try first.fetchAll(db) == ["home", "home"])
        }
    }

    @Test func elementsAreJoined() throws {
        let joined = Tour.join(Tour.columns.places.jsonEach()) { _, _ in true }
            .order { ($0.id, $1.key) }.select { ($0.title, $1.key, $1.label) }
        #expect(
            sql(joined) == """
                SELECT "tours"."title", "json_each"."key", json_extract("json_each"."value", '$.label')
                FROM "tours"
                JOIN json_each("tours"."places") ON 1
                ORDER BY "tours"."id", "json_each"."key"
                """)
        try withTours { db throws in
            let rows = try joined.fetchAll(db)
            #expect(rows.map(\.0) == ["North", "North", "Mixed", "Mixed"])
            #expect(rows.map(\.1) == [0, 1, 0, 1])
            #expect(rows.map(\.2) == ["home", "away", "home", "south"])
            let whole = try Tour.find(1).join(Tour.columns.places.jsonEach()) { _, _ in true }.fetchAll(db)
            #expect(whole.map(\.1.label) == ["home", "away"])
        }
    }

    @Test func aRowWithoutElementsStaysInALeftJoin() throws {
        try withTours { db throws in
            let rows = try Tour.leftJoin(Tour.columns.places.jsonEach()) { _, _ in true }
                .order { ($0.id, $1.key) }.select { ($0.id, $1.label) }.fetchAll(db)
            #expect(rows.map(\.0) == [1, 1, 2, 2, 3])
            #expect(rows.map(\.1) == ["home", "away", "home", "south", nil])
            let byPath = try Tour.leftJoin(Tour.columns.places.jsonEach()) { _, _ in true }
                .order { ($0.id, $1.key) }.select { $1.value.jsonExtract(\.label) }.fetchAll(db)
            #expect(byPath == ["home", "away", "home", "south", nil])
        }
    }

    @Test func membersOfObjectsHaveNames() throws {
        try withTours { db throws in
            let empty = Tour.where {
                $0.stocks.jsonEach().where { $0.key.eq("SFO") && $0.value.jsonExtract(\.onHand).eq(0) }
                    .exists()
            }
            #expect(try empty.fetchAll(db).map(\.id) == [1])
            let rows = try Tour.find(1).join(Tour.columns.stocks.jsonEach()) { _, _ in true }
                .order { $1.key }.select { ($1.key, $1.value.jsonExtract(\.onHand)) }.fetchAll(db)
            #expect(rows.map(\.0) == ["JFK", "SFO"])
            #expect(rows.map(\.1) == [4, 0])
        }
    }

    @Test func elementsInDocumentsAreFoundByPaths() throws {
        try withTours { db throws in
            let names = Tour.where { $0.trivia.jsonEach(\.names).where { $0.value.eq("swift") }.exists() }
            #expect(sql(names).contains(#"FROM json_each("tours"."trivia", '$.names')"#))
            #expect(try names.fetchAll(db).map(\.id) == [1])
            let scores = Tour.where {
                $0.trivia.jsonEach(\.scores).where { $0.key.eq("swift") && $0.value > 5 }.exists()
            }
            #expect(try scores.fetchAll(db).map(\.id) == [1])
            let places = Tour.where { $0.trivia.jsonEach(\.places).where { $0.label.eq("deep") }.exists() }
            #expect(try places.fetchAll(db).map(\.id) == [1])
        }
    }
}

/// Elements of JSON among other elements.
@Suite struct NestedElementsTests {
    private func withCamps(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            "CREATE TABLE camps (id INTEGER PRIMARY KEY, teams TEXT NOT NULL, tags TEXT NOT NULL)")
        try queue.write { db throws in
            try Camp.insert {
                Camp(
                    id: 1, teams: [Team(label: "red", members: ["x", "y"]), Team(label: "blue")],
                    tags: ["blue"])
                Camp(id: 2, teams: [Team(label: "red", parts: [Team(label: "deep")])], tags: ["green"])
                Camp(
                    id: 3, teams: [Team(label: "deep", parts: [Team(label: "low", members: ["x"])])])
            }.execute(db)
            try body(db)
        }
    }

    @Test func elementsOfElementsAreFound() throws {
        let query = Camp.where {
            $0.teams.jsonEach().where { $0.value.jsonEach(\.members).contains("x") }.exists()
        }
        #expect(
            sql(query).hasSuffix(
                """
                FROM json_each("camps"."teams")
                WHERE ('x') IN (SELECT "json_each_2"."value"
                FROM json_each("json_each"."value", '$.members') AS "json_each_2"))
                """))
        try withCamps { db throws in
            let found = try query.fetchAll(db).map(\.id)
            #expect(found == [1])
        }
    }

    @Test func aDeletionKeepsWhatHasSuchElements() throws {
        try withCamps { db throws in
            try Camp.where {
                !$0.teams.jsonEach().where { $0.value.jsonEach(\.members).contains("x") }.exists()
            }.delete().execute(db)
            let left = try Camp.all.fetchAll(db).map(\.id)
            #expect(left == [1])
        }
    }

    @Test func elementsOfTheSameTypeAreFound() throws {
        try withCamps { db throws in
            let deep = Camp.where {
                $0.teams.jsonEach().where {
                    $0.value.jsonEach(\.parts).where { $0.value.jsonExtract(\.label).eq("deep") }.exists()
                }.exists()
            }
            let found = try deep.fetchAll(db).map(\.id)
            #expect(found == [2])
        }
    }

    @Test func threeLevelsHaveThreeNames() throws {
        let query = Camp.where {
            $0.teams.jsonEach().where {
                $0.value.jsonEach(\.parts).where { $0.value.jsonEach(\.members).contains("x") }.exists()
            }.exists()
        }
        #expect(sql(query).contains(#"FROM json_each("json_each_3"."value", '$.members') AS "json_each_2""#))
        try withCamps { db throws in
            let found = try query.fetchAll(db).map(\.id)
            #expect(found == [3])
        }
    }

    @Test func elementsAreComparedWithThoseAround() throws {
        try withCamps { db throws in
            let tagged = Camp.where { camp in
                camp.teams.jsonEach().where { team in
                    camp.tags.jsonEach().where { $0.value.eq(team.value.jsonExtract(\.label)) }.exists()
                }.exists()
            }
            let found = try tagged.fetchAll(db).map(\.id)
            #expect(found == [1])
        }
    }

    @Test func elementsOfJoinedElementsAreFound() throws {
        try withCamps { db throws in
            let joined = Camp.join(Camp.columns.teams.jsonEach()) { _, _ in true }
                .where { $1.value.jsonEach(\.members).contains("y") }
                .select { ($0.id, $1.key) }
            let rows = try joined.fetchAll(db)
            #expect(rows.map(\.0) == [1])
            #expect(rows.map(\.1) == [0])
        }
    }
}
