import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Columns are named by numbers where they are gone already, so a number means one column for ever.
@Suite struct ColumnNumberTests {
    private func note(_ db: Database) throws -> SyncedTable {
        try #require(SyncedTable.loadAll(db).first { $0.name == "note" })
    }

    /// Adds a column that is at peers only.
    private func add(_ name: String, _ db: Database) throws -> SyncedTable.Column {
        try #require(note(db).addingColumns(db, [name], place: .elsewhere).columns.last)
    }

    @Test func theNumberOfAColumnThatWasUnitedIsNotGivenAgain() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.queue.write { db in
            let other = try add("other", db)
            let table = try note(db)
            try ColumnUnion(db: db, environment: a.environment).unite(
                other, into: table.columns[0], of: table)
            let next = try add("next", db)
            #expect(next.number == other.number + 1)
            #expect(try add("after", db).number == next.number + 1)
        }
    }

    @Test func theNumberOfAColumnThatARepairForgetsIsNotGivenAgain() throws {
        let stores = try TestStores()
        let a = try stores.create()
        let unused = try a.queue.write { try add("unused", $0).number }
        #expect(try a.synchronizer.repairMetadata().nameCount == 1)
        let next = try a.queue.write { try add("next", $0).number }
        #expect(next == unused + 1)
    }
}
