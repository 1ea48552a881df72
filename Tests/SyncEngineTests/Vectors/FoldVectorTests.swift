import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// The folds of `Schemas/metadata/fold.json`.
@Suite struct FoldVectorTests {
    private struct Vector: Decodable {
        struct Key: Decodable {
            let blob: String?
            let text: String?

            func value() throws -> DatabaseValue {
                if let text { return text.databaseValue }
                let digits = Array(try #require(blob).utf8)
                let bytes = try stride(from: 0, to: digits.count, by: 2).map {
                    try #require(UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16))
                }
                return Data(bytes).databaseValue
            }
        }

        struct Stamp: Decodable {
            let timestamp: String
            let replica: String
            let sequence: String

            /// Timestamp, local number of the replica, sequence.
            func numbers() throws -> [Int64] {
                [try #require(Int64(timestamp)), replica == "self" ? 1 : 2, try #require(Int64(sequence))]
            }
        }

        struct Cell: Decodable {
            let column: Int
            let stamp: Stamp
        }

        struct Row: Decodable {
            let key: Key
            let life: String
            let base: Stamp
            let cells: [Cell]
        }

        struct Entry: Decodable {
            let sequence: String
            let operation: Int64
            let key: Key
            let mask: String
            let milliseconds: String
        }

        struct State: Decodable {
            let clock: String
            let folded: String
            let rows: [Row]
        }

        let name: String
        let now: String
        let clock: String
        let folded: String
        /// Whether the table is not here, though its rows are known.
        let isElsewhere: Bool?
        /// Rows that have a parked value of a column which is not here.
        let parked: [Key]?
        let rows: [Row]
        let log: [Entry]
        let after: State
    }

    private static func number(_ text: String) throws -> Int64 { try #require(Int64(text)) }

    private func insert(_ db: Database, _ table: String, _ values: [DatabaseValue?]) throws {
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        let bound: [DatabaseValue] = values.map { $0 ?? DatabaseValue.null }
        try db.execute(
            sql: "INSERT INTO \(table) VALUES (\(marks))", arguments: StatementArguments(bound))
    }

    /// Makes the state before a fold, in a store that has the rows that exist after it. This replica has the number 1.
    private func prepare(_ db: Database, _ vector: Vector) throws {
        let known = try Int64.fetchOne(db, sql: "SELECT tbl FROM _sync_table WHERE name = 'note'")
        let table = try #require(known)
        let (clock, folded) = (try Self.number(vector.clock), try Self.number(vector.folded))
        try db.execute(sql: "UPDATE _sync_state SET clock = ?, folded = ?", arguments: [clock, folded])
        try db.execute(sql: "UPDATE _sync_replica SET oseq = ? WHERE sid = 1", arguments: [folded])
        try db.execute(sql: "INSERT INTO _sync_replica (sid, rid, oseq) VALUES (2, randomblob(16), 1000)")
        for row in vector.rows {
            var values: [DatabaseValue?] = [nil, table.databaseValue, try row.key.value()]
            values.append(try Self.number(row.life).databaseValue)
            for number in try row.base.numbers() { values.append(number.databaseValue) }
            try insert(db, "_sync_row", values)
            let number = db.lastInsertedRowID
            for cell in row.cells {
                let numbers = [number, Int64(cell.column)] + (try cell.stamp.numbers())
                try insert(db, "_sync_cell", numbers.map { $0.databaseValue })
            }
        }
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
        for row in vector.after.rows where try Self.number(row.life) & 1 == 1 {
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [row.key.value()])
        }
        try db.execute(sql: "UPDATE _sync_state SET applying = 0")
        for entry in vector.log {
            try insert(
                db, "_sync_log",
                [
                    try Self.number(entry.sequence).databaseValue, table.databaseValue,
                    entry.operation.databaseValue, try entry.key.value(),
                    try Self.number(entry.mask).databaseValue,
                    try Self.number(entry.milliseconds).databaseValue,
                ])
        }
        for key in vector.parked ?? [] {
            try db.execute(
                sql: "INSERT INTO _sync_shadow (tbl, pk, col, val, why) VALUES (?, ?, 3, 'kept', ?)",
                arguments: [table, key.value(), KeptReason.dropped])
        }
        guard vector.isElsewhere == true else { return }
        try db.execute(sql: "UPDATE _sync_table SET tracked = 0 WHERE tbl = ?", arguments: [table])
    }

    /// A version as text: key, life, base, cells.
    private func text(_ key: DatabaseValue, _ numbers: [Int64]) -> String {
        let name: String
        switch key.storage {
        case .blob(let data): name = data.map { String($0, radix: 16) }.joined()
        default: name = key.description
        }
        return "\(name) \(numbers)"
    }

    private func versions(_ db: Database) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT r, pk, cl, hlc, sid, oseq FROM _sync_row").map { row in
            let number: Int64 = try row.decode(atIndex: 0)
            var numbers: [Int64] = try (2...5).map { try row.decode(Int64.self, atIndex: $0) }
            let cells = try Row.fetchAll(
                db, sql: "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ? ORDER BY col",
                arguments: [number])
            for cell in cells { numbers += try (0...3).map { try cell.decode(Int64.self, atIndex: $0) } }
            return text(try row.decode(DatabaseValue.self, atIndex: 1), numbers)
        }.sorted()
    }

    private func expected(_ rows: [Vector.Row]) throws -> [String] {
        try rows.map { row in
            var numbers = [try Self.number(row.life)] + (try row.base.numbers())
            for cell in row.cells { numbers += [Int64(cell.column)] + (try cell.stamp.numbers()) }
            return text(try row.key.value(), numbers)
        }.sorted()
    }

    @Test func versionsComeOfTheLogAsTheContractSays() throws {
        for vector in try MetadataVectorFile<Vector>.load("fold") {
            let stores = try TestStores()
            let a = try stores.create()
            let now = try Self.number(vector.now)
            let random = stores.clock.environment.random
            let environment = SyncEnvironment(
                milliseconds: { now }, random: random, skewMillisecondsMax: 600_000)
            try a.queue.write { db in
                #expect(try StoreMetadata.require(db).selfNumber == 1)
                try prepare(db, vector)
                _ = try FoldedStore.fold(db, environment)
                let found = try versions(db)
                #expect(try found == expected(vector.after.rows), "\(vector.name)")
                let metadata = try StoreMetadata.require(db)
                #expect(try metadata.clock.rawValue == Self.number(vector.after.clock), "\(vector.name)")
                #expect(try metadata.folded == Self.number(vector.after.folded), "\(vector.name)")
                #expect(try metadata.vector[metadata.replicaID()] == metadata.folded, "\(vector.name)")
            }
        }
    }
}
