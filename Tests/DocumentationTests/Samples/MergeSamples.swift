import CipherStore
import Foundation
import SyncEngine
import Testing

/// The code of "Conflicts and constraints", "Counters and policies", "Some rows only" and "Migrations".
@Suite struct MergeSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    private var toPhone: StoreTransport {
        StoreTransport(
            path: place.path("phone.db"), configuration: place.configuration("battery staple"))
    }

    @Test func aConflictIsShownAndRestored() async throws {
        let (notes, phone) = try place.replicas()
        let id = UUID.v7()
        try await notes.write { try Note(id: id, title: "Groceries", body: "milk", stars: 0).insert($0) }
        let synchronizer = try Synchronizer(notes)
        _ = try await synchronizer.sync(with: toPhone)
        try await notes.write { try $0.execute(sql: "UPDATE note SET body = 'bread'") }
        try await Task.sleep(for: .milliseconds(5))
        try await phone.write { try $0.execute(sql: "UPDATE note SET body = 'milk, eggs'") }
        try phone.close()
        _ = try await synchronizer.sync(with: toPhone)
        // sample: conflicts
        for conflict in try synchronizer.conflicts() {
            print(conflict.table, conflict.keyText, conflict.column)
            print("lost:", conflict.lost, "because:", conflict.reason)
        }
        // end
        let conflict = try #require(try synchronizer.conflicts().first)
        #expect(conflict.lost == "bread".databaseValue)
        // sample: resolving
        try synchronizer.resolve([conflict.id], by: .restoreLost)  // an edit of now
        // end
        #expect(try await notes.read { try Note.find($0, key: id).body } == "bread")
        #expect(try synchronizer.conflictCount() == 0)
    }

    @Test func parkedRowsAreListed() async throws {
        let (notes, phone) = try place.replicas()
        for queue in [notes, phone] {
            try await queue.write {
                try $0.execute(sql: "CREATE TABLE tag (id BLOB PRIMARY KEY, name TEXT UNIQUE)")
            }
            try Synchronizer(queue).track(["tag"])
            try await queue.write {
                try $0.execute(sql: "INSERT INTO tag VALUES (?, 'red')", arguments: [UUID.v7()])
            }
        }
        try phone.close()
        let synchronizer = try Synchronizer(notes)
        _ = try await synchronizer.sync(with: toPhone)
        // sample: parked
        for row in try synchronizer.parkedRows() {
            print(row.table, row.keyText, row.reason)
        }
        // end
        #expect(try synchronizer.parkedRows().count <= 1)
        #expect(try await notes.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM tag") } == 1)
    }

    @Test func policiesDecide() async throws {
        let notes = try place.notes()
        try await notes.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE article (id BLOB PRIMARY KEY, likes INTEGER NOT NULL DEFAULT 0, read_until INTEGER, tags TEXT)"
            )
        }
        let synchronizer = try Synchronizer(notes, tables: ["article"])
        // sample: policies
        try synchronizer.setPolicies([
            .counter("article", "likes"),  // what each replica added is summed up
            .max("article", "read_until"),  // the greater value stands
            .custom("article", "tags", merge: "lines"),
        ])
        synchronizer.register(mergePolicy: "lines") { lost, won, _ in
            let lines = [lost, won].flatMap { (String.fromDatabaseValue($0) ?? "").split(separator: "\n") }
            return Set(lines).sorted().joined(separator: "\n").databaseValue
        }
        // end
        try synchronizer.clone(to: place.path("phone.db"), passphrase: Passphrase("battery staple"))
        let phone = try DatabaseQueue(
            path: place.path("phone.db"), configuration: place.configuration("battery staple"))
        let id = UUID.v7()
        try await notes.write {
            try $0.execute(sql: "INSERT INTO article VALUES (?, 1, 10, 'a')", arguments: [id])
        }
        _ = try await synchronizer.sync(with: toPhone)
        for (queue, until) in [(notes, 20), (phone, 15)] {
            try await queue.write { db in
                // sample: counting
                try db.execute(sql: "UPDATE article SET likes = likes + 1 WHERE id = ?", arguments: [id])
                // end
                try db.execute(sql: "UPDATE article SET read_until = ?", arguments: [until])
            }
        }
        try phone.close()
        _ = try await synchronizer.sync(with: toPhone)
        let values = try await notes.read { db in
            [
                try Int.fetchOne(db, sql: "SELECT likes FROM article"),
                try Int.fetchOne(db, sql: "SELECT read_until FROM article"),
            ]
        }
        #expect(values == [3, 20])
    }

    @Test func someTablesAndRowsAreChosen() async throws {
        let (notes, phone) = try place.replicas()
        try phone.close()
        try await notes.write { db in
            try Note(id: .v7(), title: "Groceries", body: "home", stars: 0).insert(db)
            try Note(id: .v7(), title: "Budget", body: "work", stars: 0).insert(db)
        }
        let onPhone = try Synchronizer(
            DatabaseQueue(path: place.path("phone.db"), configuration: place.configuration("battery staple")))
        let hub = StoreTransport(
            path: place.path("notes.db"), configuration: place.configuration("correct horse"))
        try notes.close()
        // sample: scope-rows
        let scope = SyncScope.tables(["note"]).rows(of: "note", where: "body", in: ["home"])
        try onPhone.setScope(scope, ofRemote: hub.name)
        let report = try await onPhone.sync(with: hub)
        // end
        #expect(report.pulled?.rowCount == 1)
        // sample: scope-all
        try onPhone.setScope(.everything, ofRemote: hub.name)
        // end
        #expect(try onPhone.scope(ofRemote: hub.name) == .everything)
        _ = try await onPhone.sync(with: hub)
        #expect(try onPhone.status().tables.map(\.rowCount) == [2])
    }

    @Test func aTrackedTableIsMigrated() async throws {
        let (notes, phone) = try place.replicas()
        try phone.close()
        // sample: migrating
        var migrator = noteMigrator()
        migrator.registerMigration("colours") { db in
            try db.alter(table: "note") { t in
                t.add(column: "colour", .text)
                t.rename(column: "body", to: "text")
            }
        }
        try migrator.migrate(notes)
        // end
        let synchronizer = try Synchronizer(notes)
        try await notes.write {
            try $0.execute(
                sql: "INSERT INTO note (id, title, text, colour) VALUES (?, 'Ideas', 'first', 'red')",
                arguments: [UUID.v7()])
        }
        #expect(try await synchronizer.sync(with: toPhone).pushed?.rowCount == 1)
        // sample: migrated-status
        let status = try synchronizer.status()
        for remark in status.schemaRemarks { print(remark) }
        // end
        #expect(status.tables.map(\.name) == ["note"])
    }

    @Test func keysBecomeUUIDs() throws {
        let notes = try DatabaseQueue(
            path: place.path("old.db"), configuration: place.configuration("correct horse"))
        try notes.write {
            try $0.execute(
                sql:
                    "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO note VALUES (1, 'a')"
            )
        }
        // sample: keys
        let synchronizer = try Synchronizer(notes)
        try synchronizer.convertKeys(UUIDKeyMigration(tables: ["note"]))  // and tracks the table
        // end
        #expect(try synchronizer.status().tables.map(\.rowCount) == [1])
    }
}
