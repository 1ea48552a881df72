import CipherStore
import Testing

private struct Folder: TableRecord {}

/// Deletions whose condition reads the table that they delete from: SQLite 3.15 deletes a row before it asks about the next one.
@Suite struct DeletionPlanTests {
    /// Folders within each other: 1 is in none, 2 in 1, and so on.
    private func deleted(_ request: QueryInterfaceRequest<Folder>, key: String = "INTEGER") throws -> [Int] {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE folder (id \(key) PRIMARY KEY, parentId \(key) NOT NULL, isOld INTEGER NOT NULL);
                    CREATE TABLE pin (folderId \(key));
                    INSERT INTO folder VALUES (1, 0, 1), (2, 1, 0), (3, 2, 0), (4, 3, 0);
                    INSERT INTO pin VALUES (3);
                    """)
            let before = try Int.fetchAll(db, sql: "SELECT id FROM folder ORDER BY id")
            let count = try request.deleteAll(db)
            let after = try Int.fetchAll(db, sql: "SELECT id FROM folder ORDER BY id")
            #expect(before.count - after.count == count)
            return before.filter { !after.contains($0) }
        }
    }

    private var ids: QueryInterfaceRequest<Int> { Folder.select(Column("id"), as: Int.self) }

    @Test(arguments: ["INTEGER", "TEXT"]) func rowsThatWereThereBeforeCount(key: String) throws {
        let orphans = try deleted(Folder.filter(!ids.contains(Column("parentId"))), key: key)
        #expect(orphans == [1])
        let all: SQLRequest<Int> = "SELECT id FROM folder"
        let raw = try deleted(Folder.filter(!all.contains(Column("parentId"))), key: key)
        #expect(raw == [1])
        let text = try deleted(Folder.filter(sql: "parentId NOT IN (select id from folder)"), key: key)
        #expect(text == [1])
    }

    @Test func queriesThatAreAskedLateCountThemToo() throws {
        let isOld = Column("isOld") == 1
        let orphans = !ids.filter(Column("id") > 0).contains(Column("parentId"))
        let found = try deleted(Folder.filter(isOld || orphans))
        #expect(found == [1])
        let number = Folder.select(count(Column("id")))
        let last = try deleted(Folder.filter(isOld || Column("id") >= number))
        #expect(last == [1, 4])
    }

    @Test func conditionsOnOtherTablesStayAsTheyAre() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            var statements: [String] = []
            try db.execute(
                sql: "CREATE TABLE folder (id INTEGER PRIMARY KEY); CREATE TABLE pin (folderId INTEGER)")
            db.trace { statements.append("\($0)") }
            let pins = Table("pin").select(Column("folderId"), as: Int.self)
            try Folder.filter(pins.contains(Column("id"))).deleteAll(db)
            #expect(statements.last == #"DELETE FROM "folder" WHERE "id" IN (SELECT "folderId" FROM "pin")"#)
        }
    }

    @Test func newEnginesGetTheConditionAsItIs() throws {
        guard EngineFeatures.current.sqliteVersionNumber >= 3_046_000 else { return }
        let queue = try DatabaseQueue()
        try queue.write { db in
            var statements: [String] = []
            try db.execute(sql: "CREATE TABLE folder (id INTEGER PRIMARY KEY, parentId INTEGER)")
            db.trace { statements.append("\($0)") }
            try Folder.filter(!ids.contains(Column("parentId"))).deleteAll(db)
            #expect(
                statements.last
                    == #"DELETE FROM "folder" WHERE "parentId" NOT IN (SELECT "id" FROM "folder")"#)
        }
    }
}
