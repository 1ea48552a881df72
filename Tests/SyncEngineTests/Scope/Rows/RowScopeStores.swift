import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// A table whose rows belong to workspaces, and one whose rows belong to these rows.
let rowScopeSchema = """
    CREATE TABLE item (id BLOB PRIMARY KEY, scope, x INTEGER, y INTEGER);
    CREATE TABLE other (id BLOB PRIMARY KEY, value INTEGER);
    """

extension TestStores {
    func createWithScopes(_ name: String = "hub.db") throws -> TestReplica {
        try create(name, schema: rowScopeSchema, tables: ["item", "other"])
    }
}

/// A key that looks like one made by chance, so that nobody else makes the same.
func itemKey(_ number: Int) -> Data {
    var bytes = Data(repeating: 0, count: 16)
    bytes[0] = UInt8(truncatingIfNeeded: number)
    bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
    bytes[6] = 0x40
    bytes[8] = 0x80
    return bytes
}

extension TestReplica {
    /// Holds the rows of some workspaces only.
    func choose(_ values: [ScopeValue], of hub: TestReplica) throws {
        try synchronizer.setScope(.rows(of: "item", where: "scope", in: values), ofRemote: hub.transport.name)
    }

    func chooseEverything(of hub: TestReplica) throws {
        try synchronizer.setScope(.everything, ofRemote: hub.transport.name)
    }

    /// Synchronizes with a store that is open, by its name.
    @discardableResult
    func share(_ other: TestReplica, _ direction: SyncDirection = .both) throws -> SyncReport {
        stores.clock.advance(milliseconds: 10)
        return try SessionDriver(
            local: peer, remote: other.peer, remoteName: other.transport.name, progress: nil
        ).run(direction)
    }

    /// Applies the frames of a bundle.
    func take(_ frames: [[UInt8]]) throws {
        _ = try peer.receive { sink in for frame in frames { try frame.withUnsafeBytes { try sink($0) } } }
    }

    func add(_ number: Int, _ scope: ScopeValue, x: Int64 = 0, y: Int64 = 0) throws {
        try execute(
            "INSERT INTO item (id, scope, x, y) VALUES (?, ?, ?, ?)",
            [itemKey(number), scope.databaseValue, x, y])
    }

    func move(_ number: Int, _ scope: ScopeValue) throws {
        try execute("UPDATE item SET scope = ? WHERE id = ?", [scope.databaseValue, itemKey(number)])
    }

    func set(_ number: Int, x: Int64) throws {
        try execute("UPDATE item SET x = ? WHERE id = ?", [x, itemKey(number)])
    }

    func set(_ number: Int, y: Int64) throws {
        try execute("UPDATE item SET y = ? WHERE id = ?", [y, itemKey(number)])
    }

    /// The rows with their versions, as "1 a x=0 y=0" and who wrote what, of some workspaces or of all.
    func items(_ values: [ScopeValue]? = nil) throws -> [String] {
        try queue.read { db in
            let names = Dictionary(
                uniqueKeysWithValues: try StoreMetadata.require(db).replicas.map { ($0.sid, $0.id) })
            func stamp(_ row: Row, _ index: Int) -> String {
                let replica = names[row[index + 1] as Int64].map { $0.shortDescription } ?? "?"
                return "\(row[index] as Int64)/\(replica)/\(row[index + 2] as Int64)"
            }
            return try Row.fetchAll(db, sql: "SELECT id, scope, x, y FROM item ORDER BY id").compactMap {
                row in
                let scope = try row.decode(DatabaseValue.self, atIndex: 1)
                let value = ScopeValue(scope)
                if let values, value.map(values.contains) != true { return nil }
                let key = row[0] as Data
                let version = try #require(
                    try Row.fetchOne(
                        db, sql: "SELECT r, cl, hlc, sid, oseq FROM _sync_row WHERE tbl = 1 AND pk = ?",
                        arguments: [key]))
                let cells = try Row.fetchAll(
                    db, sql: "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ? ORDER BY col",
                    arguments: [version[0] as Int64]
                ).map { "\($0[0] as Int64):" + stamp($0, 1) }
                let number = Int(key[0]) + Int(key[1]) << 8
                return "\(number) \(scope) x=\(row[2] as Int64? ?? -1) y=\(row[3] as Int64? ?? -1) "
                    + "\(version[1] as Int64) \(stamp(version, 2)) \(cells)"
            }
        }
    }

    /// The numbers of the rows in the table.
    func numbers() throws -> [Int] {
        try queue.read { try Data.fetchAll($0, sql: "SELECT id FROM item ORDER BY id") }
            .map { Int($0[0]) + Int($0[1]) << 8 }
    }
}

extension ScopeValue {
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
