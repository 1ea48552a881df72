import CipherStore
import SyncWire

/// Writes rows into the user's tables, and parks what can't be written.
///
/// A row that a constraint refuses is hidden whole. Whether it stays so is found out
/// at the end of the application, when all rows are there (see ``Settlement``).
struct RowWriter {
    let parking: Parking

    /// Plans the default of each column that goes back to it: of a row that its table shows, by
    /// a write, of another one, by forgetting the value that waits.
    func reset(_ plan: inout MergePlan, _ table: AppliedTable, _ key: RowKey) throws {
        guard !plan.resets.isEmpty else { return }
        assert(plan.action == .update)
        try parking.forget(table.table.number, key, plan.resets)
        guard try table.hasRow(key) else { return }
        for column in plan.resets where table.presentNames[column] != nil {
            plan.writes[column] = try table.defaultValue(ofColumn: column)
        }
    }

    /// Carries out what was planned for a row.
    func carryOut(_ plan: MergePlan, _ table: AppliedTable, _ key: RowKey) throws {
        assert(plan.writesRow || plan.writes.isEmpty, "values would be lost that are to be written")
        switch plan.action {
        case .keep:
            break
        case .delete:
            try parking.remove(table.table.number, key)
            try table.delete(key)
        case .replace:
            try parking.remove(table.table.number, key)
            try table.delete(key)
            try write(plan.writes, table, key)
        case .insert, .update:
            try write(plan.writes, table, key)
        }
    }

    /// Writes values into the user's table; what can't be written is parked.
    func write(_ values: [Int: WireValue], _ table: AppliedTable, _ key: RowKey) throws {
        let absent = values.filter { table.presentNames[$0.key] == nil }
        if table.table.hasRows {
            try writePresent(values, table, key)
        } else if absent.isEmpty, try !parking.isInUse || parking.values(table.table.number, key).isEmpty {
            // Of a row without values, nothing else would say that it waits for its table.
            try parking.park(table.table.number, key, [:], why: Self.reason(table))
        }
        if !absent.isEmpty { try park(absent, table, key) }
    }

    /// Writes the values that have a column here.
    private func writePresent(
        _ values: [Int: WireValue], _ table: AppliedTable, _ key: RowKey
    ) throws {
        let number = table.table.number
        let parked = parking.isInUse ? try parking.values(number, key) : [:]
        var all = parked.mapValues(\.value)
        all.merge(values) { _, new in new }
        let names = table.presentNames
        let present = all.filter { names[$0.key] != nil }
        let isInTable = try table.hasRow(key)
        // A row of which no value has a column here is in its table with defaults: it may have come before its columns went.
        // What is kept of a dropped table has none.
        let isMissing = table.table.isTracked && !isInTable
        guard !present.isEmpty || names.isEmpty || all.isEmpty || isMissing else { return }
        let columns = present.sorted { $0.key < $1.key }.map { (name: names[$0.key] ?? "", value: $0.value) }
        let failure =
            try isInTable
            ? (columns.isEmpty ? nil : table.update(key, columns)) : table.insert(key, columns)
        if let failure {
            try parking.hide(table, key, present, because: failure)
        } else if !parked.isEmpty || (present.isEmpty && parking.isInUse) {
            try parking.remove(number, key, columns: Array(present.keys))
        }
        withExtendedLifetime(parked) {}
    }

    /// Parks values that have no column here.
    private func park(_ values: [Int: WireValue], _ table: AppliedTable, _ key: RowKey) throws {
        let dropped =
            table.table.place == .dropped
            ? values : values.filter { table.droppedColumns.contains($0.key) }
        if !dropped.isEmpty {
            try parking.park(table.table.number, key, dropped, why: KeptReason.dropped)
        }
        let others = values.filter { dropped[$0.key] == nil }
        if !others.isEmpty {
            try parking.park(table.table.number, key, others, why: Self.reason(table))
        }
    }

    /// Why what comes for a table waits that has no place there.
    private static func reason(_ table: AppliedTable) -> String {
        if table.table.place == .dropped { return KeptReason.dropped }
        return table.table.isTracked ? KeptReason.noColumn : KeptReason.noTable
    }
}
