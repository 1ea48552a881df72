import CipherStore
import Foundation
import Testing

/// Countries, authors, books and prizes, in an encrypted file.
struct Library {
    struct Country: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let authors = hasMany(Author.self)
        static let books = hasMany(Book.self, through: authors, using: Author.books)
        var code: String
        var name: String
    }

    struct Author: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let country = belongsTo(Country.self)
        static let books = hasMany(Book.self)
        static let prizes = hasMany(Prize.self, through: books, using: Book.prizes)
        var id: Int64
        var name: String
        var countryCode: String?

        enum Columns {
            static let id = Column(CodingKeys.id)
            static let name = Column(CodingKeys.name)
        }
    }

    struct Book: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let author = belongsTo(Author.self)
        static let country = hasOne(Country.self, through: author, using: Author.country)
        static let prizes = hasMany(Prize.self)
        var id: Int64
        var title: String
        var year: Int
        var authorId: Int64?

        enum Columns {
            static let title = Column(CodingKeys.title)
            static let year = Column(CodingKeys.year)
        }
    }

    struct Prize: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let book = belongsTo(Book.self)
        var name: String
        var bookId: Int64
    }

    let queue: DatabaseQueue
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("library.db"), configuration: .keyed("a library"))
        try queue.write { db in
            try db.create(table: "country") { t in
                t.primaryKey("code", .text)
                t.column("name", .text).notNull()
            }
            try db.create(table: "author") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
                t.belongsTo("country")
            }
            try db.create(table: "book") { t in
                t.primaryKey("id", .integer)
                t.column("title", .text).notNull()
                t.column("year", .integer).notNull()
                t.belongsTo("author")
            }
            try db.create(table: "prize") { t in
                t.column("name", .text).notNull()
                t.belongsTo("book").notNull()
            }
            try Country(code: "FR", name: "France").insert(db)
            try Country(code: "US", name: "United States").insert(db)
            try Author(id: 1, name: "Melville", countryCode: "US").insert(db)
            try Author(id: 2, name: "Proust", countryCode: "FR").insert(db)
            try Author(id: 3, name: "Homer", countryCode: nil).insert(db)
            try Book(id: 1, title: "Moby-Dick", year: 1851, authorId: 1).insert(db)
            try Book(id: 2, title: "Pierre", year: 1852, authorId: 1).insert(db)
            try Book(id: 3, title: "Swann", year: 1913, authorId: 2).insert(db)
            try Book(id: 4, title: "Odyssey", year: -700, authorId: 3).insert(db)
            try Book(id: 5, title: "Beowulf", year: 1000, authorId: nil).insert(db)
            try Prize(name: "Goncourt", bookId: 3).insert(db)
        }
    }
}

@Suite struct AssociationTests {
    private typealias Author = Library.Author
    private typealias Book = Library.Book
    private typealias Country = Library.Country
    private typealias Prize = Library.Prize

    private let library: Library
    private var queue: DatabaseQueue { library.queue }

    init() throws { library = try Library() }

    @Test func aRequiredRowBehindAnOptionalOneLeavesNoRowOut() throws {
        struct Info: Decodable, FetchableRecord {
            var book: Book
            var author: Author?
            var country: Country?
        }
        let request = Book.including(optional: Book.author.including(required: Author.country))
            .orderByPrimaryKey().asRequest(of: Info.self)
        let (infos, count) = try queue.read { try (request.fetchAll($0), request.fetchCount($0)) }
        #expect(infos.map(\.author?.name) == ["Melville", "Melville", "Proust", nil, nil])
        #expect(infos.map(\.country?.code) == ["US", "US", "FR", nil, nil])
        #expect(count == 5)
    }

    @Test func aFilterOnARequiredRowBehindAnOptionalOneHidesTheOptionalOne() throws {
        let french = Author.country.filter { _ in Column("code") == "FR" }
        let request = Book.including(optional: Book.author.joining(required: french)).orderByPrimaryKey()
        let rows = try queue.read { try Row.fetchAll($0, request) }
        let names = rows.map { $0.scopes["author"]?["name"] as String? }
        #expect(names == [nil, nil, "Proust", nil, nil])
    }

    @Test func directAndIndirectRowsOfOneAssociationAreFetchedTogether() throws {
        struct Info: Decodable, FetchableRecord {
            var country: Country
            var authors: [Author]
            var books: [Book]
        }
        let request = Country.including(all: Country.authors).including(all: Country.books)
            .orderByPrimaryKey().asRequest(of: Info.self)
        let infos = try queue.read { try request.fetchAll($0) }
        #expect(infos.map { $0.authors.map(\.name) } == [["Proust"], ["Melville"]])
        #expect(infos.map { $0.books.map(\.id) } == [[3], [1, 2]])
    }

    @Test func prefetchedRowsNeedNoSelectedKey() throws {
        struct Info: Decodable, FetchableRecord {
            var name: String
            var books: [Book]
            var country: Country?
        }
        let request = Author.select { $0.name }.including(optional: Author.country).including(
            all: Author.books
        )
        .order(Column("id")).asRequest(of: Info.self)
        let (infos, row) = try queue.read { try (request.fetchAll($0), Row.fetchOne($0, request)) }
        #expect(infos.map(\.books.count) == [2, 1, 1])
        #expect(infos.map(\.country?.code) == ["US", "FR", nil])
        // The key that is selected for the second query is not shown.
        #expect(row?.columnNames == ["name"])
        #expect(row?.scopes["country"]?.columnNames == ["code", "name"])
    }

    @Test func manyTextKeysAreFetchedInBatches() throws {
        try queue.write { db in
            for number in 0..<1203 {
                try Country(code: "x\(number)", name: "").insert(db)
                try Author(id: Int64(100 + number), name: "a\(number)", countryCode: "x\(number)").insert(db)
            }
            let rows = try Row.fetchAll(db, Country.including(all: Country.authors))
            let names = rows.flatMap { $0.prefetchedRows["authors"] ?? [] }.map { $0["name"] as String }
            #expect(rows.count == 1205)
            #expect(Set(names).count == 1205)
        }
    }

    @Test func manyIntegerKeysAreFetchedInBatches() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
                    INSERT INTO author (id, name) SELECT i, i FROM n
                    """)
            try db.execute(sql: "INSERT INTO book SELECT id, name, 2000, id FROM author WHERE id >= 100")
            let rows = try Row.fetchAll(db, Author.including(all: Author.books).order(Column("id")))
            #expect(rows.count == 44904)
            #expect(rows.allSatisfy { $0.prefetchedRows["books"]?.isEmpty == false })
        }
    }

    @Test func prefetchedRowsAreNested() throws {
        struct BookInfo: Decodable, FetchableRecord, Equatable {
            var title: String
            var prizes: [Prize]
        }
        struct Info: Decodable, FetchableRecord {
            var name: String
            var books: [BookInfo]
        }
        let books = Author.books.order { $0.year.desc }.including(all: Book.prizes)
        let request = Author.including(all: books).order { $0.id }.asRequest(of: Info.self)
        let infos = try queue.read { try request.fetchAll($0) }
        #expect(infos[0].books.map(\.title) == ["Pierre", "Moby-Dick"])
        #expect(infos[1].books[0].prizes.map(\.name) == ["Goncourt"])
        #expect(infos[2].books[0].prizes.isEmpty)
    }

    @Test func aCursorOfPrefetchedRowsIsAnError() throws {
        try queue.read { db in
            _ = #expect(throws: DatabaseError.self) {
                _ = try Author.including(all: Author.books).fetchCursor(db)
            }
        }
    }

    @Test func rowsAreRequestedForARecord() throws {
        try queue.read { db in
            let country = try #require(try Country.fetchOne(db, key: "US"))
            let titles = try country.request(for: Country.books).order { $0.year.desc }.fetchAll(db).map(
                \.title)
            #expect(titles == ["Pierre", "Moby-Dick"])
            let homer = try #require(try Author.fetchOne(db, key: 3))
            let none = try homer.request(for: Author.country).fetchOne(db)
            #expect(none == nil)
        }
    }

    @Test func aggregatesCountEachRowOnce() throws {
        struct Info: Decodable, FetchableRecord {
            var author: Author
            var bookCount: Int
            var prizeCount: Int
            var maxBookYear: Int?
        }
        let request = Author.annotated(
            with: Author.books.count, Author.prizes.count, Author.books.max(\.year)
        )
        .order { $0.id }.asRequest(of: Info.self)
        let infos = try queue.read { try request.fetchAll($0) }
        #expect(infos.map(\.bookCount) == [2, 1, 1])
        #expect(infos.map(\.prizeCount) == [0, 1, 0])
        #expect(infos.map(\.maxBookYear) == [1852, 1913, -700])
        let none = try queue.read { db in
            try Author.having(Author.prizes.isEmpty && Author.books.count > 1).fetchAll(db).map(\.name)
        }
        #expect(none == ["Melville"])
    }

    @Test func rowsWithoutRowIDAreCountedByTheirWholeKey() throws {
        struct Shelf: Decodable, FetchableRecord, TableRecord {
            static let slots = hasMany(Slot.self)
            static let labels = hasMany(Label.self)
        }
        struct Slot: TableRecord {}
        struct Label: TableRecord {}
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
                    CREATE TABLE slot (shelfId INTEGER REFERENCES shelf(id), x, y, PRIMARY KEY (x, y)) WITHOUT ROWID;
                    CREATE TABLE label (id INTEGER PRIMARY KEY, shelfId INTEGER REFERENCES shelf(id));
                    INSERT INTO shelf VALUES (1), (2);
                    INSERT INTO label (shelfId) VALUES (1), (1), (2);
                    INSERT INTO slot VALUES (1, 1, 2), (1, '1', 2), (1, X'31', 2), (1, '1'',', 2), (1, 12, ''),
                        (1, 0.1, 0), (1, 0.1 + 1e-17 * 2, 0)
                    """)
            let nul = "a\0"
            try db.execute(
                sql: "INSERT INTO slot VALUES (1, ?, 'x'), (1, ?, 'x')", arguments: [nul + "b", nul])
            let request = Shelf.annotated(with: Shelf.slots.count, Shelf.labels.count, Shelf.slots.isEmpty)
                .orderByPrimaryKey()
            let rows = try Row.fetchAll(db, request)
            let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM slot")
            #expect(total == 9)
            #expect(
                rows == [
                    ["id": 1, "slotCount": 9, "labelCount": 2, "hasNoSlot": false],
                    ["id": 2, "slotCount": 0, "labelCount": 1, "hasNoSlot": true],
                ])
        }
    }

    @Test func aForeignKeyThatTheSchemaDoesNotTellIsAnErrorWithAdvice() throws {
        let missing = Prize.belongsTo(Country.self)
        try queue.read { db in
            let error = #expect(throws: DatabaseError.self) {
                try Prize.joining(required: missing).fetchCount(db)
            }
            #expect(error?.message?.contains("from prize to country") == true)
            #expect(error?.message?.contains("ForeignKey") == true)
        }
    }

    @Test func twoForeignKeysBetweenTwoTablesMustBeTold() throws {
        struct Letter: TableRecord {
            static let sender = belongsTo(Author.self, key: "sender", using: ForeignKey(["senderId"]))
            static let receiver = belongsTo(Author.self, key: "receiver", using: ForeignKey(["receiverId"]))
        }
        try queue.write { db in
            try db.create(table: "letter") { t in
                t.belongsTo("sender", inTable: "author")
                t.belongsTo("receiver", inTable: "author")
            }
            try db.execute(sql: "INSERT INTO letter VALUES (1, 2)")
            let error = #expect(throws: DatabaseError.self) {
                try Letter.joining(required: Letter.belongsTo(Author.self)).fetchCount(db)
            }
            #expect(error?.message?.contains("ambiguous foreign key from letter to author") == true)
            let request = Letter.including(required: Letter.sender).including(required: Letter.receiver)
            let row = try #require(try Row.fetchOne(db, request))
            #expect(row.scopes["sender"]?["name"] as String? == "Melville")
            #expect(row.scopes["receiver"]?["name"] as String? == "Proust")
        }
    }

    @Test func rawSelectionsOfJoinedTablesKeepTheirColumns() throws {
        let author = Book.author.select(sql: "author.name, author.id + 1 AS next").including(
            optional: Author.country.select(sql: "1 AS one, 2 AS two"))
        let request = Book.select(sql: "book.title, book.year").including(required: author).order(
            Column("id"))
        let row = try #require(try queue.read { try Row.fetchOne($0, request) })
        #expect(row.columnNames == ["title", "year"])
        #expect(row.scopes["author"]?.columnNames == ["name", "next"])
        #expect(row.scopesTree["country"]?.columnNames == ["one", "two"])
    }

    @Test func arraysOfValuesArePrefetched() throws {
        struct Info: Decodable, FetchableRecord {
            var name: String
            var books: [String]
        }
        let request = Author.including(all: Author.books.select { $0.title }.order { $0.year.desc })
            .order { $0.id }.asRequest(of: Info.self)
        let infos = try queue.read { try request.fetchAll($0) }
        #expect(infos.map(\.books) == [["Pierre", "Moby-Dick"], ["Swann"], ["Odyssey"]])
    }

    @Test func aReversedRequestReversesTheTablesThatAreJoinedLater() throws {
        let request = Author.order { $0.id }.reversed().including(required: Author.books.order { $0.year })
        let titles = try queue.read { try Row.fetchAll($0, request) }.map {
            $0.scopes["book"]?["title"] as String?
        }
        #expect(titles == ["Odyssey", "Swann", "Pierre", "Moby-Dick"])
    }

    @Test func rowsOfAnEmptyRequestArePrefetchedWithoutAQuery() throws {
        let request = Author.none().including(all: Author.books)
        let rows = try queue.read { db in
            db.trace { #expect(!"\($0)".contains("FROM \"book\"")) }
            defer { db.trace() }
            return try Row.fetchAll(db, request)
        }
        #expect(rows.isEmpty)
    }

    @Test func theRegionOfARequestHoldsThePrefetchedRows() throws {
        let request = Author.including(all: Author.books.including(all: Book.prizes))
        let (region, empty) = try queue.read { db in
            try (request.databaseRegion(db).description, request.none().databaseRegion(db).isEmpty)
        }
        #expect(region == "author(countryCode,id,name),book(authorId,id,title,year),prize(bookId,name)")
        #expect(empty)
    }
}
