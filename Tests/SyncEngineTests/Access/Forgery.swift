import CipherStore
import Foundation
import SyncWire

@testable import SyncEngine

/// A bundle that a program made which holds to nothing.
struct Forgery {
    struct Row {
        var table = 0
        var number: Int
        var life: Int64 = 1
        /// Who wrote the whole row; nil when only columns were written.
        var base: WireStamp?
        /// The values of the whole row, by column; of others it says nothing.
        var values: [Int: ScopeValue] = [:]
        var cells: [(column: Int, stamp: WireStamp, value: ScopeValue)] = []
        var isLeave = false
    }

    let store: StoreID
    /// The device, and after it others.
    var replicas: [ReplicaID]
    var tables = [BundleHeader.Table(name: "item", key: "id", columns: ["scope", "x", "y"])]
    var base: [ReplicaID: Int64] = [:]
    var target: [ReplicaID: Int64] = [:]
    var facts = ReplicaFacts()
    var rows: [Row] = []

    /// A bundle of a device with something new in one table.
    init(_ hub: TestReplica, _ device: ReplicaID, _ rows: [Row], upTo sequence: Int64 = 1000) throws {
        store = try hub.synchronizer.identity().store
        replicas = [device, try hub.synchronizer.identity().replica]
        self.rows = rows
        facts.parts = [.init(tables: [["item"]], target: VersionVector([device: sequence]))]
    }

    func frames() throws -> [[UInt8]] {
        let header = BundleHeader(
            store: store, sender: replicas[0], base: VersionVector(base), target: VersionVector(target),
            replicas: replicas, tables: tables, facts: facts)
        nonisolated(unsafe) var frames: [[UInt8]] = []
        var writer = try BundleWriter(header: header) { frames.append(Array($0)) }
        for row in rows {
            let columns = tables[row.table].columns.indices
            let key = Array(itemKey(row.number))
            key.withUnsafeBytes {
                writer.beginRow(
                    table: row.table, key: $0, isTextKey: false, life: row.life, base: row.base,
                    mask: columns.map { row.values[$0] != nil }, cellCount: row.cells.count,
                    isLeave: row.isLeave)
            }
            for column in columns { row.values[column]?.withWireValue { writer.value($0) } }
            for cell in row.cells {
                cell.value.withWireValue { writer.cell(column: cell.column, stamp: cell.stamp, value: $0) }
            }
            try writer.endRow()
        }
        try writer.finish()
        return frames
    }
}

extension TestReplica {
    /// Applies a bundle of a device that has bounds; nil for one that has none.
    @discardableResult
    func take(_ forgery: Forgery, within bounds: AccessBounds?) throws -> ApplySummary {
        try take(forgery.frames(), within: bounds)
    }

    func take(_ frames: [[UInt8]], within bounds: AccessBounds?) throws -> ApplySummary {
        func handOut(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
            for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
        }
        return try synchronizer.applyUpload(on: { _ in UploadTerms(bounds: bounds) }, handOut)
    }

    /// All that is in the database, but for what counts up without a meaning.
    func wholeFile() throws -> [String] {
        try queue.read { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                    AND name NOT IN ('_sync_state', '_sync_digest') ORDER BY name
                    """)
            return try tables.flatMap { table in
                try CipherStore.Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\" ORDER BY 1, 2").map {
                    "\(table) \($0)"
                }
            }
        }
    }
}

/// The code of the error that something throws; nil when it throws none.
func code(_ body: () throws -> Void) throws -> SyncError.Code? {
    do {
        try body()
        return nil
    } catch let error as SyncError {
        return error.code
    }
}
