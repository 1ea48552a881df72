import CipherStore
import Testing

/// A seat of a hall, with a key of two columns.
private struct Seat: TableRecord {
    static let labels = hasMany(Label.self)
    static let tickets = hasMany(Ticket.self)
}

private struct Label: TableRecord {}

private struct Ticket: TableRecord {}

/// What becomes of joined requests that are counted, or run a second time for other rows.
@Suite struct JoinedRequestTests {
    private typealias Author = Library.Author
    private typealias Book = Library.Book

    private let library: Library
    private var queue: DatabaseQueue { library.queue }

    init() throws { library = try Library() }

    @Test func associationsThatMakeGroupsCanOnlyBeFetchedAfterwards() throws {
        let books: [QueryInterfaceRequest<Book>] = [
            Book.joining(required: Book.author.having(Author.books.count >= 2)),
            Book.joining(optional: Book.author.groupByPrimaryKey()),
            Book.including(required: Book.author.distinct()),
            Book.including(optional: Book.author.annotated(with: Author.books.count)),
            Book.annotated(withRequired: Book.author.select { max($0.name) }.group(Column("countryCode"))),
            Book.joining(required: Book.author.joining(required: Author.country.distinct())),
        ]
        try queue.write { db throws in
            for request in books {
                let error = #expect(throws: DatabaseError.self) { try request.fetchAll(db) }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("including(all:)") == true)
                #expect(throws: DatabaseError.self) { try request.fetchCount(db) }
                #expect(throws: DatabaseError.self) { try request.deleteAll(db) }
            }
            let prized = Author.books.having(Book.prizes.isEmpty == false)
            #expect(throws: DatabaseError.self) { try Author.annotated(with: prized.count).fetchCount(db) }
            let rows = try Row.fetchAll(db, Author.including(all: prized).orderByPrimaryKey())
            let counts = rows.map { $0.prefetchedRows["books"]?.count }
            #expect(counts == [0, 1, 0])
            let number = try Book.fetchCount(db)
            #expect(number == 5)
        }
    }

    @Test func rowsAreFilteredByARequestThatMakesGroups() throws {
        let prolific = Author.having(Author.books.count >= 2)
        let books = Book.filter(prolific.selectPrimaryKey(as: Int64.self).contains(Column("authorId")))
        try queue.write { db throws in
            let number = try prolific.fetchCount(db)
            #expect(number == 1)
            let titles = try books.orderByPrimaryKey().fetchAll(db).map(\.title)
            #expect(titles == ["Moby-Dick", "Pierre"])
            let deleted = try books.deleteAll(db)
            #expect(deleted == 2)
        }
    }

    @Test func anAggregateOfAJoinedTableMakesOneRow() throws {
        let request = Author.select { $0.name }.including(required: Author.books.select { max($0.year) })
        try queue.read { db throws in
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0["name"] as String } == ["Proust"])
            #expect(try request.fetchCount(db) == 1)
        }
    }

    // MARK: Rows with keys of two columns

    /// 600 seats with one ticket each, three of them with labels.
    private func makeSeats() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE seat (hall TEXT, number INTEGER, name TEXT, PRIMARY KEY (hall, number));
                    CREATE TABLE label (hall TEXT, number INTEGER,
                        FOREIGN KEY (hall, number) REFERENCES seat ON DELETE CASCADE);
                    CREATE TABLE ticket (hall TEXT, number INTEGER,
                        FOREIGN KEY (hall, number) REFERENCES seat ON DELETE CASCADE);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
                        INSERT INTO seat SELECT 'A', i, 'seat ' || (1000 + i) FROM n;
                    INSERT INTO ticket SELECT hall, number FROM seat;
                    INSERT INTO ticket VALUES (NULL, 1), ('A', NULL);
                    INSERT INTO label VALUES ('A', 1), ('A', 1), ('A', 1), ('A', 2), ('A', 3), ('A', 3);
                    """)
        }
        return queue
    }

    private func ticketCounts(_ request: QueryInterfaceRequest<Seat>, _ db: Database) throws -> [Int] {
        try Row.fetchAll(db, request).map { $0.prefetchedRows["tickets"]?.count ?? -1 }
    }

    @Test func theFirstOfDifferentRowsGetTheirAssociatedRows() throws {
        let request = Seat.joining(required: Seat.labels).order(Column("name")).distinct().limit(2)
            .including(all: Seat.tickets)
        #expect(try makeSeats().read { try ticketCounts(request, $0) } == [1, 1])
    }

    @Test func rowsInAnyOrderGetTheirAssociatedRows() throws {
        let random = Seat.all().order(sql: "RANDOM()").limit(50).including(all: Seat.tickets)
        let weighed = Seat.annotated(with: Seat.labels.count.forKey("weight"))
        let counted = weighed.order(sql: "weight DESC").limit(2).including(all: Seat.tickets)
        try makeSeats().read { db throws in
            #expect(try ticketCounts(random, db) == Array(repeating: 1, count: 50))
            #expect(try ticketCounts(counted, db) == [1, 1])
        }
    }

    @Test func manyKeysOfTwoColumnsAreFetchedInBatches() throws {
        let request = Seat.all().including(all: Seat.tickets)
        #expect(
            try makeSeats().read { try ticketCounts(request, $0) } == Array(repeating: 1, count: 600))
    }

    @Test func theFirstOfDifferentRowsAreChanged() throws {
        let request = Seat.joining(required: Seat.labels).order(Column("name")).distinct().limit(2)
        try makeSeats().write { db throws in
            #expect(try request.updateAll(db, [Column("name").set(to: "seat 0")]) == 2)
            #expect(try Seat.filter(Column("name") == "seat 0").fetchCount(db) == 2)
            #expect(try request.deleteAll(db) == 2)
            #expect(try Seat.all().fetchCount(db) == 598)
        }
    }
}
