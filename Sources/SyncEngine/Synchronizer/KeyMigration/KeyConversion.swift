import CipherStore
import Foundation
import SyncWire

/// Carries out a conversion, in the caller's transaction.
///
/// Each table that changes is made anew, as SQLite documents it
/// (<https://www.sqlite.org/lang_altertable.html#otheralter>), because no `ALTER TABLE` changes a key.
struct KeyConversion {
    let db: Database
    let migration: UUIDKeyMigration
    let environment: SyncEnvironment
    let progress: KeyProgress?

    private static let prefix = "_sync_before_"
    private static let function = "_sync_derived_key"

    /// Converts, and checks what came of it.
    func run() throws -> UUIDKeyPlan {
        let metadata = try StoreMetadata.load(db)
        let tracking = TableTracking(db: db, environment: environment)
        if metadata != nil {
            try FoldedStore.refresh(db, environment)
        }
        let plan = try KeyConversionPlanner(db: db, migration: migration).plan()
        try checkDependents(plan.summary.dependents)
        try convert(plan)
        try check(plan)
        if metadata == nil {
            try MetadataSchema.create(
                db, store: DerivedKey(namespace: plan.summary.namespace, table: "").key(of: []),
                replica: environment.identifier())
        } else {
            try followTracked(plan, tracking)
        }
        return plan.summary
    }

    private func checkDependents(_ dependents: [UUIDKeyPlan.Dependent]) throws {
        guard !dependents.isEmpty, !migration.acceptsDependents else { return }
        let list = dependents.map { "\($0.kind) \($0.name) \($0.reason)" }
        throw SyncError(
            .keysNotConvertible,
            ([
                "the keys can't be converted as long as these may depend on what the keys were; nothing was changed:"
            ]
                + list).joined(separator: "\n"))
    }

    // MARK: Tables

    private func convert(_ plan: KeyConversionPlan) throws {
        let names = plan.tables.map(\.table.name)
        let derivation = KeyDerivationFunction(name: Self.function, plan: plan, progress: progress)
        db.add(function: derivation.function)
        defer { db.remove(function: derivation.function) }
        let compilation = try SchemaCompilation(db, mentioning: names)
        // Otherwise newer libraries follow the new name of the old table in foreign keys, views and triggers.
        try db.withSetting("legacy_alter_table", isOn: true) {
            for table in plan.tables { try derivation.rethrowing { try convert(table, plan, derivation) } }
        }
        db.clearSchemaCache()
        let leftover = try String.fetchOne(
            db, sql: "SELECT name FROM main.sqlite_master WHERE instr(sql, ?)", arguments: [Self.prefix])
        if let leftover {
            throw SyncError(.keysNotConvertible, "\(leftover) still means the table as it was before")
        }
        try compilation.check(db, mentioning: names, change: "the conversion of keys")
    }

    private func convert(
        _ converted: KeyConversionPlan.ConvertedTable, _ plan: KeyConversionPlan,
        _ derivation: KeyDerivationFunction
    ) throws {
        let table = converted.table
        let old = (Self.prefix + table.name).quotedDatabaseIdentifier
        let text = ConvertedTableText(
            converted: converted, form: migration.keyForm, formerKeys: formerKeys(plan),
            literal: { try derivation.literal(db, $0, domain: $1) })
        let sql = try text.sql()
        // Those of the capture are made anew, for the metadata may have other columns then.
        let others = try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM main.sqlite_master WHERE lower(tbl_name) = lower(?) AND sql IS NOT NULL
                  AND type IN ('index', 'trigger') AND substr(name, 1, 6) <> '_sync_' ORDER BY type, rowid
                """, arguments: [table.name])
        try db.execute(sql: "ALTER TABLE main.\(table.name.quotedDatabaseIdentifier) RENAME TO \(old)")
        try db.execute(sql: sql)
        try db.execute(sql: insertion(converted, plan, from: "main." + old))
        try checkCount(table.name, old)
        try db.execute(sql: "DROP TABLE main.\(old)")
        for statement in others { try db.execute(sql: statement) }
    }

    private func formerKeys(_ plan: KeyConversionPlan) -> [String: [String]] {
        Dictionary(
            plan.tables.filter { $0.origin == .columns }.map {
                ($0.table.name.identifierKey, $0.table.key)
            },
            uniquingKeysWith: { first, _ in first })
    }

    private func checkCount(_ name: String, _ old: String) throws {
        let table = name.quotedDatabaseIdentifier
        let isSame = try Bool.fetchOne(
            db, sql: "SELECT (SELECT count(*) FROM main.\(table)) = (SELECT count(*) FROM main.\(old))")
        guard isSame == true else {
            throw SyncError(
                .keysNotConvertible, "not all rows of table \(name) were copied; nothing was changed")
        }
    }

    /// The statement that copies the rows. The conflict clause overrides those of the table's constraints,
    /// which might drop rows.
    private func insertion(
        _ converted: KeyConversionPlan.ConvertedTable, _ plan: KeyConversionPlan, from old: String
    ) -> String {
        let table = converted.table
        let rowid = table.rowIDName
        var columns: [(target: String, value: String)] = []
        if let rowid, !table.columns.isEmpty { columns.append((rowid, rowid)) }
        var key: String?
        for column in table.columns where !column.isGenerated {
            let name = column.name.quotedDatabaseIdentifier
            var value = name
            if let domain = converted.domains[column.name.identifierKey] {
                let isOwn =
                    converted.origin == .column && table.key[0].isSameIdentifier(as: column.name)
                value = isOwn ? call(domain, plan, [name], rowid: rowid) : reference(domain, plan, name)
            }
            if table.key.first?.isSameIdentifier(as: column.name) == true { key = name }
            columns.append((name, value))
        }
        if let newKey = converted.newKey {
            let parts = table.key.map { name -> String in
                let quoted = name.quotedDatabaseIdentifier
                let domain = converted.domains[name.identifierKey]
                return domain.map { reference($0, plan, quoted) } ?? quoted
            }
            columns.append(
                (
                    newKey.quotedDatabaseIdentifier,
                    call(table.name.identifierKey, plan, parts, rowid: rowid)
                ))
        }
        if let oldKey = converted.oldKey {
            columns.append((oldKey.name.quotedDatabaseIdentifier, key ?? rowid ?? "NULL"))
        }
        let order = rowid.map { " ORDER BY \($0)" } ?? ""
        return """
            INSERT OR ABORT INTO main.\(table.name.quotedDatabaseIdentifier) (\(columns.map(\.target).joined(separator: ", ")))
            SELECT \(columns.map(\.value).joined(separator: ", ")) FROM \(old)\(order)
            """
    }

    private func call(_ domain: String, _ plan: KeyConversionPlan, _ values: [String], rowid: String?)
        -> String
    {
        "\(Self.function)(\(([domain.sqlLiteral, rowid ?? "NULL"] + values).joined(separator: ", ")))"
    }

    /// The new key of the row that a value refers to, whether there is one or not.
    private func reference(_ domain: String, _ plan: KeyConversionPlan, _ value: String) -> String {
        let affinity = plan.derivations[domain]?.affinity ?? .blob
        return
            "CASE WHEN \(value) IS NULL THEN NULL ELSE \(call(domain, plan, [affinity.applied(to: value)], rowid: nil)) END"
    }

    // MARK: Afterwards

    private func check(_ plan: KeyConversionPlan) throws {
        let counts = try ForeignKeyViolations(db: db, tables: plan.tables.map(\.table.name)).counts
        guard counts == plan.summary.dangling else {
            throw SyncError(
                .keysNotConvertible,
                "the conversion would change which rows refer to which; nothing was changed")
        }
        let problems = try String.fetchAll(db, sql: "PRAGMA main.integrity_check")
        guard problems == ["ok"] else {
            throw SyncError(
                .keysNotConvertible,
                (["the check of the database found problems; nothing was changed:"] + problems.prefix(10))
                    .joined(
                        separator: "\n"))
        }
    }

    /// Tables that were tracked before refer to other values now. That is no edit by a user: another replica
    /// derives the same ones, and an edit made elsewhere wins.
    private func followTracked(_ plan: KeyConversionPlan, _ tracking: TableTracking) throws {
        let tracked = try SyncedTable.loadAll(db).filter(\.isTracked)
        for table in tracked {
            guard let converted = plan.tables.first(where: { $0.table.name.isSameIdentifier(as: table.name) })
            else { continue }
            try tracking.createTriggers(table)
            for column in table.presentColumns
            where converted.domains[column.name.identifierKey] != nil {
                try tracking.log(
                    table, ChangeLog.Operation.rewrite, of: column,
                    where: "\(column.name.quotedDatabaseIdentifier) IS NOT NULL")
            }
        }
        try FoldedStore.fold(db, environment)
    }
}

extension String {
    fileprivate var sqlLiteral: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
