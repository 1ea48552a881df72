import Foundation

extension RecordPlan {
    /// The statement that inserts a record, whose primary key is completed.
    func insertion(
        _ db: Database, of container: inout PersistenceContainer, _ conflict: Database.ConflictResolution
    ) throws -> InsertPlan {
        let plan: InsertPlan
        if let lastInsert, lastInsert.fits(container, conflict) {
            plan = lastInsert
        } else {
            plan = try insertPlan(db, container, conflict)
            lastInsert = plan
        }
        switch plan.newKey {
        case .none: break
        case .append(let column):
            container.set(newKey(for: column), for: column)
        case .replaceNull(let position, let column):
            guard container.storage.nilUUIDs & 1 << UInt64(min(position, 63)) != 0,
                container.isNull(at: position)
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
        let columns = container.columns
        for plan in inserts where plan.conflict == conflict {
            guard plan.columns.areSameNames(as: columns) && !plan.statement.isInUse else { continue }
            plan.layout = container.storage.completedLayout ?? plan.layout
            return plan
        }
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
        let sql = insertSQL(written, conflict)
        let plan = InsertPlan(
            columns: columns, conflict: conflict, newKey: newKey, writtenColumns: written,
            statement: try db.makeStatement(sql: sql))
        // Records whose columns depend on their values must not fill the memory.
        if inserts.count >= 16 { inserts.removeLast() }
        inserts.insert(plan, at: 0)
        return plan
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
        return (plan.statement, plan.positions.map { container.value(at: $0) })
    }

    private func updatePlan(
        _ db: Database, _ container: PersistenceContainer, _ columns: Set<String>?, _ keyPositions: [Int],
        _ conflict: Database.ConflictResolution
    ) throws -> UpdatePlan {
        for plan in updates
        where plan.conflict == conflict && plan.updatedColumns == columns
            && plan.columns.areSameNames(as: container.columns) && !plan.statement.isInUse
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
        if isKeyHidden { return nil }
        var positions: [Int] = []
        var hasValue = false
        for column in primaryKey.columns {
            guard let position = container.index(of: column) else { return nil }
            if !container.isNull(at: position) { hasValue = true }
            positions.append(position)
        }
        return hasValue ? positions : nil
    }

    /// The statement that deletes the row of a key.
    func deletion(_ db: Database) throws -> Statement {
        if let deletion, !deletion.isInUse { return deletion }
        let statement = try db.makeStatement(
            sql: "DELETE FROM \(tableName.quotedDatabaseIdentifier) WHERE \(keyCondition)")
        deletion = statement
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
final class InsertPlan {
    let columns: [String]
    /// By which records are known that set these columns.
    @exclusivity(unchecked) var layout: ColumnLayout?
    let conflict: Database.ConflictResolution
    let newKey: NewKey
    /// The declared names of the columns, that of a new key included.
    let writtenColumns: [String]
    let statement: Statement

    init(
        columns: [String], conflict: Database.ConflictResolution, newKey: NewKey,
        writtenColumns: [String], statement: Statement
    ) {
        self.columns = columns
        self.conflict = conflict
        self.newKey = newKey
        self.writtenColumns = writtenColumns
        self.statement = statement
    }

    /// Whether it inserts records with the columns of a container, and is free.
    ///
    /// The statement is running when one of its SQL functions inserts.
    @inline(__always)
    func fits(_ container: PersistenceContainer, _ conflict: Database.ConflictResolution) -> Bool {
        guard let layout, container.storage.completedLayout === layout else { return false }
        return self.conflict == conflict && !statement.isInUse
    }
}

/// A statement that updates records with certain columns.
struct UpdatePlan {
    let columns: [String]
    let updatedColumns: Set<String>?
    let conflict: Database.ConflictResolution
    /// The positions of the arguments in the record's columns.
    let positions: [Int]
    let statement: Statement
}

extension Database.ConflictResolution {
    /// The clause after `INSERT` or `UPDATE`.
    var changeClause: String { self == .abort ? "" : " OR \(rawValue)" }
}

extension [String] {
    /// Returns whether names have the same bytes, one by one: Swift's `==` takes some for the same that SQLite does not.
    fileprivate func areSameNames(as other: [String]) -> Bool {
        guard count == other.count else { return false }
        // A list and its copies are in one place.
        let isCopy = withUnsafeBufferPointer { names in
            other.withUnsafeBufferPointer { names.baseAddress == $0.baseAddress }
        }
        if isCopy { return true }
        return zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}
