import CipherStore
import SyncWire

/// Chooses the rows of tables that this store holds.
///
/// It is one choice for the whole store, whichever remote it is made for: were rows of another
/// remote here as well, nobody could say what their absence means.
struct RowChoice {
    let db: Database

    /// The most values of one table.
    private static let valueCountMax = WireLimits().scopeValueCountMax

    /// Chooses rows for a remote. Tables that had a choice for it, and have none now, get all rows again.
    ///
    /// - throws: ``SyncError``: `noSuchTable`; `unsuitableScope` for a column or values that rows can't be
    ///   chosen by, or a choice that another remote has.
    func set(_ scope: SyncScope, of remote: String) throws {
        let metadata = try StoreMetadata.require(db)
        var chosen: Set<Int64> = []
        for rows in scope.rows {
            let table = try ScopeStore(db: db).resolve([rows.table])[0]
            if let names = scope.tableNames,
                !names.contains(where: { $0.isSameIdentifier(as: rows.table) })
            {
                throw SyncError(
                    .unsuitableScope, "rows of table \(rows.table) were chosen, and the table itself was not")
            }
            try set(rows, table, remote, metadata)
            chosen.insert(table.number)
        }
        for partial in try PartialTable.loadAll(db, metadata).values
        where partial.remote == remote && !chosen.contains(partial.number) {
            try wantEverything(partial, metadata)
        }
    }

    private func set(
        _ rows: SyncScope.Rows, _ table: SyncedTable, _ remote: String, _ metadata: StoreMetadata
    ) throws {
        let coverage = try Coverage.load(db, metadata)
        // A table that another program dropped is known by the rows that are wanted of it.
        let isLost = table.place == .elsewhere && coverage.partials[table.number] != nil
        let column = try column(rows, table, isLost: isLost)
        let values = Set(rows.values)
        guard let partial = coverage.partials[table.number] else {
            return try begin(table, column, values, remote, coverage)
        }
        let isEqual = partial.column == column && partial.wanted == values && !partial.wantsEverything
        // Nobody chose anything of a table that was lost as a whole.
        guard partial.remote == remote || partial.remote.isEmpty || isEqual else {
            throw SyncError(
                .unsuitableScope,
                """
                a store holds one choice of rows of a table, and that of \(table.name) was made for the remote \
                \(partial.remote): change it there
                """)
        }
        guard !isEqual else { return }
        // Of rows that are chosen by another column, nothing is said yet, unless all are here.
        let held =
            partial.isWhole ? values : partial.column == column ? partial.held.intersection(values) : []
        try partial.choose(db, column: column, values: values, held: held, remote: remote)
    }

    /// The number of a scope column.
    ///
    /// - parameter isLost: Whether the table was here, and its rows are to come back.
    /// - throws: ``SyncError`` of code `unsuitableScope` for a column or values that rows can't be chosen by.
    func column(_ rows: SyncScope.Rows, _ table: SyncedTable, isLost: Bool = false) throws -> Int {
        let name = "\(table.name).\(rows.column)"
        guard rows.column.identifierKey != table.key.identifierKey else {
            throw SyncError(
                .unsuitableScope,
                "\(name) is the key of its table, which rows can't be chosen by: choose another column")
        }
        let column = table.columns.first {
            $0.name.isSameIdentifier(as: rows.column) && ($0.isPresent || isLost)
        }
        guard let column, table.isTracked || isLost else {
            throw SyncError(
                .unsuitableScope, "there is no column \(name) here, so no rows can be chosen by it")
        }
        let policy = try PolicyStore.loadAll(db).first {
            $0.table == table.number && $0.column == column.number
        }
        if let policy, policy.policy.kind != .lastWriter {
            throw SyncError(
                .unsuitableScope, "\(name) is merged by a policy of its own, so rows can't be chosen by it")
        }
        guard (1...Self.valueCountMax).contains(rows.values.count) else {
            throw SyncError(
                .unsuitableScope,
                "the rows of \(table.name) are chosen by 1 to \(Self.valueCountMax) values, and \(rows.values.count) were given"
            )
        }
        try requireStorable(rows, column, table)
        return column.number
    }

    /// Refuses numbers for a column that makes floating-point numbers of them: no row would ever have such a value.
    private func requireStorable(
        _ rows: SyncScope.Rows, _ column: SyncedTable.Column, _ table: SyncedTable
    ) throws {
        guard column.isPresent,
            try ColumnAffinity.loadAll(db, table: table.name)[column.name.identifierKey] == .real,
            rows.values.contains(where: { $0.withWireValue { ColumnAffinity.real.mayConvert($0) } })
        else { return }
        throw SyncError(
            .unsuitableScope,
            """
            \(table.name).\(column.name) is a REAL column, which makes 5.0 of 5, and rows can't be chosen by floating-point \
            numbers: choose another column
            """)
    }

    /// All rows are here, as far as they are known.
    private func begin(
        _ table: SyncedTable, _ column: Int, _ values: Set<ScopeValue>, _ remote: String, _ coverage: Coverage
    ) throws {
        try PartialTable.begin(db, table.number, column: column, values: values, remote: remote)
        var known = coverage[table.number].known
        let metadata = try StoreMetadata.require(db)
        // Own changes are those that nobody needs to have yet.
        known[try metadata.replicaID()] = 0
        guard let partial = try PartialTable.loadAll(db, metadata)[table.number] else { return }
        try partial.raise(db, since: known, seen: known)
        try Coverage.remove(db, ofTable: table.number)
    }

    /// All rows are wanted again. They may still be here, as of what is known of all tables.
    private func wantEverything(_ partial: PartialTable, _ metadata: StoreMetadata) throws {
        guard partial.isWhole, partial.known.covers(metadata.vector) else {
            return try partial.setWantsEverything(db)
        }
        try PartialTable.remove(db, partial.number)
        let coverage = try Coverage.load(db, metadata)
        try Coverage.raise(
            db, partial.number, to: Coverage.Part(known: partial.known, floor: coverage.whole.floor))
    }
}
