import Foundation
import Testing
import TypedQueriesMacros

@Selection struct Moments: Codable, Equatable {
    var made = Date(timeIntervalSince1970: 0)
    var touched = Date(timeIntervalSince1970: 0)
}

@Table struct Entry: Codable, Equatable {
    static let open = Self.where { !$0.isDone }

    let id: Int
    var title = ""
    var isDone = false
    var weight: Int?
    var address = Address("a@b")
    var moments = Moments()
}

extension Entry.TableColumns {
    var isHeavy: some QueryExpression<Bool> { weight.is(3) }
}

@Table struct EntryLink: Codable, Equatable {
    let id: Int
    var entryID: Int
    @Column(as: LinkText.JSONRepresentation.self) var text = LinkText()
    @Column(as: [String].JSONBRepresentation.self) var notes: [String] = []
}

@Selection struct LinkText: Codable, Equatable {
    var name = ""
    var main = LinkPart()
    @Column(as: [LinkPart].JSONRepresentation.self) var others: [LinkPart] = []
}

@Selection struct LinkPart: Codable, Equatable {
    var url = ""
    var isActive = false
}

/// A text of a type of its own, stored as what describes it.
struct Address: Codable, Equatable, LosslessStringConvertible, QueryBindable {
    var description: String
    init(_ description: String) { self.description = description }

    init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

@Selection struct Span: Equatable {
    var start: Int
    @Column(generated: .virtual) let next: Int
}

@Table struct Spanned: Equatable {
    let id: Int
    var span: Span
}

/// Both columns of a row, without a macro.
struct TitleAndDone: QueryRepresentable, Equatable {
    var title: String
    var isDone: Bool

    init(decoder: inout some QueryDecoder) throws {
        title = try decoder.value(String.self)
        isDone = try decoder.value(Bool.self)
    }
}

private struct Refusal: LocalizedError {
    var errorDescription: String? { "not today" }
}

@DatabaseFunction private func refusing() throws -> Int { throw Refusal() }

@DatabaseFunction private func isHeavyEntry(_ entry: Entry) -> Bool { entry.weight == 3 }

/// Forms of queries that the documentation of others has.
@Suite struct DocumentedFormsTests {
    private func withEntries(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE entries (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, isDone INTEGER NOT NULL, weight INTEGER,
                address TEXT NOT NULL, made TEXT NOT NULL, touched TEXT NOT NULL);
            CREATE TABLE entryLinks (id INTEGER PRIMARY KEY, entryID INTEGER NOT NULL, text TEXT NOT NULL, notes BLOB NOT NULL);
            """
        ) { db in
            db.add(function: $refusing)
            db.add(function: $isHeavyEntry)
        }
        try queue.write { db throws in
            try Entry.insert {
                Entry(id: 1, title: "a", weight: 3)
                Entry(id: 2, title: "b", isDone: true)
                Entry(id: 3, title: "c", address: Address("c@d"))
            }.execute(db)
            try EntryLink.insert {
                EntryLink(
                    id: 1, entryID: 1,
                    text: LinkText(
                        name: "n", main: LinkPart(url: "x", isActive: true), others: [LinkPart(url: "y")]))
            }.execute(db)
            try body(db)
        }
    }

    @Test func aSeparatorIsAnyExpression() throws {
        try withEntries { db throws in
            let query = Entry.order(by: \.id).where { $0.id.eq(1) }.select { $0.title.groupConcat($0.id) }
            #expect(sql(query).contains(#"group_concat("entries"."title", "entries"."id")"#))
            #expect(try query.fetchOne(db) == .some("a"))
        }
    }

    @Test func rowsAreCountedWithoutATable() throws {
        try withEntries { db throws in
            #expect(try Entry.all.select { _ in .count() }.fetchOne(db) == 3)
            #expect(
                try Entry.select { ($0.isDone, $0.id.count()) }.group { #sql("\($0.isDone)") }.fetchAll(db)
                    .map(\.1) == [2, 1])
        }
    }

    @Test func propertiesAndQueriesOfATableAreThoseOfItsDrafts() throws {
        try withEntries { db throws in
            #expect(try Entry.Draft.open.select(\.title).fetchAll(db) == ["a", "c"])
            #expect(try Entry.Draft.where { $0.id > 1 }.open.select(\.title).fetchAll(db) == ["c"])
            #expect(try Entry.Draft.select(\.title).open.fetchAll(db) == ["a", "c"])
            #expect(try Entry.Draft.order(by: \.id).select(\.isHeavy).fetchAll(db) == [true, false, false])
            #expect(try Entry.Draft.select { ($0.id, $0.title) }.find(2).fetchOne(db)?.1 == "b")
        }
    }

    @Test func propertiesOfATableAreOptionalInALeftJoin() throws {
        try withEntries { db throws in
            let query = EntryLink.leftJoin(Entry.all) { $0.entryID.eq($1.id) }.where {
                $1.isHeavy.ifnull(false)
            }
            #expect(try query.fetchAll(db).map(\.0.id) == [1])
            let none = EntryLink.leftJoin(Entry.none) { $0.entryID.eq($1.id) }.select { $1.isHeavy }
            #expect(none.query.isEmpty)
            let missing = EntryLink.leftJoin(Entry.where { $0.id.eq(9) }) { _, _ in false }
            #expect(try missing.select { $1.isHeavy }.fetchAll(db) == [])
        }
    }

    @Test func triggersTouchTheRow() throws {
        try withEntries { db throws in
            try Entry.createTemporaryTrigger(afterUpdateTouch: \.moments.touched).execute(db)
            try EntryLink.createTemporaryTrigger(afterUpdateTouch: { $0.entryID += 1 }).execute(db)
            try Entry.createTemporaryTrigger(
                afterInsertTouch: \.moments.made, date: #sql("'2001-02-03 04:05:06.000'")
            ).execute(db)
            try Entry.find(1).update { $0.title = "z" }.execute(db)
            try EntryLink.update { $0.text = LinkText() }.execute(db)
            try Entry.insert { Entry(id: 4) }.execute(db)
            #expect(
                try Entry.find(1).select(\.moments.touched).fetchOne(db) != Date(timeIntervalSince1970: 0))
            #expect(try EntryLink.select(\.entryID).fetchOne(db) == 2)
            #expect(
                try Entry.find(4).select(\.moments.made).fetchOne(db)
                    == Date(timeIntervalSince1970: 981_173_106))
            let trigger = Entry.createTemporaryTrigger("t", after: .insert { _ in Select(1) })
            #expect(sql(trigger).contains("SELECT 1;"))
            try trigger.execute(db)
        }
    }

    @Test func documentsTakePartsOfDocuments() throws {
        try withEntries { db throws in
            try EntryLink.update { $0.text = $0.text.jsonSet(\.main, $0.text.jsonExtract(\.others[0])) }
                .execute(db)
            #expect(try EntryLink.select(\.text).fetchOne(db)?.main == LinkPart(url: "y"))
            try EntryLink.update {
                $0.text = $0.text.jsonSet(
                    \.others, EntryLink.select { $0.text.jsonExtract(\.others) }.limit(1))
            }.execute(db)
            try EntryLink.update { $0.text = $0.text.jsonSet(\.main, #bind(LinkPart(url: "v"))) }.execute(db)
            try EntryLink.update { $0.notes = $0.notes.jsonbAppend("one").jsonbAppend("two") }.execute(db)
            let link = try #require(try EntryLink.all.fetchOne(db))
            #expect(link.text.main.url == "v")
            #expect(link.text.others == [LinkPart(url: "y")])
            #expect(link.notes == ["one", "two"])
            #expect(try EntryLink.select { $0.text.jsonbExtract(\.name) }.fetchOne(db) == .some("n"))
            #expect(
                try EntryLink.select { $0.text.jsonExtract(\.main) }.fetchOne(db) == .some(LinkPart(url: "v"))
            )
            #expect(try EntryLink.select { $0.notes.jsonbExtract(\.[1]) }.fetchOne(db) == .some("two"))
        }
    }

    @Test func groupsAreObjectsInTheJSONOfARow() throws {
        try withEntries { db throws in
            let query = Entry.find(1).select { $0.jsonObject() }
            #expect(sql(query).contains(#"'moments', json_object('made', "entries"."made", 'touched'"#))
            #expect(try query.fetchOne(db) == Entry.find(1).fetchOne(db))
            #expect(try Entry.order(by: \.id).select { $0.jsonGroupArray() }.fetchOne(db)?.count == 3)
            #expect(try Entry.find(1).select { $0.jsonbObject() }.fetchOne(db)?.title == "a")
        }
    }

    @Test func rowsOfAnAliasAreObjectsToo() throws {
        enum Other: AliasName {}
        try withEntries { db throws in
            let query = Entry.find(1).leftJoin(Entry.as(Other.self).all) { $0.id.neq($1.id) }
                .select { ($0.id, $1.jsonGroupArray()) }
            let row = try #require(try query.fetchOne(db))
            #expect(row.1.map(\.id).sorted() == [2, 3])
            #expect(try Entry.as(Other.self).find(2).select { $0.jsonObject() }.fetchOne(db)?.title == "b")
        }
    }

    @Test func whatDescribesItselfIsStoredAsText() throws {
        try withEntries { db throws in
            #expect(try Entry.where { $0.address.eq(Address("c@d")) }.fetchAll(db).map(\.id) == [3])
            #expect(try #sql("SELECT typeof(address) FROM entries", as: String.self).fetchOne(db) == "text")
        }
    }

    @Test func aTypeReadsSeveralColumnsInItsOwnWay() throws {
        try withEntries { db throws in
            let rows = try #sql("SELECT title, isDone FROM entries ORDER BY id", as: TitleAndDone.self)
                .fetchAll(db)
            #expect(rows.map(\.isDone) == [false, true, false])
            #expect(throws: QueryDecodingFailure.self) {
                try #sql("SELECT title, isDone FROM entries", as: String.self).fetchAll(db)
            }
        }
    }

    @Test func anErrorOfAFunctionSaysWhatItIs() throws {
        try withEntries { db throws in
            let error = #expect(throws: DatabaseError.self) { try Values($refusing()).fetchOne(db) }
            #expect(error?.message == "not today")
        }
    }

    @Test func aFunctionTakesExpressionsAsARow() throws {
        try withEntries { db throws in
            let query = Entry.find(1).select { $isHeavyEntry(Entry.Columns(id: $0.id, weight: $0.weight)) }
            #expect(!sql(query).contains(" AS "))
            #expect(try query.fetchOne(db) == true)
        }
    }

    @Test func columnsOfAGroupThatTheDatabaseMakesAreNotWritten() {
        let row = Spanned(id: 1, span: Span(start: 4, next: 5))
        #expect(sql(Spanned.insert { row }) == #"INSERT INTO "spanneds"\#n("id", "start")\#nVALUES\#n(1, 4)"#)
        #expect(sql(Spanned.update { $0.span = row.span }) == #"UPDATE "spanneds"\#nSET "start" = 4"#)
        #expect(
            sql(Spanned.update { $0.span = Spanned.columns.span })
                == #"UPDATE "spanneds"\#nSET "start" = "spanneds"."start""#)
        let upsert = Spanned.insert {
            row
        } onConflict: {
            $0.id
        } doUpdate: {
            $0.span = $1.span
        }
        #expect(sql(upsert).hasSuffix(#"DO UPDATE SET "start" = "excluded"."start""#))
    }
}
