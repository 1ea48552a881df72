import CipherStore
import SyncWire

/// Closes conflicts, and writes lost values.
struct ConflictResolver {
    let db: Database
    let now: Int64

    /// An entry of the journal.
    private struct Entry {
        let id: Int64
        let column: Int
        let life: Int64
    }

    func run(_ conflicts: [Conflict], _ choice: ConflictChoice) throws -> ConflictResolution {
        var result = ConflictResolution()
        let before = try Conflict.request(.open).fetchCount(db)
        switch choice {
        case .keepCurrent:
            try close(conflicts.map(\.id), .kept)
        case .restoreLost, .restoreKnown:
            let tables = try SyncedTable.loadAll(db)
            var rows: [[DatabaseValue]: [Conflict]] = [:]
            for conflict in conflicts {
                rows[[conflict.table.databaseValue, conflict.key], default: []].append(conflict)
            }
            // In the order in which the conflicts were found, parents mostly before children.
            for row in rows.values.sorted(by: { $0.map(\.id).min() ?? 0 < $1.map(\.id).min() ?? 0 }) {
                guard let conflict = row.first,
                    let table = tables.first(where: { $0.name.isSameIdentifier(as: conflict.table) })
                else { continue }
                try restore(row, table, conflict.key, isPartial: choice == .restoreKnown, &result)
            }
            var open = 0
            for ids in Self.portions(conflicts.map(\.id)) {
                open += try Conflict.request(ConflictFilter(ids: ids)).fetchCount(db)
            }
            result.remainingCount = open
        }
        try ConflictJournal.closeRests(db, at: now)
        result.resolvedCount = before - (try Conflict.request(.open).fetchCount(db))
        return result
    }

    private func restore(
        _ conflicts: [Conflict], _ table: SyncedTable, _ key: DatabaseValue, isPartial: Bool,
        _ result: inout ConflictResolution
    ) throws {
        guard table.isTracked else {
            throw unrestorable(table, key, "the table is not here; create it and track it first")
        }
        let match = table.keyMatch("?1")
        let isThere = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM \(table.qualifiedName) WHERE \(match))", arguments: [key])
        let present = Dictionary(
            table.presentColumns.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        var shown: Row?
        var ids = conflicts.map(\.id)
        if isThere == true {
            shown = try Row.fetchOne(
                db, sql: "SELECT * FROM \(table.qualifiedName) WHERE \(match)", arguments: [key])
        } else {
            try requireDeleted(table, key)
            let life = conflicts.map(\.life).max() ?? 0
            try journalRest(of: conflicts, table, key, life)
            ids = try self.ids(table, key, life)
        }
        let entries = try newest(ids)
        let values = try values(entries, table, present, shown, key)
        guard isThere == true else {
            if !isPartial { try requireWhole(entries, conflicts, table, present, key) }
            try insert(values, table, key)
            result.restoredRowCount += 1
            result.restoredValueCount += values.count
            return try close(values.flatMap(\.ids), .restored)
        }
        guard !values.isEmpty else {
            throw unrestorable(table, key, "the column is not here; add it first")
        }
        let assignments = values.map { "\($0.column.quotedDatabaseIdentifier) = \($0.sql)" }
        try write(
            table, key,
            "UPDATE \(table.qualifiedName) SET \(assignments.joined(separator: ", ")) WHERE \(match)")
        result.restoredValueCount += values.count
        try close(values.flatMap(\.ids), .restored)
    }

    /// A value to write, and the conflicts that it restores.
    private struct Value {
        let column: String
        let sql: String
        let ids: [Int64]
    }

    /// The values of columns that are here. What replicas had added to a counter is added
    /// to what it shows, or to the base that it had in the row that was deleted.
    private func values(
        _ entries: [Entry], _ table: SyncedTable, _ present: [Int: String], _ shown: Row?,
        _ key: DatabaseValue
    ) throws -> [Value] {
        let separate = try SeparateColumns.loadAll(db)[table.number]
        let groups = Dictionary(grouping: entries) { separate?.shown(for: $0.column) ?? $0.column }
        return try groups.sorted { $0.key < $1.key }.compactMap { (column, entries) -> Value? in
            guard let name = present[column] else { return nil }
            let base = entries.first { $0.column == column }
            let shares = entries.filter { $0.column != column }
            guard !shares.isEmpty else {
                return base.map { Value(column: name, sql: value($0), ids: [$0.id]) }
            }
            let current: DatabaseValue? = shown?[name]
            let start: DatabaseValue = try base.map { try lost($0) } ?? current ?? 0.databaseValue
            guard case .int64(var sum) = start.storage else {
                throw unrestorable(table, key, "\(name) is no integer, so nothing can be added to it")
            }
            for share in shares {
                if case .int64(let number) = try lost(share).storage { sum &+= number }
            }
            return Value(column: name, sql: "\(sum)", ids: entries.map(\.id))
        }
    }

    private func lost(_ entry: Entry) throws -> DatabaseValue {
        try DatabaseValue.fetchOne(
            db, sql: "SELECT val FROM _sync_conflict WHERE id = ?", arguments: [entry.id]) ?? .null
    }

    /// Throws when a row that is not in its table waits for its place: its values are known, and nothing of it is lost.
    private func requireDeleted(_ table: SyncedTable, _ key: DatabaseValue) throws {
        let lesser = "'\(KeptReason.dropped)', '\(KeptReason.noColumn)'"
        let why = try String.fetchOne(
            db,
            sql: """
                SELECT s.why FROM _sync_shadow AS s JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk AND r.cl & 1
                WHERE s.tbl = ? AND s.pk = ? ORDER BY s.why IN (\(lesser)) LIMIT 1
                """, arguments: [table.number, key])
        guard let why else { return }
        throw SyncError(
            .parkedRow,
            """
            row \(RowKeyText.text(key)) of \(table.name) is not deleted: it is parked until it can be written, so values of it can't be \
            restored now; what stands against it: \(why)
            """)
    }

    private func insert(_ values: [Value], _ table: SyncedTable, _ key: DatabaseValue) throws {
        let names = ([table.key] + values.map(\.column)).map(\.quotedDatabaseIdentifier)
        try write(
            table, key,
            """
            INSERT INTO \(table.qualifiedName) (\(names.joined(separator: ", ")))
            VALUES (\((["?1"] + values.map(\.sql)).joined(separator: ", ")))
            """)
    }

    /// The value goes from table to table in SQL, so that every byte of it stays.
    private func value(_ entry: Entry) -> String {
        "(SELECT val FROM _sync_conflict WHERE id = \(entry.id))"
    }

    private func write(_ table: SyncedTable, _ key: DatabaseValue, _ sql: String) throws {
        do {
            try db.execute(sql: sql, arguments: [key])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw unrestorable(table, key, error.message ?? "a constraint stands against it")
        }
    }

    private func unrestorable(_ table: SyncedTable, _ key: DatabaseValue, _ why: String) -> SyncError {
        SyncError(
            .unrestorable,
            "row \(RowKeyText.text(key)) of \(table.name) can't be restored: \(why)")
    }

    /// What the journal has of a row. Values of which somebody kept the winner belong to the row, too:
    /// what won against them was its deletion.
    private func ids(_ table: SyncedTable, _ key: DatabaseValue, _ life: Int64) throws -> [Int64] {
        try Int64.fetchAll(
            db, sql: "SELECT id FROM _sync_conflict WHERE tbl = ? AND pk = ? AND life = ? AND col >= 0",
            arguments: [table.number, key, life])
    }

    /// Puts what was kept of the row into the journal, where it is not there yet.
    private func journalRest(
        of conflicts: [Conflict], _ table: SyncedTable, _ key: DatabaseValue, _ life: Int64
    ) throws {
        let row = try Int64.fetchOne(
            db, sql: "SELECT r FROM _sync_row WHERE tbl = ? AND pk = ?", arguments: [table.number, key])
        guard let row, let conflict = conflicts.first, try db.tableExists("_sync_last") else { return }
        let separate = try SeparateColumns.loadAll(db)[table.number]
        for (column, value) in try LastRows(db).values(row: row, life: life, separate)
        where separate?.shown(for: column) == nil {
            try ConflictJournal.appendRest(db, value.value, column: column, beside: conflict.id, at: now)
        }
    }

    /// Throws when some values of a row that is to be inserted are not known: NULL in their place would go to
    /// all replicas.
    private func requireWhole(
        _ entries: [Entry], _ conflicts: [Conflict], _ table: SyncedTable, _ present: [Int: String],
        _ key: DatabaseValue
    ) throws {
        let known = Set(entries.map(\.column))
        let missing = present.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        guard !missing.isEmpty else { return }
        let others = Set(conflicts.filter { !$0.origin.isLocal }.map(\.origin.replica.shortDescription))
        let place =
            others.isEmpty
            ? ""
            : "; the whole row may be in the conflicts of replica \(others.sorted().joined(separator: ", "))"
        throw SyncError(
            .incompleteRow,
            """
            row \(RowKeyText.text(key)) of \(table.name) can't be restored as a whole: its \
            \(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not known here\(place)
            """)
    }

    /// The newest of the lost values of each column.
    private func newest(_ ids: [Int64]) throws -> [Entry] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT j.id, j.col, j.life FROM _sync_conflict AS j JOIN _sync_replica AS p ON p.sid = j.sid
                WHERE j.id IN (\(ids.map { String($0) }.joined(separator: ", ")))
                ORDER BY j.col, j.life, j.hlc, p.rid, j.id
                """)
        var entries: [Int: Entry] = [:]
        for row in rows {
            let entry = Entry(
                id: try row.decode(atIndex: 0), column: try row.decode(atIndex: 1),
                life: try row.decode(atIndex: 2))
            entries[entry.column] = entry
        }
        return entries.values.sorted { $0.column < $1.column }
    }

    private func close(_ ids: [Int64], _ resolution: Conflict.Resolution) throws {
        for ids in Self.portions(ids) {
            try ConflictJournal.close(db, ids, resolution, at: now)
        }
    }

    /// The length of a statement is limited.
    private static func portions(_ ids: [Int64]) -> [[Int64]] {
        stride(from: 0, to: ids.count, by: 5000).map { Array(ids[$0..<min($0 + 5000, ids.count)]) }
    }
}
