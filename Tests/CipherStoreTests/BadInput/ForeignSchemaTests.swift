#if compiler(>=6.3)
    import Foundation
    import Testing

    @testable import CipherStore

    /// Another process changes the schema: whatever the connection has prepared,
    /// planned and cached, it does what the new schema says, or fails with an error.
    @Suite(.serialized) struct ForeignSchemaTests {
        struct Person: Codable, Equatable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "person"
            var id: Int64?
            var name: String
            var score: Int?
        }

        /// The same, written by hand.
        struct Manual: Equatable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "person"
            var id: Int64?
            var name: String

            init(id: Int64?, name: String) {
                self.id = id
                self.name = name
            }

            init(row: Row) throws {
                id = try row.decodeIfPresent(Int64.self, forColumn: "id")
                name = try row.decode(forColumn: "name")
            }

            func encode(to container: inout PersistenceContainer) {
                container["id"] = id
                container["name"] = name
            }
        }

        struct Change: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let sql: String
            let check: @Sendable (Database) throws -> Void
        }

        private static let schema = """
            CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER);
            INSERT INTO person VALUES (1, 'Arthur', 10), (2, 'Barbara', 20), (3, 'Craig', 30);
            """

        /// When the other process comes.
        enum Moment: CaseIterable {
            case betweenAccesses, betweenStatements, inDeferredTransaction, inImmediateTransactionBefore
        }

        /// Has the connection look at the table, plan and prepare.
        private static func warmUp(_ db: Database) throws {
            for id in 10..<12 {
                try Person(id: Int64(id), name: "p\(id)", score: 1).insert(db)
                try Person(id: Int64(id), name: "q\(id)", score: 2).update(db)
                try Person(id: Int64(id), name: "r\(id)").upsert(db)
                try Manual(id: Int64(id) + 10, name: "m\(id)").insert(db)
                try Manual(id: Int64(id) + 10, name: "n\(id)").save(db)
            }
            try db.execute(sql: "DELETE FROM person WHERE id > 3")
            try look(db)
        }

        private static func look(_ db: Database) throws {
            #expect(try Person.fetchCount(db) == 3)
            #expect(try Person.fetchAll(db).count == 3)
            #expect(try Manual.fetchOne(db, key: 2)?.name == "Barbara")
            #expect(try Person.fetchOne(db, key: ["name": "Craig"])?.id == 3)
            #expect(try Person.exists(db, key: 1))
            let statement = try db.cachedStatement(sql: "SELECT * FROM person ORDER BY name")
            #expect(try Row.fetchAll(statement).count == 3)
            #expect(try db.columns(in: "person").count == 3)
            #expect(try db.indexes(on: "person").count == 1)
            #expect(
                try Person.filter(Column("name") > "B").order(Column("score").desc).fetchAll(db).count == 2)
        }

        private static let refusesUnknownNames = EngineFeatures.current.sqliteVersionNumber >= 3_029_000

        private static func expectDatabaseError(
            _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
        ) {
            #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
        }

        static let changes: [Change] = [
            Change(
                testDescription: "a column is added",
                sql: "ALTER TABLE person ADD COLUMN city TEXT DEFAULT 'X'"
            ) {
                (db: Database) throws -> Void in
                struct Citizen: Codable, FetchableRecord { var name, city: String }
                let statement = try db.cachedStatement(sql: "SELECT * FROM person ORDER BY name")
                #expect(try Row.fetchAll(statement).map(\.count) == [4, 4, 4])
                #expect(statement.columnNames.last == "city")
                #expect(try Citizen.fetchAll(db, Table("person").all()).map(\.city) == ["X", "X", "X"])
                #expect(try Person.fetchAll(db).count == 3)
                #expect(try db.columns(in: "person").map(\.name) == ["id", "name", "score", "city"])
                try Person(id: 4, name: "D").insert(db)
                try Person(id: 1, name: "A").update(db)
                #expect(try String.fetchOne(db, sql: "SELECT city FROM person WHERE id = 4") == "X")
            },
            Change(
                testDescription: "a column has another name",
                sql: """
                    DROP TABLE person;
                    CREATE TABLE person (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, score INTEGER);
                    INSERT INTO person VALUES (1, 'Arthur', 10), (2, 'Barbara', 20);
                    """
            ) { (db: Database) throws -> Void in
                expectDatabaseError { try Person(id: 7, name: "x").insert(db) }
                expectDatabaseError { try Person(id: 1, name: "x").update(db) }
                expectDatabaseError { try Manual(id: 1, name: "x").save(db) }
                expectDatabaseError { try Person(id: 1, name: "x").upsert(db) }
                expectDatabaseError { _ = try Person.fetchOne(db, key: ["name": "Arthur"]) }
                // Older engines take a name in double quotes that is no column's for a text.
                if refusesUnknownNames {
                    expectDatabaseError { _ = try Person.filter(Column("name") == "x").fetchAll(db) }
                }
                #expect(throws: RowDecodingError.self) { try Person.fetchAll(db) }
                #expect(throws: RowDecodingError.self) { try Manual.fetchOne(db, key: 1) }
                #expect(try Row.fetchOne(db, Table("person").all())?["title"] == "Arthur")
                #expect(try Person.fetchCount(db) == 2)
            },
            Change(
                testDescription: "the columns have another order",
                sql: """
                    CREATE TABLE other (score INTEGER, name TEXT NOT NULL UNIQUE, id INTEGER PRIMARY KEY);
                    INSERT INTO other SELECT score, name, id FROM person;
                    DROP TABLE person; ALTER TABLE other RENAME TO person;
                    """
            ) { (db: Database) throws -> Void in
                #expect(try Person.fetchAll(db).map(\.name) == ["Arthur", "Barbara", "Craig"])
                #expect(try Manual.fetchOne(db, key: 2) == Manual(id: 2, name: "Barbara"))
                let statement = try db.cachedStatement(sql: "SELECT * FROM person ORDER BY name")
                #expect(try Row.fetchOne(statement) == ["score": 10, "name": "Arthur", "id": 1])
                #expect(try Int.fetchOne(statement) == 10)
                try Person(id: 4, name: "D", score: 40).insert(db)
                try Person(id: 2, name: "B", score: 21).update(db)
                #expect(try Person.fetchOne(db, key: 4) == Person(id: 4, name: "D", score: 40))
                #expect(try db.columns(in: "person").map(\.name) == ["score", "name", "id"])
            },
            Change(
                testDescription: "a column is dropped",
                sql: """
                    CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                    INSERT INTO other SELECT id, name FROM person;
                    DROP TABLE person; ALTER TABLE other RENAME TO person;
                    """
            ) { (db: Database) throws -> Void in
                expectDatabaseError { try Person(id: 7, name: "x", score: 1).insert(db) }
                expectDatabaseError { try Person(id: 1, name: "x").update(db) }
                // Older engines take a name in double quotes that is no column's for a text.
                if refusesUnknownNames {
                    expectDatabaseError { _ = try Person.filter(Column("score") == 1).fetchAll(db) }
                }
                try Manual(id: 4, name: "D").insert(db)
                #expect(try Person.fetchAll(db).map(\.score) == [nil, nil, nil, nil])
                let statement = try db.cachedStatement(sql: "SELECT * FROM person ORDER BY name")
                #expect(try Row.fetchOne(statement) == ["id": 1, "name": "Arthur"])
                try Manual(id: 1, name: "A").update(db)
                #expect(try Manual.fetchOne(db, key: 1)?.name == "A")
            },
            Change(
                testDescription: "the table is a view now",
                sql: """
                    ALTER TABLE person RENAME TO people;
                    CREATE VIEW person AS SELECT id, name, score + 1 AS score FROM people;
                    """
            ) { (db: Database) throws -> Void in
                #expect(try Person.fetchAll(db).compactMap(\.score).sorted() == [11, 21, 31])
                #expect(try Person.filter(Column("name") == "Craig").fetchOne(db)?.score == 31)
                #expect(try db.viewExists("person"))
                #expect(try !db.tableExists("person"))
                expectDatabaseError { try Person(id: 7, name: "x").insert(db) }
                expectDatabaseError { try Person(id: 1, name: "x").update(db) }
                expectDatabaseError { try Manual(id: 1, name: "x").delete(db) }
                expectDatabaseError { _ = try Person.fetchOne(db, key: 1) }
                #expect(try db.indexes(on: "person").isEmpty)
            },
            Change(
                testDescription: "a unique key is gone",
                sql: """
                    CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER);
                    INSERT INTO other SELECT * FROM person;
                    DROP TABLE person; ALTER TABLE other RENAME TO person;
                    """
            ) { (db: Database) throws -> Void in
                expectDatabaseError { _ = try Person.fetchOne(db, key: ["name": "Arthur"]) }
                expectDatabaseError { _ = try Person.deleteOne(db, key: ["name": "Arthur"]) }
                try Person(id: 4, name: "Arthur").insert(db)
                try Person(id: 5, name: "Arthur").upsert(db)
                #expect(try Person.filter(Column("name") == "Arthur").fetchCount(db) == 3)
                #expect(try !db.table("person", hasUniqueKey: ["name"]))
            },
            Change(
                testDescription: "a unique key is added", sql: "CREATE UNIQUE INDEX byScore ON person (score)"
            ) { (db: Database) throws -> Void in
                #expect(try Person.fetchOne(db, key: ["score": 20])?.name == "Barbara")
                #expect(try db.table("person", hasUniqueKey: ["score"]))
                #expect(throws: DatabaseError.self) { try Person(id: 4, name: "D", score: 20).insert(db) }
                try Person(id: 4, name: "D", score: 20).upsert(db)
                #expect(try Person.fetchOne(db, key: ["score": 20])?.name == "D")
            },
            Change(
                testDescription: "the primary key is another column",
                sql: """
                    CREATE TABLE other (id INTEGER, name TEXT PRIMARY KEY NOT NULL, score INTEGER);
                    INSERT INTO other SELECT 1, name, score FROM person;
                    DROP TABLE person; ALTER TABLE other RENAME TO person;
                    """
            ) { (db: Database) throws -> Void in
                // By the old key, these would hit all rows.
                try Person(id: 1, name: "Barbara", score: 99).update(db)
                #expect(try Int.fetchAll(db, sql: "SELECT score FROM person ORDER BY name") == [10, 99, 30])
                try Manual(id: 7, name: "Barbara").save(db)
                #expect(try Int.fetchAll(db, sql: "SELECT id FROM person ORDER BY name") == [1, 7, 1])
                #expect(try Manual(id: 1, name: "Craig").delete(db))
                #expect(try Person.fetchCount(db) == 2)
                #expect(try Person.fetchOne(db, key: "Arthur")?.score == 10)
                #expect(try Person.filter(key: "Barbara").fetchOne(db)?.score == 99)
                #expect(try db.primaryKey("person").columns == ["name"])
                #expect(try Person.deleteOne(db, key: "Arthur"))
            },
            Change(
                testDescription: "the table has no rowids and a UUID key",
                sql: """
                    DROP TABLE person;
                    CREATE TABLE person (id BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER)
                    WITHOUT ROWID;
                    """
            ) { (db: Database) throws -> Void in
                struct Keyed: Codable, FetchableRecord, PersistableRecord {
                    static let databaseTableName = "person"
                    var id: UUID
                    var name: String
                }
                let keyed = Keyed(id: UUID.v7(), name: "K")
                try keyed.insert(db)
                #expect(try Keyed.fetchOne(db, key: keyed.id)?.name == "K")
                #expect(try db.primaryKey("person").tableHasRowID == false)
                try Keyed(id: keyed.id, name: "L").update(db)
                #expect(try Keyed.fetchAll(db).map(\.name) == ["L"])
            },
            Change(testDescription: "the table is gone", sql: "DROP TABLE person") {
                (db: Database) throws -> Void in
                expectDatabaseError { try Person(id: 1, name: "x").insert(db) }
                expectDatabaseError { try Person(id: 1, name: "x").update(db) }
                expectDatabaseError { try Manual(id: 1, name: "x").delete(db) }
                expectDatabaseError { try Manual(id: 1, name: "x").upsert(db) }
                expectDatabaseError { _ = try Person.fetchAll(db) }
                expectDatabaseError { _ = try Person.fetchOne(db, key: 1) }
                expectDatabaseError { _ = try db.columns(in: "person") }
                expectDatabaseError { _ = try db.primaryKey("person") }
                expectDatabaseError { _ = try Person.fetchCount(db) }
                #expect(try !db.tableExists("person"))
            },
        ]

        @Test(.timeLimit(.minutes(20)), arguments: StoreKind.all)
        func theConnectionThatWritesFollows(kind: StoreKind) async throws {
            let folder = try TemporaryFolder()
            try await ForeignProcess.run(folder) { process in
                for (index, change) in Self.changes.enumerated() {
                    // Keys are slow to derive: with one, each change has one moment of the four.
                    let moments = Moment.allCases
                    let chosen = kind.isEncrypted ? [moments[index % moments.count]] : moments
                    for moment in chosen {
                        let path = folder.file("\(index)-\(moment).db")
                        let writer = try kind.open(path)
                        try writer.write { try $0.execute(sql: Self.schema) }
                        let comment: Comment = "\(change.testDescription), \(moment)"
                        #expect(throws: Never.self, comment) {
                            try Self.apply(change, moment, writer) {
                                try process.execute(change.sql, path, kind)
                            }
                        }
                        try writer.write { try $0.execute(sql: "CREATE TABLE usable (a)") }
                        try writer.close()
                    }
                }
            }
        }

        private static func apply(
            _ change: Change, _ moment: Moment, _ writer: any DatabaseWriter, _ foreign: () throws -> Void
        ) throws {
            switch moment {
            case .betweenAccesses:
                try writer.write(warmUp)
                try foreign()
                try writer.writeWithoutTransaction(change.check)
            case .inImmediateTransactionBefore:
                try writer.writeWithoutTransaction { db in
                    try warmUp(db)
                    try foreign()
                    try db.inTransaction {
                        try change.check(db)
                        return .rollback
                    }
                }
            case .betweenStatements:
                try writer.writeWithoutTransaction { db in
                    try warmUp(db)
                    try foreign()
                    try change.check(db)
                }
            case .inDeferredTransaction:
                try writer.writeWithoutTransaction { db in
                    try warmUp(db)
                    try db.inTransaction(.deferred) {
                        try foreign()
                        try change.check(db)
                        return .commit
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(20)), arguments: StoreKind.all)
        func connectionsThatReadFollow(kind: StoreKind) async throws {
            let folder = try TemporaryFolder()
            try await ForeignProcess.run(folder) { process in
                for isolated in [true, false] {
                    let path = folder.file("\(isolated).db")
                    let store = try kind.open(path)
                    try store.write { try $0.execute(sql: Self.schema) }
                    try store.read(Self.look)
                    let change = {
                        try process.execute(
                            """
                            CREATE TABLE other (score INTEGER, id INTEGER, name TEXT PRIMARY KEY, more TEXT);
                            INSERT INTO other SELECT score, 1, name, 'm' FROM person;
                            DROP TABLE person; ALTER TABLE other RENAME TO person;
                            """, path, kind)
                    }
                    let check: (Database) throws -> Void = { db in
                        #expect(try Person.fetchOne(db, key: "Craig")?.score == 30)
                        #expect(try Manual.fetchAll(db, keys: ["Arthur", "Craig"]).count == 2)
                        #expect(try Person.order(Column("name")).fetchAll(db).map(\.score) == [10, 20, 30])
                        #expect(try db.columns(in: "person").count == 4)
                        let statement = try db.cachedStatement(sql: "SELECT * FROM person ORDER BY name")
                        #expect(try Row.fetchAll(statement).map(\.count) == [4, 4, 4])
                    }
                    if isolated {
                        try change()
                        try store.read(check)
                    } else {
                        try store.unsafeRead { db in
                            try Self.look(db)
                            try change()
                            try check(db)
                        }
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(20))) func aReadOfAPoolGoesOnWithTheSchemaOfItsSnapshot() async throws {
            let folder = try TemporaryFolder()
            let kind = StoreKind(isPool: true, isEncrypted: true)
            try await ForeignProcess.run(folder) { process in
                let path = folder.file("a.db")
                let store = try kind.open(path)
                try store.write { try $0.execute(sql: Self.schema) }
                try store.read { db in
                    try Self.look(db)
                    try process.execute("ALTER TABLE person ADD COLUMN city TEXT", path, kind)
                    try Self.look(db)
                }
                #expect(try store.read { try $0.columns(in: "person").count } == 4)
            }
        }
    }
#endif
