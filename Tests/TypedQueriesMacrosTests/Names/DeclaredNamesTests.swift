import Testing
import TypedQueriesMacros

private enum Rack {
    @Table("books") struct Book: Equatable {
        let id: Int
        var title = ""
        var pages: Int?
    }
    @Table("marks") struct Mark {
        let id: Int
        var bookID: Int
    }
    @Table("titles") struct Title {
        var title: String
    }
}

/// Names of SQLiteData in declarations.
struct DeclaredNamesTests {
    private func rows(@Seeds _ build: () -> [any Table]) -> [any Table] { build() }

    @Test func theyNameTheTypesOfTheStatements() throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER);
            CREATE TABLE marks (id INTEGER PRIMARY KEY, bookID INTEGER NOT NULL);
            """)
        let nulls: NullOrdering = .last
        let ordered: SelectOf<Rack.Book> = Rack.Book.order { $0.pages.asc(nulls: nulls) }
        let joined: SelectOf<Rack.Book, Rack.Mark> = Rack.Book.join(Rack.Mark.all) {
            $0.id.eq($1.bookID)
        }
        let trigger: TemporaryTrigger<Rack.Book> = Rack.Book.createTemporaryTrigger(
            after: .insert { book in
                Rack.Mark.insert {
                    $0.bookID
                } select: {
                    Values(book.id)
                }
            })
        let view: TemporaryView<Rack.Title> = Rack.Title.createTemporaryView(
            as: Rack.Book.select { Rack.Title.Columns(title: $0.title) })
        try queue.write { db throws in
            try trigger.execute(db)
            try view.execute(db)
            try Rack.Book.insert {
                Rack.Book(id: 1, title: "a")
                Rack.Book(id: 2, title: "b", pages: 9)
            }.execute(db)
            let books = try ordered.fetchAll(db)
            #expect(books.map(\.id) == [2, 1])
            let pairs = try joined.fetchAll(db)
            #expect(pairs.count == 2)
            let titles = try Rack.Title.all.fetchAll(db)
            #expect(titles.map(\.title).sorted() == ["a", "b"])
        }
        let modifier: DateTimeModifier = .days(1)
        #expect(modifier == .days(1))
        let seeds = rows {
            Rack.Book(id: 3)
            Rack.Mark(id: 3, bookID: 3)
        }
        #expect(seeds.count == 2)
    }
}
