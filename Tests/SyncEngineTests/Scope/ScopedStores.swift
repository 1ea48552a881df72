import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Three tables whose rows have one value.
let scopedTables = ["apple", "birch", "cedar"]

extension TestStores {
    func createScoped(_ name: String = "a.db") throws -> TestReplica {
        try create(
            name,
            schema: scopedTables.map { "CREATE TABLE \($0) (id BLOB PRIMARY KEY, value INTEGER);" }.joined(),
            tables: scopedTables)
    }
}

extension TestReplica {
    /// Synchronizes some tables with another store that is open; nil for all.
    @discardableResult
    func exchange(
        _ other: TestReplica, _ tables: [String]? = nil, _ direction: SyncDirection = .both
    ) throws -> SyncReport {
        stores.clock.advance(milliseconds: 10)
        return try SessionDriver(
            local: peer, remote: other.peer, remoteName: other.name, tables: tables.map { $0.map { [$0] } },
            progress: nil
        ).run(direction)
    }

    /// The frames of a bundle.
    func bundle(_ request: TransferRequest) throws -> [[UInt8]] {
        let frames = Mutex<[[UInt8]]>([])
        _ = try peer.send(request, progress: nil) { frame in frames.withLock { $0.append(Array(frame)) } }
        return frames.withLock { $0 }
    }

    func put(_ table: String, _ number: UInt8, _ value: Int64) throws {
        try execute("INSERT INTO \(table) (id, value) VALUES (?, ?)", [key(number), value])
    }

    /// The values of a table by the number of the row.
    func values(_ table: String) throws -> [UInt8: Int64] {
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT id, value FROM \(table)") }
        return Dictionary(
            uniqueKeysWithValues: rows.map { (($0[0] as Data)[0], $0[1] as Int64) })
    }

    /// The rows of each table that has any, as "apple 1=10 2=20".
    func contents() throws -> [String] {
        try scopedTables.compactMap { table in
            let values = try values(table).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return values.isEmpty ? nil : "\(table) " + values.joined(separator: " ")
        }
    }

    func coverage() throws -> Coverage {
        try queue.read { try Coverage.load($0, StoreMetadata.require($0)) }
    }

    func known(_ table: String) throws -> VersionVector {
        let number = try value("SELECT tbl FROM _sync_table WHERE name = '\(table)'", as: Int64.self)
        return try coverage()[#require(number)].known
    }
}
