import CipherStore
import Testing

/// Distinct rows with the rows of `including(all:)`.
@Suite struct DistinctParentTests {
    private typealias Author = Library.Author
    private typealias Book = Library.Book

    private let library: Library
    private var queue: DatabaseQueue { library.queue }

    init() throws {
        library = try Library()
        try queue.write { db in
            try Author(id: 4, name: "Poe", countryCode: "US").insert(db)
            try Book(id: 6, title: "Moby-Dick", year: 1930, authorId: 1).insert(db)
        }
    }

    @Test func aKeyThatWouldChangeWhichRowsAreDistinctHasToBeSelected() throws {
        let countries = Author.select(Column("countryCode")).distinct()
        try queue.read { db in
            let distinct = try Row.fetchAll(db, countries)
            #expect(distinct.count == 3)
            let error = #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, countries.including(all: Author.books))
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message?.contains("select id, too") == true)
            // What does not have to be distinct needs no key.
            let all = Author.select(Column("countryCode")).including(all: Author.books)
            let rows = try Row.fetchAll(db, all)
            #expect(rows.count == 4)
        }
    }

    @Test func distinctRowsWithTheirKeyGetTheirAssociatedRows() throws {
        let alias = TableAlias<Author>()
        let requests = [
            Author.select { [$0.id, $0.name] }.distinct(),
            Author.select { $0.id.forKey("number") }.distinct(),
            Author.all().aliased(alias).select(alias[Author.Columns.id], alias[Author.Columns.name])
                .distinct(),
        ]
        try queue.read { db in
            for request in requests {
                let rows = try Row.fetchAll(db, request.order(Column("id")).including(all: Author.books))
                let counts = rows.map { $0.prefetchedRows["books"]?.count }
                #expect(counts == [3, 1, 1, 0])
            }
        }
    }

    @Test func aJoinedRowThatIsSelectedHasItsAssociatedRows() throws {
        let titles = Book.select { $0.title }.distinct()
        try queue.read { db in
            let request = titles.including(required: Book.author.including(all: Author.books))
            let rows = try Row.fetchAll(db, request.order { $0.title })
            let names = rows.map { $0["title"] as String }
            #expect(names == ["Moby-Dick", "Odyssey", "Pierre", "Swann"])
            let counts = rows.map { $0.prefetchedRows["books"]?.count }
            #expect(counts == [3, 1, 3, 1])
        }
    }
}
