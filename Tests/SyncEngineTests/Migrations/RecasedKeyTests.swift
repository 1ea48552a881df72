import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Rebuilt tables whose keys are in another case, while their column takes both for the same.
@Suite struct RecasedKeyTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let collations = ["", "COLLATE NOCASE"]

    private func pair(_ collation: String) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: "CREATE TABLE note (id TEXT PRIMARY KEY \(collation), title TEXT)", tables: ["note"])
        try a.execute(
            """
            INSERT INTO note VALUES ('0190F5FE-7C00-7A00-8000-00000000000A', 'one'),
                ('0190F5FE-7C00-7A00-8000-00000000000B', 'two')
            """)
        return (a, try stores.clone(a, as: "b.db"))
    }

    /// Makes a table with other keys.
    private static func copy(key: String) -> String {
        """
        CREATE TABLE new_note (id TEXT PRIMARY KEY COLLATE NOCASE, title TEXT);
        INSERT INTO new_note SELECT \(key), title FROM note;
        """
    }

    @Test(arguments: collations) func aMigrationOfAllKeysIsRefused(_ collation: String) throws {
        let (a, b) = try pair(collation)
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) {
            try a.migrate("lower") { db in
                try db.execute(sql: Self.copy(key: "lower(id)"))
                try db.drop(table: "note")
                try db.rename(table: "new_note", to: "note")
            }
        }
        #expect(error?.code == .unsuitableKey)
        #expect(try a.everything() == before)
        try a.sync(b)
        #expect(try b.titles() == ["one", "two"])
    }

    @Test(arguments: collations) func aRowWhoseKeyIsMigratedIsAnotherOne(_ collation: String) throws {
        let (a, b) = try pair(collation)
        try a.migrate("lower") { db in
            try db.execute(sql: Self.copy(key: "CASE title WHEN 'one' THEN lower(id) ELSE id END"))
            try db.drop(table: "note")
            try db.rename(table: "new_note", to: "note")
        }
        try a.sync(b)
        for replica in [a, b] {
            let key = try replica.value("SELECT id FROM note WHERE title = 'one'", as: String.self)
            #expect(key == "0190f5fe-7c00-7a00-8000-00000000000a")
            #expect(try replica.value("SELECT count(*) FROM note", as: Int.self) == 2)
            #expect(try replica.problems() == [])
        }
        // The keys have different collations, and so the rows another order.
        #expect(try Set(a.state(["note"])) == Set(b.state(["note"])))
    }

    @Test(arguments: collations) func anotherProgramThatDoesItDeletesNoRow(_ collation: String) throws {
        let (a, b) = try pair(collation)
        try a.changeUnobserved(
            Self.copy(key: "lower(id)") + "DROP TABLE note; ALTER TABLE new_note RENAME TO note")
        try a.sync(b)
        #expect(try b.titles() == ["one", "two"])
        #expect(
            try b.value("SELECT count(*) FROM note WHERE id = upper(id) COLLATE BINARY", as: Int.self) == 2)
    }
}
