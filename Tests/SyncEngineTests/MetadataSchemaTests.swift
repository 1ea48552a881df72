import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

@Suite struct MetadataSchemaTests {
    /// What a script creates, without comments and with single blanks.
    private func objects(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: sql)
            return try Row.fetchAll(db, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY name").map {
                row in
                let text: String = row[2] ?? ""
                let lines = text.split(separator: "\n").map { line in
                    line.range(of: "-- ").map { line[..<$0.lowerBound] } ?? line
                }
                let words = lines.joined(separator: " ").split(whereSeparator: \.isWhitespace)
                // A column that ALTER added stands after the newline.
                let statement = words.joined(separator: " ").replacing(" ,", with: ",").replacing(
                    " )", with: ")")
                return "\(row[0] as String) \(row[1] as String) \(statement)"
            }
        }
    }

    @Test func theContractInSchemasIsWhatTheCodeCreates() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let contract = try String(
            contentsOf: root.appendingPathComponent("Schemas/metadata/v3.sql"), encoding: .utf8)
        let created = try objects(MetadataSchema.sql)
        let stated = try objects(contract)
        #expect(Set(stated).symmetricDifference(created) == [])
        #expect(stated == created)
        #expect(created.count > 12)
    }

    @Test(arguments: [1, 2]) func olderMetadataBecomeTheSameAsNewOnes(version: Int) throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let old = try String(
            contentsOf: root.appendingPathComponent("Schemas/metadata/v\(version).sql"), encoding: .utf8)
        let upgraded = try DatabaseQueue()
        try upgraded.write { db in
            try db.execute(sql: old)
            try db.execute(
                sql: """
                    INSERT INTO _sync_replica (sid, rid) VALUES (1, randomblob(16));
                    INSERT INTO _sync_state (id, format, store, self) VALUES (1, \(version), randomblob(16), 1);
                    """)
            try MetadataSchema.upgrade(db)
        }
        let created = try DatabaseQueue()
        try created.write { try $0.execute(sql: MetadataSchema.sql) }
        #expect(try layout(upgraded) == layout(created))
        #expect(try upgraded.read { try StoreMetadata.load($0)?.format } == MetadataSchema.version)
    }

    /// The tables with their columns, and what else there is.
    private func layout(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            let names = try String.fetchAll(
                db, sql: "SELECT type || ' ' || name FROM sqlite_master ORDER BY 1")
            let tables = names.filter { $0.hasPrefix("table ") }.map { String($0.dropFirst(6)) }
            let columns = try tables.flatMap { table in
                try Row.fetchAll(db, sql: "PRAGMA table_info(\(table.quotedDatabaseIdentifier))")
                    .map { "\(table) \($0)" }
            }
            return names + columns
        }
    }

    @Test func metadataOfANewerProgramIsRefused() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.execute("UPDATE _sync_state SET format = \(MetadataSchema.version + 1)")
        let error = #expect(throws: SyncError.self) { try a.synchronizer.status() }
        #expect(error?.code == .metadataTooNew)
    }

    @Test func theLastEntryOfTheLogStays() throws {
        let a = try TestStores().create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        let error = #expect(throws: DatabaseError.self) {
            try a.execute("DELETE FROM _sync_log WHERE seq = 2")
        }
        #expect(error?.message?.contains("numbers the next one") == true)
        try a.execute("DELETE FROM _sync_log WHERE seq = 1")
        #expect(try a.logCount() == 1)
    }

    /// Stores of this version from before it have none.
    @Test func theIndexOfHiddenRowsIsMadeWhereItIsMissing() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.changeUnobserved("DROP INDEX _sync_hidden_reason")
        #expect(try a.problems() == [])
        try a.synchronizer.compact()
        let count = try a.value(
            "SELECT count(*) FROM sqlite_master WHERE name = '_sync_hidden_reason'", as: Int.self)
        #expect(count == 1)
        #expect(try a.problems() == [])
    }

    @Test func removingTheMetadataLeavesTheTablesAlone() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.queue.write { try MetadataSchema.remove($0) }
        let names = try a.queue.read { db in
            try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE name LIKE '\\_sync%' ESCAPE '\\'")
        }
        #expect(names.isEmpty)
        #expect(try a.dump().count == 1)
    }
}
