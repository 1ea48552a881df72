import CipherStore
import Foundation
import SyncWire

/// What a store says of itself, read by plain SQL: the metadata as `Schemas/metadata` describes them.
struct StoreObservation {
    /// The version of a row.
    struct Version: Equatable {
        var life: Int64
        var base: Stamp
        var cells: [String: Stamp] = [:]
    }

    /// A value in the journal.
    struct Lost: Hashable {
        let key: ModelKey
        let column: String
        let value: ModelValue
        let timestamp: Int64
        let replica: ReplicaID
    }

    let replica: ReplicaID
    let vector: VersionVector
    /// What is known of single tables beyond that.
    private let parts: [String: VersionVector]
    /// The tables of which some rows only are held, with the revisions of what is asked for.
    let partials: [String: Int64]
    let clock: Int64
    let folded: Int64
    /// Deletions up to here are forgotten.
    let floor: VersionVector
    private let replicas: [Int64: ReplicaID]
    private let tables: [Int64: String]
    private let columnNames: [Int64: [Int: String]]

    init(_ db: Database) throws {
        guard let state = try Row.fetchOne(db, sql: "SELECT self, clock, folded FROM _sync_state") else {
            throw SimulationViolation(.failure, "the store has no sync metadata")
        }
        var replicas: [Int64: ReplicaID] = [:]
        var sequences: [ReplicaID: Int64] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT sid, rid, oseq FROM _sync_replica") {
            let data: Data = row[1]
            guard let id = data.withUnsafeBytes({ ReplicaID(bytes: $0) }) else {
                throw SimulationViolation(.integrity, "a replica id has \(data.count) bytes")
            }
            replicas[row[0]] = id
            sequences[id] = row[2]
        }
        guard let own = replicas[state[0]] else {
            throw SimulationViolation(.integrity, "the store does not know its own replica")
        }
        replica = own
        self.replicas = replicas
        vector = VersionVector(sequences)
        var floor = VersionVector()
        for row in try Row.fetchAll(db, sql: "SELECT sid, oseq FROM _sync_floor") {
            guard let id = replicas[row[0]] else {
                throw SimulationViolation(.integrity, "the floor names a replica that is not known")
            }
            floor[id] = row[1]
        }
        self.floor = floor
        clock = state[1]
        folded = state[2]
        tables = Dictionary(
            try Row.fetchAll(db, sql: "SELECT tbl, name FROM _sync_table").map {
                ($0[0] as Int64, ($0[1] as String).identifierKey)
            }, uniquingKeysWith: { $1 })
        var names: [Int64: [Int: String]] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, col, name FROM _sync_column") {
            names[row[0], default: [:]][row[1]] = (row[2] as String).identifierKey
        }
        columnNames = names
        var parts: [String: VersionVector] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, sid, oseq FROM _sync_coverage") {
            guard let table = tables[row[0]], let id = replicas[row[1]] else {
                throw SimulationViolation(
                    .integrity, "what is known of a table names no table, or no replica")
            }
            parts[table, default: VersionVector()][id] = row[2]
        }
        self.parts = parts
        var partials: [String: Int64] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, revision FROM _sync_partial") {
            guard let table = tables[row[0]] else {
                throw SimulationViolation(.integrity, "a choice of rows names no table")
            }
            partials[table] = row[1]
        }
        self.partials = partials
    }

    /// What is known of a table beyond what is known of all.
    func part(of table: String) -> VersionVector? { parts[table] }

    /// Whether the store knows what the model expects, of all tables and of each.
    func knowsSame(as model: ModelReplica) -> Bool {
        guard vector == model.vector else { return false }
        return Set(parts.keys).union(model.parts.keys).subtracting(partials.keys).allSatisfy { table in
            var known = vector
            known.join(parts[table] ?? VersionVector())
            return known == model.vector(of: table)
        }
    }

    private func key(_ table: Int64, _ value: DatabaseValue) -> ModelKey {
        ModelKey(table: tables[table] ?? "?\(table)", key: ModelValue(value))
    }

    private func stamp(_ row: Row, _ index: Int) throws -> Stamp {
        guard let replica = replicas[row[index + 1]] else {
            throw SimulationViolation(.integrity, "a stamp names a replica that is not known")
        }
        return Stamp(
            timestamp: HybridTimestamp(rawValue: row[index]), replica: replica, sequence: row[index + 2])
    }

    /// Reads the versions of all rows.
    func versions(_ db: Database) throws -> [ModelKey: Version] {
        var versions: [ModelKey: Version] = [:]
        var keys: [Int64: (key: ModelKey, table: Int64)] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT r, tbl, pk, cl, hlc, sid, oseq FROM _sync_row") {
            let key = key(row[1], row.databaseValues[2])
            keys[row[0]] = (key, row[1])
            versions[key] = Version(life: row[3], base: try stamp(row, 4))
        }
        for row in try Row.fetchAll(db, sql: "SELECT r, col, hlc, sid, oseq FROM _sync_cell") {
            guard let (key, table) = keys[row[0]], let name = columnNames[table]?[row[1]] else {
                throw SimulationViolation(.integrity, "a cell is of no row or column")
            }
            versions[key]?.cells[name] = try stamp(row, 2)
        }
        return versions
    }

    /// Reads the entries of the log after a sequence.
    func entries(_ db: Database, after sequence: Int64) throws -> [ModelReplica.Entry] {
        let sql = "SELECT seq, tbl, op, pk, mask, ms FROM _sync_log WHERE seq > ? AND op <> 0 ORDER BY seq"
        return try Row.fetchAll(db, sql: sql, arguments: [sequence]).map { row in
            let operation: Int64 = row[2]
            let change: ModelReplica.Entry.Operation
            switch operation & 15 {
            case 1: change = .insert
            case 3: change = .delete
            case 2, 4:
                let mask: Int64 = row[4]
                let columns = (columnNames[row[1]] ?? [:]).filter { number, _ in
                    number / 60 == Int(operation >> 4) && mask >> Int64(number % 60) & 1 == 1
                }
                change = operation & 15 == 4 ? .rewrite(Set(columns.values)) : .update(Set(columns.values))
            default: throw SimulationViolation(.capture, "the log holds operation \(operation)")
            }
            return .init(
                sequence: row[0], key: key(row[1], row.databaseValues[3]), operation: change,
                milliseconds: row[5])
        }
    }

    /// Reads the rows that are not shown, or not whole: their values.
    func hiddenValues(_ db: Database) throws -> ModelRows {
        var rows: ModelRows = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, pk, col, val FROM _sync_shadow") {
            let table: Int64 = row[0]
            let name = columnNames[table]?[row[2]] ?? ""
            rows[key(table, row.databaseValues[1]), default: [:]][name] = ModelValue(row.databaseValues[3])
        }
        return rows
    }

    /// Reads the journal.
    func journal(_ db: Database) throws -> Set<Lost> {
        Set(
            try Row.fetchAll(db, sql: "SELECT tbl, pk, col, val, hlc, sid FROM _sync_conflict").map { row in
                let table: Int64 = row[0]
                return Lost(
                    key: key(table, row.databaseValues[1]), column: columnNames[table]?[row[2]] ?? "",
                    value: ModelValue(row.databaseValues[3]), timestamp: row[4],
                    replica: replicas[row[5]] ?? ReplicaID(high: 0, low: 0))
            })
    }
}
