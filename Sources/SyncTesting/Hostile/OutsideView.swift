import CipherStore
import SyncEngine
import SyncWire

/// What a device with bounds must not be able to change: rows that are not its own, and what is known of others.
struct OutsideView {
    private let rows: [String: [String]]
    private let versions: [String]
    private let known: [String: VersionVector]

    /// Looks at what is outside of a device's bounds.
    init(_ hub: HonestStore, _ bounds: AccessBounds, of device: HostileDevice) throws {
        let (own, greeting) = (
            try hub.synchronizer.identity().replica, try hub.synchronizer.localPeer.greet()
        )
        var known: [String: VersionVector] = [:]
        for table in try hub.trackedTables() {
            var vector = greeting.known(of: [table])
            // Constraints can make the server write something itself.
            for replica in [own, device.replica] { vector[replica] = 0 }
            known[table] = vector
        }
        self.known = known
        (rows, versions) = try hub.queue.read { db in
            let tables = try Row.fetchAll(
                db, sql: "SELECT tbl, name FROM _sync_table WHERE tracked = 1 ORDER BY tbl")
            var rows: [String: [String]] = [:]
            var versions: [String] = []
            for row in tables {
                let (number, name) = (
                    try row.decode(Int64.self, atIndex: 0), try row.decode(String.self, atIndex: 1)
                )
                let isOutside = bounds.tables?.contains(number) == false
                let bound = bounds.rows.first { $0.table == number }
                guard isOutside || bound != nil else { continue }
                if isOutside {
                    versions += try Self.versions(db, ofTable: number)
                }
                let quoted = name.quotedDatabaseIdentifier
                // What a row refers to can hide it.
                let refers = try Row.fetchOne(db, sql: "PRAGMA foreign_key_list(\(quoted))") != nil
                guard !refers else { continue }
                rows[name] = try Row.fetchAll(db, sql: "SELECT * FROM \(quoted)")
                    .filter { try isOutside || !Self.isInside($0, db, bound, number) }
                    .map(\.description).sorted()
            }
            return (rows, versions)
        }
    }

    private static func isInside(
        _ row: Row, _ db: Database, _ bound: AccessBounds.Rows?, _ table: Int64
    ) throws -> Bool {
        guard let bound else { return false }
        let column = try String.fetchOne(
            db, sql: "SELECT name FROM _sync_column WHERE tbl = ? AND col = ?",
            arguments: [table, bound.column])
        guard let column else { return false }
        let value: DatabaseValue = row[column]
        let scope: ScopeValue? =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .string(let text): .text(text)
            case .blob(let data): .blob(Array(data))
            case .double: nil
            }
        return scope.map(bound.values.contains) ?? false
    }

    /// What is known of the rows of a table, without what the server itself wrote.
    private static func versions(_ db: Database, ofTable number: Int64) throws -> [String] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT r.tbl, r.pk, r.cl, r.hlc, r.sid, r.oseq, c.col, c.hlc, c.sid, c.oseq
                FROM _sync_row AS r LEFT JOIN _sync_cell AS c ON c.r = r.r
                WHERE r.tbl = ? AND r.sid <> (SELECT self FROM _sync_state)
                ORDER BY r.pk, c.col
                """, arguments: [number]
        ).map(\.description)
    }

    /// Throws unless it is as it was.
    func requireKept(_ hub: HonestStore, _ device: HostileDevice) throws {
        guard let bounds = device.bounds else { return }
        let now = try OutsideView(hub, bounds, of: device)
        for table in Set(rows.keys).union(now.rows.keys).sorted() where rows[table] != now.rows[table] {
            let (before, after) = (Set(rows[table] ?? []), Set(now.rows[table] ?? []))
            throw SimulationViolation(
                .shownRows,
                "a device with bounds changed rows of \(table) that are not its own: \(before.subtracting(after).sorted()) became \(after.subtracting(before).sorted())"
            )
        }
        guard versions == now.versions else {
            throw SimulationViolation(.versions, "a device with bounds changed versions of other tables")
        }
        for table in Set(known.keys).union(now.known.keys).sorted() where known[table] != now.known[table] {
            throw SimulationViolation(
                .progress, "a device with bounds moved what is known of others in table \(table)")
        }
    }
}
