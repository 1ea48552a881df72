import Foundation
import Testing
import TypedQueriesMacros

@Selection struct Residence: Equatable {
    var street: String
    var city: String
}

@Table struct Commuter: Equatable {
    let id: Int
    var home: Residence
    var work: Residence
}

@Table struct Visitor: Equatable {
    let id: Int
    var home: Residence?
}

@Table struct Shop: Equatable {
    let id: Int
    var city: String
    var place: Residence
}

@Suite struct ShapesTests {
    @Test func groupsComputedAndLazyColumnsAreReadAndWritten() throws {
        let database = try encryptedDatabase(
            """
            CREATE TABLE articles (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, createdAt INTEGER NOT NULL, updatedAt INTEGER,
                position INTEGER);
            CREATE VIEW shouting AS
                SELECT id, title, createdAt, updatedAt, upper(title) AS shout, position FROM articles;
            """)
        try database.write { db throws in
            let draft = Article.Draft(title: "a", stamps: Stamps(createdAt: 5, updatedAt: nil))
            #expect(draft.position == nil)
            try Article.insert { draft }.execute(db)
            #expect(try Row.fetchOne(db, sql: "SELECT createdAt, position FROM articles")?["createdAt"] == 5)
            try db.execute(sql: "UPDATE articles SET position = 7")
            let rows = try #sql(
                "SELECT id, title, createdAt, updatedAt, shout, position FROM shouting", as: Article.self
            ).fetchAll(db)
            #expect(
                rows == [
                    Article(
                        id: 1, title: "a", stamps: Stamps(createdAt: 5, updatedAt: nil), shout: "A",
                        position: 7)
                ])
            try Article.where { $0.stamps.createdAt.eq(5) }.update { $0.stamps.updatedAt = 6 }.execute(db)
            #expect(try Int.fetchOne(db, sql: "SELECT updatedAt FROM articles") == 6)
        }
        try database.write { db throws in
            try Article.delete().execute(db)
            try Article.insert {
                Article.Columns(
                    id: 2, title: "b", stamps: Stamps(createdAt: 8, updatedAt: nil),
                    shout: "left out", position: 9)
            }.execute(db)
            let row = try Row.fetchOne(db, sql: "SELECT title, createdAt, position FROM articles")
            #expect(row?["title"] == "b")
            #expect(row?["createdAt"] == 8)
            #expect(row?["position"] == 9)
            let article = Article(
                id: 1, title: "a", stamps: Stamps(createdAt: 5, updatedAt: nil), shout: "A", position: 7)
            let all = #sql(
                "SELECT id, title, createdAt, updatedAt, shout, position FROM shouting", as: Article.self)
            let rows = try Row.fetchAll(db, sql: sql(article.union(all)) + " ORDER BY id")
            #expect(rows.map { $0["position"] as Int? } == [7, 9])
            #expect(rows.map { $0["shout"] as String? } == [nil, "B"])
        }
        #expect(Article.TableColumns.columnList.names.contains("updatedAt"))
        #expect(
            Article.TableColumns.columnList.writableNames == [
                "id", "title", "createdAt", "updatedAt", "position",
            ])
    }

    @Test func columnsOfOneNameAreAnErrorThatNamesBothProperties() throws {
        let database = try encryptedDatabase(
            """
            CREATE TABLE commuters (id INTEGER PRIMARY KEY, street TEXT, city TEXT);
            CREATE TABLE shops (id INTEGER PRIMARY KEY, street TEXT, city TEXT);
            """)
        try database.write { db throws in
            let place = Residence(street: "a", city: "b")
            let commuter = Commuter(id: 1, home: place, work: Residence(street: "c", city: "d"))
            let error = #expect(throws: DatabaseError.self) {
                try Commuter.insert { commuter }.execute(db)
            }
            #expect(
                error?.message?.contains(#""street" of Commuter is one of "home" and of "work""#) == true)
            #expect(throws: DatabaseError.self) { try Commuter.all.fetchAll(db) }
            #expect(throws: DatabaseError.self) { try Commuter.all.fetchCursor(db) }
            #expect(throws: DatabaseError.self) { try db.seed { commuter } }
            let shop = Shop.insert { Shop(id: 1, city: "b", place: place) }.returning(\.id)
            let second = #expect(throws: DatabaseError.self) { try shop.fetchAll(db) }
            #expect(second?.message?.contains(#""city" of Shop is one of "city" and of "place""#) == true)
            let count = try Int.fetchOne(
                db, sql: "SELECT (SELECT count(*) FROM commuters) + (SELECT count(*) FROM shops)")
            #expect(count == 0)
        }
    }

    @Test func anOptionalGroupIsMapped() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE visitors (id INTEGER PRIMARY KEY, street TEXT, city TEXT)")
        let home = Residence(street: "a", city: "b")
        try database.write { db throws in
            try Visitor.insert {
                Visitor(id: 1, home: home)
                Visitor(id: 2, home: nil)
                Visitor(id: 3, home: Residence(street: "c", city: "d"))
            }.execute(db)
            let areThere = Visitor.order(by: \.id).select { $0.home.map { _ in #sql("1", as: Bool.self) } }
            #expect(try areThere.fetchAll(db) == [true, nil, true])
            let none = Visitor.order(by: \.id).select {
                $0.home.flatMap { _ in #sql("NULL", as: Bool?.self) }
            }
            #expect(try none.fetchAll(db) == [nil, nil, nil])
        }
    }

    @Test func aKeyOfTwoColumnsFindsARow() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE enrollments (courseID INTEGER, studentID INTEGER, grade INTEGER, PRIMARY KEY (courseID, studentID))"
        )
        let id = Enrollment.ID(courseID: 1, studentID: 2)
        try database.write { db throws in
            try Enrollment.insert {
                Enrollment(id: id, grade: 3)
                Enrollment(id: .init(courseID: 1, studentID: 3), grade: nil)
            }.execute(db)
            #expect(try Enrollment.find(id).fetchOne(db) == Enrollment(id: id, grade: 3))
            #expect(try Enrollment.where { $0.id.studentID.eq(3) }.fetchCount(db) == 1)
        }
        #expect(Enrollment.Draft(grade: 1).id == nil)
    }

    @Test func anEnumIsAColumnForEachCase() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, link TEXT, width INTEGER, height INTEGER, note_text TEXT)"
        )
        let items = [
            Item(id: 1, attachment: .link("a.example")),
            Item(id: 2, attachment: .picture(Picture(width: 3, height: 4))),
            Item(id: 3, attachment: .note(text: "n")),
        ]
        try database.write { db throws in
            try Item.insert { items }.execute(db)
            #expect(try Item.all.fetchAll(db) == items)
            #expect(try Item.where { $0.attachment.link.isNot(nil) }.fetchAll(db).map(\.id) == [1])
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM items WHERE id = 2")?["height"] == 4)
            let selected = try Item.where { $0.id.eq(1) }
                .select { _ in Attachment.Columns.note(text: #sql("'x'")) }.fetchAll(db)
            #expect(selected == [.note(text: "x")])
            try db.execute(sql: "UPDATE items SET link = NULL WHERE id = 1")
            #expect(throws: (any Error).self) { try Item.all.fetchAll(db) }
        }
    }

    @Test func aDefaultScopeIsWhatQueriesBeginWith() throws {
        let database = try encryptedDatabase("CREATE TABLE posts (id INTEGER PRIMARY KEY, isDeleted INTEGER)")
        try database.write { db throws in
            try Post.insert {
                Post(id: 1)
                Post(id: 2, isDeleted: true)
            }.execute(db)
            #expect(try Post.all.fetchAll(db).map(\.id) == [1])
            #expect(try Post.unscoped.fetchCount(db) == 2)
        }
    }

    @Test func aSelectionIsMadeOfExpressions() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        try database.write { db throws in
            try Note.insert { Note(id: 1, title: "abc") }.execute(db)
            let rows: [TitleAndLength] = try Note.select {
                TitleAndLength.Columns(title: $0.title, length: #sql("length(\($0.title))"))
            }.fetchAll(db)
            #expect(rows == [TitleAndLength(title: "abc", length: 3, mark: "none")])
        }
    }

    @Test func keywordsAreColumns() throws {
        let database = try encryptedDatabase(
            #"CREATE TABLE words (id INTEGER PRIMARY KEY, "class" TEXT, "default" INTEGER, "inout" REAL)"#)
        try database.write { db throws in
            try Word.insert { Word.Draft(class: "noun") }.execute(db)
            #expect(try Word.where { $0.class.eq("noun") }.fetchOne(db) == Word(id: 1, class: "noun"))
            #expect(try Word.select { ($0.default, $0.inout) }.fetchOne(db).map { $0 == (1, 2.5) } == true)
        }
    }

    @Test func aNestedTableKnowsItsNeighbours() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE nested_things (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, kinds INTEGER)")
        try database.write { db throws in
            try Nested.Thing.insert { Nested.Thing.Draft(kind: .high) }.execute(db)
            #expect(try Nested.Thing.all.fetchAll(db) == [Nested.Thing(id: 1, kind: .high, kinds: nil)])
        }
        #expect(sql(Nested.Thing.all).contains(#""main"."nested_things""#))
    }

    @Test func aTypeWithItsOwnInitializerIsATable() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE publisheds (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT)")
        try database.write { db throws in
            try Published.insert { Published(id: 1, title: "a") }.execute(db)
            #expect(try Published.find(1).fetchOne(db) == Published(id: 1, title: "a"))
        }
    }

    @Test func aPublicTableMayBeginWithWhatOthersDoNotSee() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE shelfs (id INTEGER PRIMARY KEY, depth INTEGER, above INTEGER)")
        try database.write { db throws in
            try Shelf.insert { Shelf.Draft() }.execute(db)
            #expect(try Shelf.all.fetchAll(db) == [Shelf(id: 1, depth: 3)])
            try db.execute(sql: "UPDATE shelfs SET depth = 4")
            let rows: [Shelf] = try Shelf.select { Shelf.Columns(id: $0.id) }.fetchAll(db)
            #expect(rows == [Shelf(id: 1, depth: 3)])
        }
    }

    @Test func typesMayBeNamedBySelf() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE shelfs (id INTEGER PRIMARY KEY, depth INTEGER, above INTEGER)")
        try database.write { db throws in
            try Shelf.insert { Shelf.Draft(depth: 1, above: 7) }.execute(db)
            #expect(try Shelf.where { $0.above.eq(7) }.fetchAll(db) == [Shelf(id: 1, depth: 1, above: 7)])
        }
    }

    @Test func nullForARequiredColumnIsAnErrorThatNamesIt() throws {
        let database = try encryptedDatabase("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT)")
        try database.write { db throws in
            try db.execute(sql: "INSERT INTO notes (title) VALUES (NULL)")
            let error = #expect(throws: QueryDecodingFailure.self) { try Note.all.fetchAll(db) }
            #expect(error?.column == "title" && error?.reason == .missingRequiredColumn)
        }
    }
}
