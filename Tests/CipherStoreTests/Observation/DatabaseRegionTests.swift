import Synchronization
import Testing

@testable import CipherStore

@Suite struct DatabaseRegionTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                    CREATE TABLE tag (name TEXT);
                    CREATE VIEW titles AS SELECT title FROM note;
                    """)
        }
    }

    private func region(_ sql: String) throws -> String {
        try queue.read { try $0.makeStatement(sql: sql).databaseRegion.description }
    }

    @Test(arguments: [
        ("SELECT 1", "empty"),
        ("SELECT title FROM note", "note(title)"),
        ("SELECT TITLE FROM NOTE WHERE ID = 1", "note(id,title)"),
        ("SELECT count(*) FROM note", "note(*)"),
        ("SELECT title, (SELECT count(*) FROM tag) FROM note", "note(title),tag(*)"),
        ("SELECT 1 FROM note, tag WHERE tag.name = 'a'", "note(*),tag(name)"),
        ("UPDATE note SET title = 'a' WHERE body = 'b'", "note(body)"),
        ("INSERT INTO note (title) SELECT name FROM tag", "tag(name)"),
        ("DELETE FROM note", "empty"),
        ("PRAGMA user_version = 7", "empty"),
        ("/* comment */ pragma user_version", "empty"),
    ])
    func aStatementKnowsItsRegion(sql: String, expected: String) throws {
        #expect(try region(sql).lowercased() == expected)
    }

    @Test func theTablesOfAViewBelongToItsRegion() throws {
        let region = try queue.read { try $0.makeStatement(sql: "SELECT * FROM titles").databaseRegion }
        #expect(region.isModified(byEventsOfKind: .update(tableName: "note", columnNames: ["TITLE"])))
        #expect(!region.isModified(byEventsOfKind: .update(tableName: "note", columnNames: ["body"])))
        #expect(region.isModified(byEventsOfKind: .insert(tableName: "Note")))
    }

    @Test(.enabled(if: EngineFeatures.current.supportsGeneratedColumns))
    func aGeneratedColumnIsReadWithTheColumnsThatItIsComputedFrom() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (
                        score INTEGER, bonus INTEGER, total INTEGER AS (score + bonus),
                        kept INTEGER AS (score * 2) STORED)
                    """)
            let update = DatabaseEventKind.update(tableName: "item", columnNames: ["score"])
            for column in ["total", "KEPT"] {
                let region = try db.makeStatement(sql: "SELECT \(column) FROM item").databaseRegion
                #expect(region.description == "item(*)")
                #expect(region.isModified(byEventsOfKind: update))
            }
            let bonus = try db.makeStatement(sql: "SELECT bonus FROM item").databaseRegion
            #expect(bonus.description == "item(bonus)")
        }
    }

    @Test func countingATemporaryOrAttachedTableReadsIt() throws {
        let folder = try TemporaryFolder()
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH DATABASE '\(folder.file("other.db"))' AS other")
            try db.execute(sql: "CREATE TABLE other.far (a); CREATE TEMP TABLE near (a); CREATE TABLE x (a)")
            for (sql, expected) in [
                ("SELECT count(*) FROM other.far", "far(*)"), ("SELECT count(*) FROM near", "near(*)"),
            ] {
                #expect(try db.makeStatement(sql: sql).databaseRegion.description == expected)
            }
        }
    }

    @Test func countingTheRowsOfAVirtualTableReadsIt() throws {
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE page USING fts4(text);
                    CREATE VIRTUAL TABLE leaf USING fts4(text);
                    """)
            for sql in [
                "SELECT count(*) FROM page", "SELECT text, (SELECT count(*) FROM page) FROM leaf",
                "SELECT title, (SELECT count(*) FROM page) FROM note",
            ] {
                let region = try db.makeStatement(sql: sql).databaseRegion
                #expect(region.isModified(byEventsOfKind: .insert(tableName: "page")), "\(sql)")
                #expect(!region.isModified(byEventsOfKind: .insert(tableName: "tag")), "\(sql)")
            }
            let region = try db.makeStatement(sql: "SELECT text FROM leaf").databaseRegion
            #expect(!region.isModified(byEventsOfKind: .insert(tableName: "page")))
        }
    }

    @Test func askingForTheRegionChangesNothing() throws {
        try queue.write { db in
            let pragma = try db.makeStatement(sql: "PRAGMA user_version = 3")
            try db.execute(sql: "PRAGMA user_version = 5")
            _ = pragma.databaseRegion
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 5)
            let insertion = try db.makeStatement(sql: "INSERT INTO note (title) VALUES ('a')")
            _ = insertion.databaseRegion
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM note") == 0)
        }
    }

    @Test func aStatementThatNoLongerFitsTheSchemaReadsEverything() throws {
        try queue.write { db in
            let statement = try db.makeStatement(sql: "SELECT * FROM tag")
            try db.execute(sql: "DROP TABLE tag")
            #expect(statement.databaseRegion == .fullDatabase)
        }
    }

    @Test func filtersNarrowARegionToRows() throws {
        try queue.read { db in
            let table = Table("note")
            let requests: [(QueryInterfaceRequest<Row>, String)] = [
                (table.all(), "note(body,id,title)"),
                (table.filter(Column("id") == 1), "note(body,id,title)[1]"),
                (table.filter([1, 2].contains(Column("id"))).select(Column("title")), "note(id,title)[1,2]"),
                (table.filter(Column("id") == 1 && Column("id") == 2), "empty"),
                (table.none(), "empty"),
                // The subquery reads other rows of the table.
                (
                    table.filter(Column("id") == 1)
                        .filter(sql: "title IN (SELECT title FROM note)"), "note(body,id,title)"
                ),
            ]
            for (request, expected) in requests {
                let region = try request.databaseRegion(db)
                #expect(region.description == expected)
                let hidden = try AnyFetchRequest(request).databaseRegion(db)
                #expect(hidden == region)
            }
        }
    }

    @Test func regionsOfOneTableAreJoinedAndCutByColumnsAndRows() {
        let left = DatabaseRegion(table: "T", columns: ["a", "b"])
        let right = DatabaseRegion(table: "t", columns: ["B", "c"])
        #expect(left.union(right).description == "T(a,b,c)")
        #expect(left.intersection(right).description == "T(b)")
        #expect(left.intersection(DatabaseRegion(table: "t", columns: ["c"])).isEmpty)
        let rows = DatabaseRegion(table: "t", rowIds: [1, 2])
        #expect(left.intersection(rows).description == "T(a,b)[1,2]")
        #expect(left.union(rows).description == "T(*)")
        #expect(DatabaseRegion.fullDatabase.intersection(rows) == rows)
        #expect(DatabaseRegion.fullDatabase.union(rows) == .fullDatabase)
        #expect(DatabaseRegion(table: "t", columns: []).isEmpty)
        #expect(DatabaseRegion(table: "T") == DatabaseRegion(table: "t"))
    }

    @Test func anEventModifiesTheRowsOfARegionOnly() {
        let region = DatabaseRegion(table: "Note", rowIds: [7]).union(DatabaseRegion(table: "tag"))
        func event(_ table: String, _ rowID: Int64) -> DatabaseEvent {
            DatabaseEvent(kind: .update, rowID: rowID, databaseName: "main", tableName: table)
        }
        #expect(region.isModified(by: event("note", 7)))
        #expect(!region.isModified(by: event("Note", 8)))
        #expect(region.isModified(by: event("tag", 8)))
        #expect(!region.isModified(by: event("other", 7)))
        #expect(DatabaseRegion.fullDatabase.isModified(by: event("other", 7)))
    }

    @Test func aTrackedBlockTellsWhatItReads() throws {
        try queue.write { db in
            try db.execute(sql: "INSERT INTO note (title) VALUES ('a')")
            let (titles, region) = try db.recordingRegion {
                let titles = try String.fetchAll(db, Table("note").select(Column("title")))
                try db.registerAccess(to: Table("tag"))
                return titles
            }
            #expect(titles == ["a"])
            #expect(region.description == "note(title),tag(*)")
            // Outside of a block nothing is recorded.
            try db.registerAccess(to: DatabaseRegion.fullDatabase)
            let (_, empty) = db.recordingRegion {}
            #expect(empty.isEmpty)
        }
    }

    // MARK: Observation

    @Test func anObservationTellsTransactionsThatChangeItsRegion() throws {
        let changes = Mutex<[Int]>([])
        let observation = DatabaseRegionObservation(
            tracking: Table("note").filter(Column("id") == 1), Table("tag"))
        let cancellable = observation.start(
            in: queue, onError: { Issue.record($0) },
            onChange: { db in
                let count = try? Int.fetchOne(db, sql: "SELECT count(*) FROM note")
                changes.withLock { $0.append(count ?? -1) }
            })
        try queue.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (1)") }
        try queue.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (2)") }
        try queue.write { try $0.execute(sql: "UPDATE note SET title = 'a'; UPDATE note SET title = 'b'") }
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO tag VALUES ('a')")
            return .rollback
        }
        try queue.write { try $0.execute(sql: "INSERT INTO tag VALUES ('a')") }
        #expect(changes.withLock { $0 } == [1, 2, 2])
        cancellable.cancel()
        try queue.write { try $0.execute(sql: "INSERT INTO tag VALUES ('b')") }
        #expect(changes.withLock { $0 } == [1, 2, 2])
    }

    @Test func anObservationOfAMissingTableFailsAtOnce() {
        let errors = Mutex<[any Error]>([])
        let observation = DatabaseRegionObservation(tracking: Table("missing"))
        let cancellable = observation.start(
            in: queue, onError: { error in errors.withLock { $0.append(error) } }, onChange: { _ in })
        #expect(errors.withLock { $0.count } == 1)
        cancellable.cancel()
    }

    @Test func cancellingTwiceOrReleasingCallsOnce() {
        let count = Mutex(0)
        do {
            let cancellable = AnyDatabaseCancellable { count.withLock { $0 += 1 } }
            cancellable.cancel()
            cancellable.cancel()
        }
        #expect(count.withLock { $0 } == 1)
        _ = AnyDatabaseCancellable { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 2)
    }
}

@Suite struct UnknownRegionTests {
    private struct Shelf: Decodable, FetchableRecord, TableRecord {
        static let books = hasMany(Volume.self)
        var id: Int64
    }

    private struct Volume: Decodable, FetchableRecord, TableRecord {
        var id: Int64
    }

    @Test func whatCannotBeFoundOutMayBeAnything() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
                    CREATE TABLE volume (id INTEGER PRIMARY KEY, shelfId INTEGER REFERENCES shelf (id))
                    """)
            let request = Shelf.including(all: Shelf.books)
            let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
            #expect(statement.databaseRegion != .fullDatabase)
            try db.execute(sql: "DROP TABLE volume")
            #expect(statement.databaseRegion == .fullDatabase)
        }
    }

    @Test func aRequestWithoutRowsReadsNothing() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
                    CREATE TABLE volume (id INTEGER PRIMARY KEY, shelfId INTEGER REFERENCES shelf (id))
                    """)
            let request = Shelf.none().including(all: Shelf.books)
            let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
            #expect(statement.databaseRegion.isEmpty)
        }
    }
}
