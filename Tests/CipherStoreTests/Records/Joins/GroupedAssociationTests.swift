import CipherStore
import Testing

private struct Author: TableRecord {
    static let books = hasMany(Book.self)
}

private struct Book: TableRecord {
    enum Columns {
        static let kind = Column("kind")
        static let year = Column("year")
    }
}

private struct Country: TableRecord {
    static let passports = hasMany(Passport.self)
    static let citizens = hasMany(Citizen.self, through: passports, using: Passport.citizen)
}

private struct Passport: TableRecord {
    static let citizen = belongsTo(Citizen.self)
}

private struct Citizen: TableRecord {
    static let pets = hasMany(Pet.self)
}

private struct Pet: TableRecord {}

/// A row of a table with a key of two columns.
private struct Course: TableRecord {
    static let pupils = hasMany(Pupil.self)
}

private struct Pupil: TableRecord {}

/// Rows of `including(all:)` that an association puts into groups.
@Suite struct GroupedAssociationTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE book (id INTEGER PRIMARY KEY, authorId INTEGER REFERENCES author, kind TEXT, year INTEGER);
                    INSERT INTO author VALUES (1, 'A'), (2, 'B'), (3, 'C');
                    INSERT INTO book (authorId, kind, year) VALUES (1, 'novel', 2000), (1, 'novel', 2001), (1, 'poem', 2005),
                        (2, 'novel', 1990), (2, 'novel', 1995);

                    CREATE TABLE country (id INTEGER PRIMARY KEY);
                    CREATE TABLE citizen (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE passport (countryId INTEGER REFERENCES country, citizenId INTEGER REFERENCES citizen);
                    CREATE TABLE pet (id INTEGER PRIMARY KEY, citizenId INTEGER REFERENCES citizen);
                    INSERT INTO country VALUES (10), (20);
                    INSERT INTO citizen VALUES (1, 'both'), (2, 'one');
                    INSERT INTO passport VALUES (10, 1), (20, 1), (20, 2);
                    INSERT INTO pet (citizenId) VALUES (1), (1);

                    CREATE TABLE course (a TEXT, b INTEGER, PRIMARY KEY (a, b));
                    CREATE TABLE pupil (a TEXT, b INTEGER, age INTEGER, FOREIGN KEY (a, b) REFERENCES course);
                    INSERT INTO course VALUES ('x', 1), ('x', 2);
                    INSERT INTO pupil VALUES ('x', 1, 7), ('x', 1, 7), ('x', 1, 8), ('x', 2, 7);
                    """)
        }
    }

    /// The values of the rows of an association, as texts, for each parent.
    private func values(_ request: QueryInterfaceRequest<some Any>, _ key: String) throws -> [[String]] {
        try queue.read { db in
            try Row.fetchAll(db, request.orderByPrimaryKey()).map { row in
                (row.prefetchedRows[key] ?? []).map { inner in
                    zip(inner.columnNames, inner.databaseValues).filter { !$0.0.hasPrefix("grdb_") }
                        .map(\.1.description).joined(separator: " ")
                }.sorted()
            }
        }
    }

    @Test func eachParentGetsItsOwnGroups() throws {
        let infos = Author.books.select { [$0.kind, max($0.year).forKey("maxYear")] }.group { $0.kind }
            .forKey("bookKindInfos")
        let groups = try values(Author.including(all: infos), "bookKindInfos")
        #expect(groups == [[#""novel" 2001"#, #""poem" 2005"#], [#""novel" 1995"#], []])
        let first = try values(Author.filter(key: 1).including(all: infos), "bookKindInfos")
        #expect(first == [groups[0]])
    }

    @Test func aSelectedAggregateIsThatOfEachParent() throws {
        let years = Author.books.select { max($0.year) }
        let groups = try values(Author.including(all: years), "books")
        #expect(groups == [["2005"], ["1995"], []])
        let none = try values(Author.filter(key: 3).including(all: years), "books")
        #expect(none == [[]])
    }

    @Test func parentsShareARowThatIsFoundByAnAggregate() throws {
        let counted = Country.citizens.annotated(with: Citizen.pets.count)
        let counts = try values(Country.including(all: counted), "citizens")
        #expect(counts == [[#"1 "both" 2"#], [#"1 "both" 2"#, #"2 "one" 0"#]])
        let owners = Country.citizens.having(Citizen.pets.isEmpty == false)
        let names = try values(Country.including(all: owners), "citizens")
        #expect(names == [[#"1 "both""#], [#"1 "both""#]])
    }

    @Test func groupsOfParentsWithKeysOfTwoColumnsAreApart() throws {
        let ages = Course.pupils.select(Column("age"), count(Column("age"))).group(Column("age"))
        let all = try values(Course.including(all: ages), "pupils")
        #expect(all == [["7 2", "8 1"], ["7 1"]])
        // A limited request is not run again for the keys.
        let limited = try values(Course.limit(2).including(all: ages), "pupils")
        #expect(limited == all)
    }
}
