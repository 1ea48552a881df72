import CipherData
import Foundation
import Testing

private enum Library {
    @Table("authors") struct Author: Identifiable, Equatable {
        let id: Int
        var name = ""
        static let books = hasMany(Book.self)
    }

    @Table("books") struct Book: Identifiable, Equatable {
        let id: Int
        var title = ""
        // Before the columns of the schema's order, and with another name.
        @Column("author_id") var authorID: Author.ID?
        var year = 0
    }

    @Table("prizes") struct Prize: Identifiable, Equatable {
        let id: Int
        var title = ""
        var authorID: Author.ID
    }

    /// With a default scope.
    @Table("books") struct NewBook: Identifiable, Equatable {
        static let all = Self.where { $0.year.gt(1955) && $0.title.neq("Edda") }

        let id: Int
        var title = ""
        @Column("author_id") var authorID: Author.ID?
        var year = 0
    }

    /// With a key of two columns, to which another table refers.
    @Table("seats") struct Seat: Equatable {
        var hall = ""
        var number = 0
        static let tickets = hasMany(Ticket.self)
    }

    @Table("tickets") struct Ticket: Identifiable, Equatable {
        let id: Int
        var hall: String?
        var seat: Int?
    }

    /// A record that became a typed table.
    @Table("albums") struct Album: Codable, FetchableRecord, PersistableRecord, Identifiable, Equatable {
        static let databaseTableName = "albums"
        var id: Int
        var title: String
        static let songs = hasMany(Song.self, using: ForeignKey(["album"]))
    }

    @Table("songs") struct Song: Codable, FetchableRecord, PersistableRecord, Identifiable, Equatable {
        static let databaseTableName = "songs"
        var id: Int
        var title: String
        var album: Int
    }

    static let schema = """
        CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE books (
            year INTEGER NOT NULL DEFAULT 0, id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES authors(id),
            unknown TEXT, title TEXT NOT NULL);
        CREATE TABLE prizes (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, authorID INTEGER NOT NULL REFERENCES authors);
        CREATE TABLE seats (hall TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (hall, number));
        CREATE TABLE tickets (
            id INTEGER PRIMARY KEY, hall TEXT, seat INTEGER, FOREIGN KEY (hall, seat) REFERENCES seats);
        CREATE TABLE albums (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
        CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT NOT NULL, album INTEGER NOT NULL);
        INSERT INTO authors VALUES (1, 'Frisch'), (2, 'Bachmann'), (3, 'Nobody');
        INSERT INTO books (id, title, author_id, year) VALUES
            (1, 'Stiller', 1, 1954), (2, 'Malina', 2, 1971), (3, 'Homo Faber', 1, 1957), (4, 'Edda', NULL, 1220);
        INSERT INTO prizes VALUES (1, 'Büchner', 1), (2, 'Büchner', 2), (3, 'Jerusalem', 1);
        INSERT INTO seats VALUES ('A', 1), ('A', 2), ('B', 1);
        INSERT INTO tickets VALUES (1, 'A', 1), (2, 'B', 1), (3, 'A', 1), (4, 'A', NULL);
        INSERT INTO albums VALUES (1, 'One'), (2, 'Two');
        INSERT INTO songs VALUES (1, 'First', 2), (2, 'Second', 2);
        """
}

/// Typed rows with the rows that refer to them.
@Suite(.timeLimit(.minutes(5))) struct IncludingTests {
    private let folder: TestFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TestFolder()
        queue = try DatabaseQueue(path: folder.file("library.db"), configuration: .encrypted)
        try queue.write { db in try db.execute(sql: Library.schema) }
    }

    @Test func eachRowHasThoseThatReferToIt() throws {
        let authors = try queue.read { db in
            try Library.Author.order(by: \.name).including(
                all: Library.Author.books.order(Column("year").desc)
            )
            .fetchAll(db)
        }
        #expect(authors.map(\.0.name) == ["Bachmann", "Frisch", "Nobody"])
        #expect(authors.map { $0.1.map(\.title) } == [["Malina"], ["Homo Faber", "Stiller"], []])
        #expect(authors[0].1 == [Library.Book(id: 2, title: "Malina", authorID: 2, year: 1971)])
    }

    @Test func associationsCanBeRestricted() throws {
        let authors = try queue.read { db in
            try Library.Author.where { $0.name.neq("Bachmann") }
                .including(all: Library.Author.books.filter(Column("year") > 1955))
                .fetchAll(db)
        }
        #expect(authors.map { $0.1.map(\.title) } == [["Homo Faber"], []])
    }

    @Test func associatedRowsAreThoseOfTheDefaultScope() throws {
        let books = Library.Author.hasMany(Library.NewBook.self).order(Column("year"))
        try queue.read { db throws in
            let scoped = try Library.Author.order(by: \.id).including(all: books).fetchAll(db)
            #expect(scoped.map { $0.1.map(\.title) } == [["Homo Faber"], ["Malina"], []])
            let all = try Library.Author.order(by: \.id).including(all: books, unscoped: true).fetchAll(db)
            #expect(all.map { $0.1.map(\.title) } == [["Stiller", "Homo Faber"], ["Malina"], []])
            let both = try Library.Author.order(by: \.id).including(all: books.filter(Column("year") > 1960))
                .including(all: books, unscoped: true).fetchAll(db)
            #expect(both.map(\.1.count) == [0, 1, 0])
            #expect(both.map(\.2.count) == [2, 1, 0])
        }
    }

    @Test func severalAssociationsAreOneTuple() throws {
        let request = Library.Author.all
            .including(all: Library.Author.books)
            .including(all: Library.Author.hasMany(Library.Prize.self).order(Column("title")))
        try queue.read { db in
            let authors = try request.fetchAll(db)
            #expect(authors.map { $0.1.count } == [2, 1, 0])
            #expect(authors.map { $0.2.map(\.title) } == [["Büchner", "Jerusalem"], ["Büchner"], []])
            let first = try #require(try request.fetchOne(db))
            #expect(first.0.name == "Frisch" && first.1.count == 2 && first.2.count == 2)
            #expect(try Library.Author.limit(0).including(all: Library.Author.books).fetchOne(db) == nil)
            #expect(try Library.Author.none.including(all: Library.Author.books).fetchAll(db).isEmpty)
            #expect(
                try Library.Author.where { $0.id.eq(9) }.including(all: Library.Author.books).fetchOne(db)
                    == nil)
        }
    }

    @Test func keysCanHaveSeveralColumns() throws {
        let seats = try queue.read { db in
            try Library.Seat.where { $0.hall.eq("A") }.order(by: \.number)
                .including(all: Library.Seat.tickets.order(Column("id")))
                .fetchAll(db)
        }
        #expect(seats.map { $0.1.map(\.id) } == [[1, 3], []])
    }

    @Test func associationsOfRecordsAreTaken() throws {
        try queue.read { db in
            let albums = try Library.Album.order(by: \.id).including(all: Library.Album.songs).fetchAll(db)
            #expect(albums.map { $0.1.map(\.title) } == [[], ["First", "Second"]])
            // The record layer reads the same.
            let rows = try Row.fetchAll(
                db, Library.Album.including(all: Library.Album.songs).order(Column("id")))
            #expect(rows.map { $0.prefetchedRows["songs"]?.count } == [0, 2])
        }
    }

    @Test func moreKeysThanOneStatementTakesAreSeveralStatements() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL);
                    CREATE TABLE lines (id INTEGER PRIMARY KEY, noteID TEXT NOT NULL REFERENCES notes);
                    """)
            for number in 0..<1200 {
                try db.execute(sql: "INSERT INTO notes VALUES (?)", arguments: ["note \(number)"])
                try db.execute(sql: "INSERT INTO lines (noteID) VALUES (?)", arguments: ["note \(number)"])
            }
        }
        let notes = try queue.read { db in
            try Large.Note.all.including(all: Large.Note.hasMany(Large.Line.self)).fetchAll(db)
        }
        #expect(notes.count == 1200)
        #expect(notes.allSatisfy { note, lines in lines.map(\.noteID) == [note.id] })
    }

    @Test func whatCanNotBeFetchedIsAnErrorThatNamesIt() throws {
        try queue.read { db in
            // No foreign key leads from songs to albums in the schema.
            #expect {
                try Library.Author.all.including(all: Library.Author.hasMany(Library.Song.self)).fetchAll(db)
            } throws: {
                "\($0)".contains("songs") && "\($0)".contains("authors")
            }
            let nested = Library.Author.books.including(all: Library.Book.hasMany(Library.Prize.self))
            #expect {
                try Library.Author.all.including(all: nested).fetchAll(db)
            } throws: {
                "\($0)".contains("rows of books can't have rows of their own here")
            }
            #expect {
                try Part.all.including(all: Part.hasMany(Library.Book.self)).fetchAll(db)
            } throws: {
                "\($0)".contains("has no column id")
            }
        }
    }
}

private enum Large {
    @Table("notes") struct Note: Identifiable { let id: String }

    @Table("lines") struct Line: Identifiable {
        let id: Int
        var noteID: String
    }
}

/// Authors without their key.
@Selection("authors") private struct Part {
    let name: String
}
