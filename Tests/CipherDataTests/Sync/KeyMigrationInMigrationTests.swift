import CipherData
import Testing

private enum Lists {
    @Table("list") struct List {
        let id: String
        var title = ""
    }
    @Table("item") struct Item {
        let id: String
        var list: String?
        var title = ""
    }
}

/// Keys that a migration of the app turns into UUIDs.
@Suite(.timeLimit(.minutes(10))) struct KeyMigrationInMigrationTests {
    private let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, list INTEGER REFERENCES list, title TEXT);
        INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (7, 1, 'milk');
        """

    private func migrate(_ database: any DatabaseWriter, namespace: StoreID? = nil) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in try db.execute(sql: schema) }
        migrator.registerMigration("keys") { db throws in
            try SyncEngine.migratePrimaryKeys(
                db, tables: Lists.List.self, Lists.Item.self, namespace: namespace)
        }
        try migrator.migrate(database)
    }

    @Test func tablesOfADatabaseWithANamespaceGetUUIDs() throws {
        let folder = try TestFolder()
        let database = try DatabaseQueue(path: folder.file("a.db"), configuration: .encrypted)
        try migrate(database, namespace: StoreID(high: 1, low: 2))
        let rows = try database.strings(
            "SELECT list.title || item.title || length(item.id) FROM item JOIN list ON list.id = item.list")
        #expect(rows == ["homemilk36"])
    }

    @Test func withoutOneADatabaseThatWasNeverSynchronizedStaysAsItIs() throws {
        let folder = try TestFolder()
        let database = try DatabaseQueue(path: folder.file("a.db"), configuration: .encrypted)
        #expect {
            try migrate(database)
        } throws: { error in
            (error as? SyncError)?.code == .keysNotConvertible && "\(error)".contains("namespace")
        }
        #expect(try database.strings("SELECT CAST(id AS TEXT) FROM item") == ["7"])
    }

    @Test func oneTableIsEnough() throws {
        let folder = try TestFolder()
        let database = try DatabaseQueue(path: folder.file("a.db"), configuration: .encrypted)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("keys") { db throws in
            try db.execute(sql: "CREATE TABLE list (id INTEGER PRIMARY KEY, title TEXT)")
            try db.execute(sql: "INSERT INTO list VALUES (1, 'home')")
            let plan = try SyncEngine.migratePrimaryKeys(
                db, tables: Lists.List.self, keyForm: .blob, namespace: StoreID(high: 1, low: 2))
            #expect(plan.tables.count == 1)
        }
        try migrator.migrate(database)
        #expect(try database.strings("SELECT typeof(id) FROM list") == ["blob"])
    }
}
