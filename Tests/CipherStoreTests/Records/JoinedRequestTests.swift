import CipherStore
import Testing

/// What becomes of joined requests that are counted, or run a second time for other rows.
@Suite struct JoinedRequestTests {
    private typealias Author = Library.Author
    private typealias Book = Library.Book

    private let library: Library
    private var queue: DatabaseQueue { library.queue }

    init() throws { library = try Library() }

    @Test func groupsOfAJoinedTableAreCounted() throws {
        let prolific = Author.having(Author.books.count >= 2)
        try queue.read { db in
            let books = Book.joining(required: Book.author.having(Author.books.count >= 2))
            #expect(try books.fetchCount(db) == books.fetchAll(db).count)
            let authors = Book.joining(required: Book.author.groupByPrimaryKey())
            #expect(try authors.fetchAll(db).count == 3)
            #expect(try authors.fetchCount(db) == 3)
            #expect(try prolific.fetchCount(db) == 1)
        }
    }

    @Test func anAggregateOfAJoinedTableMakesOneRow() throws {
        let request = Author.select { $0.name }.including(required: Author.books.select { max($0.year) })
        try queue.read { db in
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0["name"] as String } == ["Proust"])
            #expect(try request.fetchCount(db) == 1)
        }
    }
}
