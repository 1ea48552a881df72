import Testing
import TypedQueriesMacros

private enum Map {
    @Table("countries") struct Country: Equatable {
        @Column(primaryKey: true) let code: String
        static let cities = hasMany(City.self, using: ForeignKey(["country"], to: ["code"]))
            .order(Column("name"))
    }

    @Table("cities") struct City: Equatable {
        let name: String
        var country: String?
    }

    @Table("meters") struct Meter: Identifiable, Equatable {
        let id: Int
        static let readings = hasMany(Reading.self)
    }

    @Table("readings") struct Reading: Equatable {
        var meter: String
        var value: Int
    }
}

/// Rows that belong together although their keys are not written in the same way.
@Suite struct IncludingEqualKeysTests {
    @Test func rowsOfKeysInOtherLettersAreFetched() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE countries (code TEXT COLLATE NOCASE PRIMARY KEY NOT NULL);
            CREATE TABLE cities (name TEXT NOT NULL, country TEXT COLLATE NOCASE REFERENCES countries(code));
            INSERT INTO countries VALUES ('FR'), ('de'), ('IT');
            INSERT INTO cities VALUES ('Paris', 'fr'), ('Lyon', 'FR'), ('Nice', 'Fr'), ('Bonn', 'DE'), ('Atlantis', NULL);
            """)
        try queue.read { db throws in
            let rows = try Map.Country.order(by: \.code).including(all: Map.Country.cities).fetchAll(db)
            let codes = rows.map { $0.0.code }
            #expect(codes == ["de", "FR", "IT"])
            let names = rows.map { $0.1.map(\.name) }
            #expect(names == [["Bonn"], ["Lyon", "Nice", "Paris"], []])
        }
    }

    @Test func rowsOfKeysOfOtherTypesAreFetched() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE meters (id INTEGER PRIMARY KEY);
            CREATE TABLE readings (meter TEXT NOT NULL REFERENCES meters(id), value INTEGER NOT NULL);
            INSERT INTO meters VALUES (1), (2);
            INSERT INTO readings VALUES ('1', 10), ('1', 11), ('2', 20);
            """)
        try queue.read { db throws in
            let rows = try Map.Meter.order(by: \.id)
                .including(all: Map.Meter.readings.order(Column("value"))).fetchAll(db)
            let values = rows.map { $0.1.map(\.value) }
            #expect(values == [[10, 11], [20]])
        }
    }

    @Test func aRowThatSeveralQueriesFindComesOnce() throws {
        // Text keys are asked for by 500, so that both spellings of one are in different queries.
        let codes = ["ZZ"] + (100..<700).map { "k\($0)" } + ["zz"]
        let queue = try encryptedDatabase(
            """
            CREATE TABLE countries (code TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE cities (name TEXT NOT NULL, country TEXT COLLATE NOCASE);
            INSERT INTO countries VALUES \(codes.map { "('\($0)')" }.joined(separator: ", "));
            INSERT INTO cities VALUES ('Paris', 'Zz'), ('Lyon', 'K600');
            """)
        try queue.read { db throws in
            let rows = try Map.Country.order(by: \.code).including(all: Map.Country.cities).fetchAll(db)
            let found = rows.filter { !$0.1.isEmpty }.map { "\($0.0.code): \($0.1.map(\.name))" }
            #expect(found == [#"ZZ: ["Paris"]"#, #"k600: ["Lyon"]"#, #"zz: ["Paris"]"#])
        }
    }
}
