import Foundation

/// What a connection knows about the table of a record type, and the statements
/// that write such records.
///
/// It is made for the first record of the type, so that those after it are
/// written without a look at the schema and without making any SQL.
final class RecordPlan {
    let tableName: String
    let primaryKey: PrimaryKeyInfo

    /// The columns that the last record set: the next will likely set the same.
    private var layout: [String] = []
    private var spareStorage: PersistenceContainer.Storage?

    /// The declared names of the columns.
    private let columnNames: [String]
    /// The key column that gets a UUID when the record has no such column.
    private let generatedKeyColumn: String?
    /// How the record type stores UUIDs.
    private let uuidStrategy: (String) -> DatabaseUUIDEncodingStrategy
    /// Whether plain inserts can be `INSERT OR FAIL`.
    private let prefersOrFail: Bool

    private var inserts: [InsertPlan] = []
    private var updates: [UpdatePlan] = []
    private var deletion: KeyedStatement?

    init<Record: EncodableRecord & TableRecord>(_ db: Database, _ type: Record.Type) throws {
        tableName = type.databaseTableName
        primaryKey = try db.primaryKey(tableName)
        let columns = try db.columns(in: tableName)
        columnNames = columns.map(\.name)
        let key = primaryKey
        generatedKeyColumn =
            columns.first {
                !key.isRowID && key.columns.count == 1 && $0.name == key.columns[0] && $0.isUUID
            }?.name
        uuidStrategy = { type.databaseUUIDEncodingStrategy(for: $0) }
        prefersOrFail = try db.hasOnlyCaptureTriggers(tableName)
    }

    // MARK: Encoding

    /// Encodes a record.
    func encode(_ record: some EncodableRecord) throws -> PersistenceContainer {
        var container = takeContainer()
        try record.encode(to: &container)
        let storage = container.storage
        if !storage.followsExpectation || storage.values.count != layout.count { layout = storage.columns }
        return container
    }

    /// Returns an empty container, with the memory of the last one if nobody else has it.
    private func takeContainer() -> PersistenceContainer {
        guard isKnownUniquelyReferenced(&spareStorage), let storage = spareStorage.take() else {
            return PersistenceContainer(PersistenceContainer.Storage(expecting: layout))
        }
        storage.reset(expecting: layout)
        return PersistenceContainer(storage)
    }

    /// Keeps the memory of a container for the next record.
    func giveBack(_ container: PersistenceContainer) {
        spareStorage = container.storage
    }

    /// The declared name of a column.
    func declaredName(of column: String) -> String {
        columnNames.first { $0.isSameName(as: column) } ?? column
    }

    /// The values of the primary key, NULL for those that the record does not have.
    func key(of container: PersistenceContainer) -> [DatabaseValue] {
        primaryKey.columns.map { container.value(of: $0) ?? .null }
    }

    /// The primary key as a dictionary, for errors.
    func keyDictionary(of container: PersistenceContainer) -> [String: DatabaseValue] {
        Dictionary(zip(primaryKey.columns, key(of: container)), uniquingKeysWith: { first, _ in first })
    }

    func recordNotFound(_ container: PersistenceContainer) -> RecordError {
        .recordNotFound(databaseTableName: tableName, key: keyDictionary(of: container))
    }

    // MARK: Statements

    /// The statement that inserts a record, whose primary key is completed.
    func insertion(
        _ db: Database, of container: inout PersistenceContainer, _ conflict: Database.ConflictResolution
    ) throws -> InsertPlan {
        let plan = try insertPlan(db, container, conflict)
        switch plan.newKey {
        case .none: break
        case .append(let column):
            container.set(newKey(for: column), for: column)
        case .replaceNull(let position, let column):
            guard container.storage.nilUUIDs & 1 << UInt64(min(position, 63)) != 0,
                container.values[position].isNull
            else { break }
            container.set(newKey(for: column), for: column)
        }
        return plan
    }

    private func newKey(for column: String) -> DatabaseValue {
        uuidStrategy(column).databaseValue(of: UUID.v7())
    }

    private func insertPlan(
        _ db: Database, _ container: PersistenceContainer, _ conflict: Database.ConflictResolution
    ) throws -> InsertPlan {
        // OR FAIL would keep the row in an autocommitted statement that fails.
        let isOrFail = prefersOrFail && conflict == .abort && db.isInsideTransaction
        for plan in inserts where plan.conflict == conflict && plan.isOrFail == isOrFail {
            // The statement is running when one of its SQL functions inserts.
            if plan.columns == container.storage.columns && !plan.statement.isInUse { return plan }
        }
        let columns = container.columns
        var newKey = NewKey.none
        if !primaryKey.isRowID, primaryKey.columns.count == 1 {
            if let position = container.index(of: primaryKey.columns[0]) {
                newKey = .replaceNull(position: position, column: columns[position])
            } else if let generatedKeyColumn {
                newKey = .append(column: generatedKeyColumn)
            }
        }
        var written = columns.map(declaredName(of:))
        if case .append(let column) = newKey { written.append(column) }
        let sql = insertSQL(written, isOrFail ? .fail : conflict)
        let plan = InsertPlan(
            columns: columns, conflict: conflict, isOrFail: isOrFail, newKey: newKey, writtenColumns: written,
            statement: try db.makeStatement(sql: sql))
        remember(plan)
        return plan
    }

    private func remember(_ plan: InsertPlan) {
        // Records whose columns depend on their values must not fill the memory.
        if inserts.count >= 16 { inserts.removeLast() }
        inserts.insert(plan, at: 0)
    }

    func insertSQL(_ columns: [String], _ conflict: Database.ConflictResolution) -> String {
        let table = tableName.quotedDatabaseIdentifier
        let verb = "INSERT" + conflict.changeClause
        guard !columns.isEmpty else { return "\(verb) INTO \(table) DEFAULT VALUES" }
        let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ",")
        return "\(verb) INTO \(table) (\(names)) VALUES (\(marks))"
    }

    /// The statement that updates a record, or nil when the record has no primary key.
    ///
    /// - parameter columns: The columns to write, or nil for all.
    func update(
        _ db: Database, of container: PersistenceContainer, columns: Set<String>?,
        _ conflict: Database.ConflictResolution
    ) throws -> (statement: Statement, arguments: [DatabaseValue])? {
        guard let positions = keyPositions(in: container) else { return nil }
        let plan = try updatePlan(db, container, columns, positions, conflict)
        return (plan.statement, plan.positions.map { container.values[$0] })
    }

    private func updatePlan(
        _ db: Database, _ container: PersistenceContainer, _ columns: Set<String>?, _ keyPositions: [Int],
        _ conflict: Database.ConflictResolution
    ) throws -> UpdatePlan {
        for plan in updates
        where plan.conflict == conflict && plan.updatedColumns == columns && plan.columns == container.columns
            && !plan.statement.isInUse
        {
            return plan
        }
        let names = container.columns
        let isUpdated: (Int) -> Bool = { position in
            guard !keyPositions.contains(position) else { return false }
            guard let columns else { return true }
            return columns.contains { $0.isSameName(as: names[position]) }
        }
        var updated = names.indices.filter(isUpdated)
        // An update of nothing still tells whether there is a row.
        if updated.isEmpty { updated = keyPositions }
        let quoted = names.map { declaredName(of: $0).quotedDatabaseIdentifier }
        let sql =
            "UPDATE\(conflict.changeClause) \(tableName.quotedDatabaseIdentifier) SET "
            + updated.map { "\(quoted[$0])=?" }.joined(separator: ", ") + " WHERE "
            + keyPositions.map { "\(quoted[$0])=?" }.joined(separator: " AND ")
        let plan = UpdatePlan(
            columns: names, updatedColumns: columns, conflict: conflict, positions: updated + keyPositions,
            statement: try db.makeStatement(sql: sql))
        if updates.count >= 16 { updates.removeLast() }
        updates.insert(plan, at: 0)
        return plan
    }

    /// The positions of the primary key, or nil when the record has none or all of it is NULL.
    func keyPositions(in container: PersistenceContainer) -> [Int]? {
        var positions: [Int] = []
        var hasValue = false
        for column in primaryKey.columns {
            guard let position = container.index(of: column) else { return nil }
            if !container.values[position].isNull { hasValue = true }
            positions.append(position)
        }
        return hasValue ? positions : nil
    }

    /// The statement that deletes the row of a key.
    func deletion(_ db: Database) throws -> Statement {
        if let deletion, !deletion.statement.isInUse { return deletion.statement }
        let statement = try db.makeStatement(
            sql: "DELETE FROM \(tableName.quotedDatabaseIdentifier) WHERE \(keyCondition)")
        deletion = KeyedStatement(statement: statement)
        return statement
    }

    /// The condition that finds a row by its primary key.
    var keyCondition: String {
        primaryKey.columns.map { "\($0.quotedDatabaseIdentifier)=?" }.joined(separator: " AND ")
    }
}

/// How the primary key of a record without one is made.
enum NewKey {
    /// Not at all, or by SQLite.
    case none
    /// A UUID for a column that the record does not set.
    case append(column: String)
    /// A UUID for a column whose UUID is nil.
    case replaceNull(position: Int, column: String)
}

/// A statement that inserts records with certain columns.
struct InsertPlan {
    let columns: [String]
    let conflict: Database.ConflictResolution
    /// Whether it is `INSERT OR FAIL`, for speed.
    let isOrFail: Bool
    let newKey: NewKey
    /// The declared names of the columns, that of a new key included.
    let writtenColumns: [String]
    let statement: Statement
}

/// A statement that updates records with certain columns.
private struct UpdatePlan {
    let columns: [String]
    let updatedColumns: Set<String>?
    let conflict: Database.ConflictResolution
    /// The positions of the arguments in the record's columns.
    let positions: [Int]
    let statement: Statement
}

private struct KeyedStatement {
    let statement: Statement
}

extension Database.ConflictResolution {
    /// The clause after `INSERT` or `UPDATE`.
    var changeClause: String { self == .abort ? "" : " OR \(rawValue)" }
}

extension ColumnInfo {
    /// Whether the column is declared as one that has UUIDs, and makes none by itself.
    fileprivate var isUUID: Bool {
        defaultValueSQL == nil && ["blob", "uuid"].contains(type.lowercased())
    }
}

/// The plans of a connection.
final class RecordPlans {
    private var plans: [ObjectIdentifier: RecordPlan] = [:]
    private var last: (type: ObjectIdentifier, plan: RecordPlan)?

    /// Whether upserts and `RETURNING` are done by other statements. They are
    /// where the engine lacks one of the two.
    var emulatesReturning = !EngineFeatures.current.supportsReturning

    func plan<Record: EncodableRecord & TableRecord>(
        _ db: Database, for type: Record.Type
    ) throws -> RecordPlan {
        db.noticeSchemaChange()
        let identifier = ObjectIdentifier(type)
        if let last, last.type == identifier, last.plan.tableName == type.databaseTableName {
            return last.plan
        }
        var plan = plans[identifier]
        if plan == nil || plan?.tableName != type.databaseTableName { plan = try RecordPlan(db, type) }
        guard let plan else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        plans[identifier] = plan
        last = (identifier, plan)
        return plan
    }

    func removeAll() {
        plans.removeAll()
        last = nil
    }
}

extension Database {
    /// Whether a table has triggers, and all of them are those that capture changes.
    ///
    /// It is asked of the engines where a trigger makes each statement write a
    /// journal of its own, which `OR FAIL` spares.
    func hasOnlyCaptureTriggers(_ table: String) throws -> Bool {
        guard !EngineFeatures.current.supportsFormat4 else { return false }
        let names = try String.fetchAll(
            self,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                UNION ALL
                SELECT name FROM sqlite_temp_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                """, arguments: [table])
        return !names.isEmpty && names.allSatisfy { $0.hasPrefix("_sync_") }
    }
}

extension Database {
    /// Whether upserts and `RETURNING` are done by other statements, which
    /// tests force to compare the two.
    package var emulatesReturning: Bool {
        get { recordPlans.emulatesReturning }
        set { recordPlans.emulatesReturning = newValue }
    }
}
