import CipherData
import Foundation
import Observation
import Testing

// sample: typed-tables
@Table struct RemindersList: Identifiable, Equatable {
    let id: UUID
    var title = ""
}

@Table struct Reminder: Identifiable, Equatable {
    let id: UUID
    var title = ""
    var isCompleted = false
    @Column("list_id") var remindersListID: RemindersList.ID
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
}
// end

// sample: typed-model
@Observable final class RemindersModel {
    @ObservationIgnored @FetchAll(Reminder.where { !$0.isCompleted }.order(by: \.title)) var open
    @ObservationIgnored @FetchOne(Reminder.where(\.isCompleted).count()) var doneCount = 0
}
// end

// sample: typed-record
@Table("player")
struct TypedPlayer: Codable, Identifiable, Equatable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"

    @Column(as: UUID.BytesRepresentation.self) let id: UUID
    var name = ""
    var score = 0
}
// end

/// The code of the articles of CipherData.
@Suite struct TypedSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    // sample: typed-database
    func appDatabase(at path: String, passphrase: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.prepareDatabase { db in try db.usePassphrase(passphrase) }
        let database = try DatabasePool(path: path, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("reminders") { db in
            try #sql(
                """
                CREATE TABLE remindersLists (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL)
                """
            ).execute(db)
            try #sql(
                """
                CREATE TABLE reminders (
                    id TEXT PRIMARY KEY NOT NULL,
                    title TEXT NOT NULL,
                    isCompleted INTEGER NOT NULL DEFAULT 0,
                    list_id TEXT NOT NULL REFERENCES remindersLists (id) ON DELETE CASCADE,
                    tags TEXT NOT NULL DEFAULT '[]'
                )
                """
            ).execute(db)
        }
        try migrator.migrate(database)
        return database
    }
    // end

    @Test func whatAnAppOfSQLiteDataDoes() async throws {
        let database = try appDatabase(at: place.path("app.db"), passphrase: "correct horse")
        // sample: typed-writing
        let home = RemindersList(id: .v7(), title: "Home")
        try await database.write { db in
            try RemindersList.insert { home }.execute(db)
            try Reminder.insert {
                Reminder(id: .v7(), title: "Milk", remindersListID: home.id, tags: ["shop"])
                Reminder(id: .v7(), title: "Post", isCompleted: true, remindersListID: home.id)
            }.execute(db)
        }
        // end
        // sample: typed-reading
        let counts = try await database.read { db in
            try RemindersList.group(by: \.id)
                .leftJoin(Reminder.all) { $0.id.eq($1.remindersListID) }
                .select { ($0.title, $1.count()) }
                .fetchAll(db)
        }
        // end
        #expect(counts.map(\.0) == ["Home"] && counts.map(\.1) == [2])
        // sample: typed-including
        let lists = try await database.read { db in
            try RemindersList.order(by: \.title)
                .including(all: RemindersList.hasMany(Reminder.self).order(Column("title")))
                .fetchAll(db)
        }
        for (list, reminders) in lists {
            print(list.title, reminders.map(\.title))
        }
        // end
        #expect(lists.map(\.0) == [home] && lists[0].1.map(\.title) == ["Milk", "Post"])
        // sample: typed-dependencies
        // A program says it once, with prepareDependencies; a test or a preview for a closure.
        let model = withDependencies {
            $0.defaultDatabase = database
        } operation: {
            RemindersModel()
        }
        // end
        #expect(model.open.map(\.title) == ["Milk"] && model.doneCount == 1)
    }

    @Test func synchronizationHasTheNamesOfSQLiteData() async throws {
        let database = try appDatabase(at: place.path("app.db"), passphrase: "correct horse")
        let synchronizer = try Synchronizer(database, tables: ["remindersLists", "reminders"])
        let path = place.path("hub.db")
        try synchronizer.clone(to: path, passphrase: Passphrase("battery staple"))
        let hub = place.configuration("battery staple")
        // sample: typed-sync
        let syncEngine = try SyncEngine(
            for: database, tables: RemindersList.self, Reminder.self,
            transport: StoreTransport(path: path, configuration: hub), startImmediately: false)
        try await database.write { db in
            try RemindersList.insert { RemindersList(id: .v7(), title: "Work") }.execute(db)
        }
        try await syncEngine.syncChanges()
        // end
        let titles = try await DatabaseQueue(path: path, configuration: hub).read { db in
            try RemindersList.select(\.title).fetchAll(db)
        }
        #expect(titles == ["Work"])
        // sample: typed-trigger
        // A list of another replica has been through its own trigger.
        try await database.write { db in
            try RemindersList.createTemporaryTrigger(
                after: .insert { list in
                    RemindersList.where { $0.id.eq(list.id) }.update { $0.title = "New list" }
                } when: { list in
                    list.title.eq("") && !SyncEngine.$isSynchronizing
                }
            ).execute(db)
        }
        // end
        try await database.write { db in
            try RemindersList.insert { RemindersList(id: .v7()) }.execute(db)
        }
        // sample: typed-metadata
        let changes = try await database.read { db in
            try RemindersList.join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }
                .order { $1.userModificationTime.desc() }
                .select { ($0.title, $1.userModificationTime) }
                .fetchAll(db)
        }
        // end
        #expect(Set(changes.map(\.0)) == ["New list", "Work"])
    }

    @Test func aTypeOfGRDBBecomesATable() async throws {
        let database = try DatabaseQueue(
            path: place.path("players.db"), configuration: place.configuration("correct horse"))
        try await database.write { db in
            try db.create(table: "player") { t in
                t.primaryKey("id", .blob)
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
        }
        let arthur = TypedPlayer(id: .v7(), name: "Arthur", score: 100)
        // sample: typed-both
        try await database.write { db in
            try arthur.insert(db)  // the record, as before
            try TypedPlayer.insert { TypedPlayer(id: .v7(), name: "Barbara", score: 200) }.execute(db)
        }
        let (all, best) = try await database.read { db in
            let all = try TypedPlayer.order(Column("name")).fetchAll(db)  // the request, as before
            let best = try TypedPlayer.where { $0.score.gt(100) }.fetchAll(db)
            return (all, best)
        }
        // end
        #expect(all.map(\.name) == ["Arthur", "Barbara"] && best.map(\.name) == ["Barbara"])
        let draft = Draft.keyFromTheDatabase
        #expect(draft.query.debugDescription.contains("INSERT INTO"))
    }

    private enum Draft {
        // sample: typed-draft
        static var keyFromTheDatabase: some Statement<()> {
            NumberedPlayer.insert { NumberedPlayer.Draft(name: "Arthur") }
        }
        // end
    }
}

// sample: typed-key
@Table("numberedPlayer") struct NumberedPlayer {
    let id: Int  // was: var id: Int?, with didInsert(_:)
    var name = ""
}
// end
