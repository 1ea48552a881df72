import CipherStore
import SyncWire

/// Holds a device to its rows while a bundle of it is applied, in the bundle's transaction.
///
/// What counts is what becomes of a row here, and not what the bundle says of it: the value of the scope column before
/// and after, as others read it, with defaults, conversions and waiting values. So there is nothing in a bundle that
/// has to be understood twice. A row that is elsewhere is not to be written to; a row may end nowhere else.
final class UploadedRows {
    private let db: Database
    private let access: DeviceAccess
    private let shape: BoundedShape
    private var versions: VersionTable?
    /// Whether the row that is being applied is one that the device may not write to.
    private var isOutside = false
    private var refusal: SyncError?

    /// Remembers how the tables are, before a bundle can change that.
    init(_ db: Database, _ access: DeviceAccess) throws {
        self.db = db
        self.access = access
        shape = try BoundedShape(db, access)
    }

    /// Begins with the rows, once the tables of the bundle are matched with those here.
    func begin(_ versions: VersionTable) throws {
        self.versions = versions
        try shape.requireKept(db)
    }

    /// Looks at a row before something is done to it.
    func before(_ table: AppliedTable, _ key: RowKey) throws {
        isOutside = false
        guard let bound = access.rows[table.table.number] else { return }
        isOutside = try !isAbsentOrInside(table, key, bound)
    }

    /// Throws when a device with bounds brings a change in the name of another replica that is not here, or uses a row's
    /// lives up.
    ///
    /// What others wrote it has from here, so nothing of theirs can be newer than what is here.
    ///
    /// - parameter isForgotten: Whether the row, if it is not here, was deleted.
    func checkAuthors(
        of change: RowChange, sender: ReplicaID, _ table: AppliedTable, _ key: RowKey,
        isForgotten: Bool
    ) throws {
        let local = try versions?.load(table.table.number, key)?.version
        guard change.life <= (local?.life ?? 0).addingSaturated(Self.livesMax) else {
            throw SyncError(
                .outsideScope,
                "the bundle has a row of table \(table.table.name) in life \(change.life), which no device reaches"
            )
        }
        let foreign =
            ([change.base].compactMap { $0 }.map { (column: Int?.none, stamp: $0) }
            + change.writes.map { (column: Int?.some($0.key), stamp: $0.value.stamp) })
            .filter { $0.stamp.replica != sender }
        guard !foreign.isEmpty else { return }
        let isOurs = foreign.allSatisfy { write in
            guard let local else { return isForgotten }
            guard change.life == local.life else { return change.life < local.life }
            let known = write.column.map { local.stamp(ofColumn: $0) } ?? local.base
            return known == write.stamp || known.isNewer(than: write.stamp)
        }
        guard isOurs else {
            throw SyncError(
                .outsideScope,
                """
                the bundle has a change of table \(table.table.name) by another replica than the device's, which is not \
                known here; that replica has to be synchronized with the server first
                """)
        }
    }

    /// A change without the values that contradict what is here under the same stamp: of one write there is one value,
    /// and where a device brings another one, the one here stands.
    ///
    /// - parameters:
    ///     - known: The last change of the device that is known here.
    ///     - isRepair: Whether the bundle repairs a divergence, and so brings what is known.
    /// - throws: ``SyncError`` of code `outsideScope` when the device uses a number a second time, for something newer
    ///   than what is here: nobody who knows that number would ever get it.
    func withoutContradictions(
        _ change: RowChange, beside local: RowVersion?, knownUpTo known: Int64, sender: ReplicaID,
        isRepair: Bool, _ table: AppliedTable
    ) throws -> RowChange {
        guard let local, change.life >= local.life else { return change }
        func requireNew(_ stamp: Stamp, beside own: Stamp) throws {
            guard !isRepair, stamp.replica == sender, stamp.sequence <= known,
                change.life > local.life || stamp.isNewer(than: own)
            else { return }
            throw SyncError(
                .outsideScope,
                """
                the bundle has change \(stamp.sequence) of the device in table \(table.table.name), which is known here, \
                as something else
                """)
        }
        if let base = change.base { try requireNew(base, beside: local.base) }
        guard change.isAlive, local.isAlive, change.life == local.life else { return change }
        var change = change
        for (column, write) in change.writes {
            let own = local.stamp(ofColumn: column)
            try requireNew(write.stamp, beside: own)
            // In a repair, its own writes are compared as everybody's are.
            guard write.stamp.isSameWrite(as: own), !isRepair || write.stamp.replica != sender else {
                continue
            }
            if let value = local.values[column], value.compare(write.value) != 0 {
                change.writes[column] = nil
            }
        }
        return change
    }

    /// How many lives a row can begin and end between two synchronizations of a device.
    private static let livesMax: Int64 = 1 << 20

    /// Throws when something would be done to a row that the device may not write to.
    ///
    /// - parameter plan: What would be done; nil when it is kept beside the row.
    func check(_ plan: MergePlan?, beside local: RowVersion?, _ table: AppliedTable, _ key: RowKey) throws {
        guard isOutside, let bound = access.rows[table.table.number] else { return }
        // What others wrote, and this store sent the device itself, can come back.
        if let plan, let local, plan.action == .keep, plan.conflicts.isEmpty, plan.life == local.life,
            plan.base.isSameWrite(as: local.base), plan.cells.keys == local.cells.keys,
            plan.cells.allSatisfy({ local.cells[$0.key]?.isSameWrite(as: $0.value) == true })
        {
            return
        }
        try refuse(
            table, key,
            """
            the bundle writes to row \(Self.text(key)) of table \(bound.table.name), whose value of column \
            \(bound.column.name) is none of this device's by now
            """)
    }

    /// Looks at a row after something was done to it.
    func after(_ table: AppliedTable, _ key: RowKey) throws {
        guard !isOutside, let bound = access.rows[table.table.number] else { return }
        guard try isAbsentOrInside(table, key, bound) else {
            return try refuse(
                table, key,
                """
                the bundle gives row \(Self.text(key)) of table \(bound.table.name) a value of column \
                \(bound.column.name) that is none of this device's
                """)
        }
    }

    /// Throws when there was anything that the device may not do, with all rows: it can send the others then.
    func finish() throws {
        if let refusal { throw refusal }
    }

    /// Notes a row. All is undone at the end.
    private func refuse(_ table: AppliedTable, _ key: RowKey, _ message: String) throws {
        var refusal = self.refusal ?? SyncError(.outsideScope, message)
        let key = StateRowKey(bytes: Array(key.bytes), isText: key.isText)
        let name = table.givenName
        if let index = refusal.rows.firstIndex(where: { $0.table[0].isSameIdentifier(as: name) }) {
            if refusal.rows[index].keys.last != key { refusal.rows[index].keys.append(key) }
        } else {
            refusal.rows.append(StateRows(table: [name], keys: [key]))
        }
        self.refusal = refusal
        if refusal.rows.reduce(0, { $0 + $1.keys.count }) >= Self.refusedRowCountMax { throw refusal }
    }

    /// So many rows are named at once.
    private static let refusedRowCountMax = 1_000

    /// The key, which the device named itself.
    private static func text(_ key: RowKey) -> String { RowKeyText.text(key.value.databaseValue) }

    private func isAbsentOrInside(
        _ table: AppliedTable, _ key: RowKey, _ bound: DeviceAccess.Rows
    ) throws -> Bool {
        guard let local = try versions?.load(table.table.number, key), local.version.isAlive else {
            return true
        }
        let reader = table.reader
        try reader.load(key: key, hasParkedValues: true)
        defer { reader.finish() }
        let ordinal = table.table.columns.firstIndex { $0.number == bound.column.number }
        let value = ordinal.map { reader.hasValue($0) ? reader.value($0) : .null } ?? .null
        return ScopeValue(value).map(bound.values.contains) ?? false
    }
}

/// What the metadata says of tables of which a device may exchange some rows: names, columns and policies, which
/// concern all rows, and are not for the device to change. It may add columns.
///
/// Names are compared by their bytes: Swift takes an "é" of one code point and one of two for the same text.
private struct BoundedShape {
    private struct Column: Hashable {
        let number: Int
        let name: [UInt8]
        let isPresent: Bool
        let policy: [UInt8]?
        let counter: Int?
    }

    private struct Table {
        let name: String
        let names: Set<[UInt8]>
        let columns: Set<Column>
    }

    private let access: DeviceAccess
    private let tables: [Int64: Table]

    init(_ db: Database, _ access: DeviceAccess) throws {
        self.access = access
        tables = try Self.load(db, access)
    }

    private static func load(_ db: Database, _ access: DeviceAccess) throws -> [Int64: Table] {
        let policies = try PolicyStore.loadAll(db)
        var tables: [Int64: Table] = [:]
        for table in try SyncedTable.loadAll(db) where access.rows[table.number] != nil {
            let names = try Row.fetchAll(
                db, sql: "SELECT col, name FROM _sync_alias WHERE tbl = ?", arguments: [table.number]
            ).map {
                Array("\(try $0.decode(Int.self, atIndex: 0)) \(try $0.decode(String.self, atIndex: 1))".utf8)
            }
            var counters: [Int: Int] = [:]
            for row in try Row.fetchAll(
                db, sql: "SELECT col, counter FROM _sync_share WHERE tbl = ?", arguments: [table.number])
            {
                counters[try row.decode(atIndex: 0)] = try row.decode(Int.self, atIndex: 1)
            }
            let columns = table.columns.map { column -> Column in
                let policy = policies.first { $0.table == table.number && $0.column == column.number }?.policy
                return Column(
                    number: column.number, name: Array(column.name.utf8), isPresent: column.isPresent,
                    policy: policy.map { Self.bytes($0.kind) }, counter: counters[column.number])
            }
            tables[table.number] = Table(name: table.name, names: Set(names), columns: Set(columns))
        }
        return tables
    }

    func requireKept(_ db: Database) throws {
        guard !tables.isEmpty else { return }
        let now = try Self.load(db, access)
        for (number, before) in tables {
            if let after = now[number], after.name.hasSameBytes(as: before.name),
                after.names == before.names,
                after.columns.isSuperset(of: before.columns), addsNothingElse(before, after)
            {
                continue
            }
            throw SyncError(
                .outsideScope,
                """
                the bundle renames table \(before.name) or one of its columns, or changes how one is merged; a device that \
                may exchange some rows of it can't do that, so do it at the server first
                """)
        }
    }

    /// What tells a policy from others, with the name of a function that merges.
    private static func bytes(_ kind: ColumnPolicy.Kind) -> [UInt8] { Array("\(kind)".utf8) }

    /// New columns can be shares of counters that there are.
    private func addsNothingElse(_ before: Table, _ after: Table) -> Bool {
        let known = Set(before.columns.map(\.number))
        let counter = Self.bytes(.counter)
        let counters = Set(before.columns.filter { $0.policy == counter }.map(\.number))
        return after.columns.subtracting(before.columns).allSatisfy { column in
            column.counter.map { counters.contains($0) || !known.contains($0) } ?? true
        }
    }
}
