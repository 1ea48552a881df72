import CipherStore
import Testing

private struct Country: TableRecord {
    static let cities = hasMany(City.self)
}

private struct City: TableRecord {}

private struct Meter: TableRecord {
    static let readings = hasMany(Reading.self)
}

private struct Reading: TableRecord {}

private struct Region: TableRecord {
    static let places = hasMany(Place.self).forKey("places")
}

private struct Place: TableRecord {
    static let databaseTableName = "p"
}

/// Rows that belong together although their keys are not written in the same way.
@Suite struct EqualKeyTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY);
                    CREATE TABLE city (name TEXT, countryCode TEXT COLLATE NOCASE REFERENCES country);
                    INSERT INTO country VALUES ('FR'), ('de'), ('IT');
                    INSERT INTO city VALUES ('Paris', 'fr'), ('Lyon', 'FR'), ('Nice', 'Fr'), ('Bonn', 'DE');
                    CREATE TABLE meter (number INTEGER PRIMARY KEY);
                    CREATE TABLE reading (meterNumber TEXT REFERENCES meter);
                    INSERT INTO meter VALUES (1), (2);
                    INSERT INTO reading VALUES ('1'), ('1'), ('2');
                    """)
        }
        return queue
    }

    @Test func rowsOfKeysInOtherLettersAreFetched() throws {
        try makeQueue().read { db in
            let request = Country.order(Column("code")).including(all: Country.cities.order(Column("name")))
            let cities = try Row.fetchAll(db, request).map { row in
                row.prefetchedRows["cities"]?.map { $0["name"] as String }
            }
            #expect(cities == [["Bonn"], ["Lyon", "Nice", "Paris"], []])
        }
    }

    @Test func rowsOfKeysOfOtherTypesAreFetched() throws {
        try makeQueue().read { db in
            let request = Meter.orderByPrimaryKey().including(all: Meter.readings)
            let counts = try Row.fetchAll(db, request).map { $0.prefetchedRows["readings"]?.count }
            #expect(counts == [2, 1])
        }
    }

    @Test func rowsOfATableWithAShortNameAreFetched() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE region (code TEXT COLLATE NOCASE PRIMARY KEY);
                    CREATE TABLE p (name TEXT, region TEXT COLLATE NOCASE REFERENCES region);
                    INSERT INTO region VALUES ('FR'), ('de');
                    INSERT INTO p VALUES ('Paris', 'fr');
                    """)
            let request = Region.order(Column("code")).including(all: Region.places)
            let counts = try Row.fetchAll(db, request).map { $0.prefetchedRows["places"]?.count }
            #expect(counts == [0, 1])
        }
    }
}
