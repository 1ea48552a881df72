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
                return "\(row[0] as String) \(row[1] as String) \(words.joined(separator: " "))"
            }
        }
    }

    @Test func theContractInSchemasIsWhatTheCodeCreates() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let contract = try String(
            contentsOf: root.appendingPathComponent("Schemas/metadata/v2.sql"), encoding: .utf8)
        let created = try objects(MetadataSchema.sql)
        #expect(try objects(contract) == created)
        #expect(created.count > 12)
    }

    @Test func metadataOfANewerProgramIsRefused() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.execute("UPDATE _sync_state SET format = 3")
        let error = #expect(throws: SyncError.self) { try a.synchronizer.status() }
        #expect(error?.code == .metadataTooNew)
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
