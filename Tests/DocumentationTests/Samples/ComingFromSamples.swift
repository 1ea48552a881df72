import CipherStore
import Foundation
import SyncEngine
import Testing

/// The code of "Coming from GRDB", "Coming from Realm" and "Coming from cr-sqlite".
@Suite struct ComingFromSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    @Test func aDatabaseOfGRDBBecomesAStore() async throws {
        let path = place.path("grdb.db")
        try await DatabaseQueue(path: path).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL);
                    INSERT INTO player VALUES (1, 'Arthur', 100), (2, 'Barbara', 200);
                    """)
        }
        let storePath = place.path("players.db")
        // sample: from-grdb
        try PlaintextImport.makeStore(from: path, at: storePath, passphrase: Passphrase("correct horse"))

        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.usePassphrase("correct horse") }
        let players = try DatabaseQueue(path: storePath, configuration: configuration)

        let synchronizer = try Synchronizer(players)
        try synchronizer.convertKeys(UUIDKeyMigration(tables: ["player"]))  // and tracks the table
        // end
        #expect(try synchronizer.status().tables.map(\.rowCount) == [2])
    }

    // sample: from-realm
    // class Dog: Object { @Persisted(primaryKey: true) var id: UUID; @Persisted var name: String }
    struct Dog: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String
        var ownerID: UUID?

        static let owner = belongsTo(Person.self)
        enum Columns { static let name = Column(CodingKeys.name) }
    }

    struct Person: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
        var id: UUID
        var name: String

        static let dogs = hasMany(Dog.self)
    }
    // end

    struct PersonInfo: Decodable, FetchableRecord {
        var person: Person
        var dogs: [Dog]
    }

    @Test func objectsBecomeRecords() async throws {
        let queue = try DatabaseQueue(
            path: place.path("dogs.db"), configuration: place.configuration("correct horse"))
        try await queue.write { db in
            try db.create(table: "person") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull()
            }
            try db.create(table: "dog") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull()
                t.column("ownerID", .blob).references("person", onDelete: .setNull)
            }
            let person = Person(id: .v7(), name: "Ada")
            try person.insert(db)
            try Dog(id: .v7(), name: "Rex", ownerID: person.id).insert(db)
        }
        // sample: from-realm-query
        // realm.objects(Dog.self).where { $0.name == "Rex" }
        let rex = try await queue.read { db in
            try Dog.filter(Dog.Columns.name == "Rex").fetchOne(db)
        }
        // people.first?.dogs
        let people = try await queue.read { db in
            try Person.including(all: Person.dogs).asRequest(of: PersonInfo.self).fetchAll(db)
        }
        // end
        #expect(rex?.ownerID == people.first?.person.id)
        #expect(people.first?.dogs.count == 1)
    }

    @Test func aTableOfCRRsIsTracked() throws {
        let queue = try DatabaseQueue(
            path: place.path("todo.db"), configuration: place.configuration("correct horse"))
        // sample: from-crsqlite
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE todo (
                        id BLOB PRIMARY KEY,
                        text TEXT NOT NULL CHECK (length(text) > 0),
                        list BLOB REFERENCES list (id)
                    );
                    CREATE TABLE list (id BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                    """)
        }
        // SELECT crsql_as_crr('todo'), crsql_as_crr('list');
        let synchronizer = try Synchronizer(queue, tables: ["todo", "list"])
        // end
        #expect(Set(try synchronizer.status().tables.map(\.name)) == ["todo", "list"])
    }
}
