import CipherStore
import SyncWire

/// A table of a bundle, matched with the local one (see ``NameMatching``).
final class AppliedTable {
    let table: SyncedTable
    /// The local column number of each column of the bundle.
    let columnNumbers: [Int]
    /// Inserts a row of which the bundle gives every column.
    let wholeInsert: Statement?
    /// For each column of the bundle, the parameter of `wholeInsert`, or 0.
    let insertParameters: [CInt]
    /// Reads the row that is there.
    let reader: ExportedTable
    /// Whether the bundle calls each of its columns by the name that it has here.
    let hasOwnName: [Bool]
    /// What the bundle calls the table.
    let givenName: String
    /// Whether two columns of the bundle are one here.
    let namesColumnsTwice: Bool
    /// Whether every column of the bundle exists here.
    let knowsEveryColumn: Bool
    /// What each column of the bundle makes of values here.
    let affinities: [ColumnAffinity]

    private let db: Database
    private let failClause: String
    /// Whether the user has triggers on the table, which can refuse, ignore or change writes.
    let hasUserTriggers: Bool
    /// Whether one of these can fail and leave the row that it ran for.
    private let mayFailHalfWay: Bool
    private let existing: Statement?
    private let deletion: Statement?
    private let affinitiesByName: [String: ColumnAffinity]

    /// Prepares the statements of a table.
    ///
    /// - parameters:
    ///     - columns: The local column of each column of the bundle.
    ///     - names: The names of these in the bundle.
    ///     - triggers: The user's triggers, where they are known; nil to read them.
    init(
        _ db: Database, _ table: SyncedTable, columns: [SyncedTable.Column], names: [String]? = nil,
        givenName: String? = nil, triggers: PresentTriggers? = nil
    ) throws {
        self.db = db
        self.givenName = givenName ?? table.name
        hasOwnName = zip(columns, names ?? columns.map(\.name)).map {
            $0.name.isSameIdentifier(as: $1)
        }
        self.table = table
        columnNumbers = columns.map(\.number)
        assert(hasOwnName.count == columns.count, "a column of the bundle has no name")
        namesColumnsTwice = Set(columnNumbers).count < columns.count
        knowsEveryColumn = table.hasRows && columns.allSatisfy(\.isPresent)
        reader = try ExportedTable(db, table)
        let byName = table.hasRows ? try ColumnAffinity.loadAll(db, table: table.storageName) : [:]
        affinitiesByName = byName
        affinities = columns.map { $0.isPresent ? byName[$0.name.identifierKey] ?? .blob : .blob }
        let triggers = try triggers ?? PresentTriggers(db)
        hasUserTriggers = triggers.exist(on: table)
        mayFailHalfWay = try hasUserTriggers && triggers.mayFailHalfWay()
        failClause = Self.failClause(hasUserTriggers)
        var parameter: CInt = 1
        insertParameters = columns.map { column in
            guard column.isPresent else { return 0 }
            parameter += 1
            return parameter
        }
        let name = table.qualifiedName
        let match = table.keyMatch("?1")
        wholeInsert =
            table.hasRows && !namesColumnsTwice
            ? try db.makeStatement(
                sql: Self.insertSQL(table, columns.filter(\.isPresent).map(\.name), failClause)) : nil
        existing =
            table.hasRows
            ? try db.makeStatement(sql: "SELECT 1 FROM \(name) WHERE \(match)") : nil
        deletion =
            table.hasRows
            ? try db.makeStatement(sql: "DELETE FROM \(name) WHERE \(match)") : nil
    }

    /// `OR FAIL` spares the statement journal that a trigger costs, and means the
    /// same for a single row, unless a trigger of the user's can fail half-way.
    /// An explicit clause overrides the ones that the table's constraints declare.
    private static func failClause(_ hasUserTriggers: Bool) -> String {
        hasUserTriggers ? "OR ABORT" : "OR FAIL"
    }

    private static func insertSQL(_ table: SyncedTable, _ columns: [String], _ failClause: String) -> String {
        let names = ([table.key] + columns).map(\.quotedDatabaseIdentifier)
        return """
            INSERT \(failClause) INTO \(table.qualifiedName) (\(names.joined(separator: ", ")))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """
    }

    /// The columns that the local table has, by number.
    private(set) lazy var presentNames: [Int: String] =
        table.hasRows
        ? Dictionary(uniqueKeysWithValues: table.presentColumns.map { ($0.number, $0.name) }) : [:]

    /// The columns that were dropped here, by number.
    private(set) lazy var droppedColumns = Set(table.columns.filter { $0.place == .dropped }.map(\.number))

    /// The defaults of the local table's columns, by number.
    private var defaults: [Int: OwnedValue]?

    /// The value that a column has in a row that is inserted without it.
    func defaultValue(ofColumn column: Int) throws -> WireValue {
        if let defaults { return defaults[column]?.value ?? .null }
        let expressions = table.isTracked ? try TableDefinition.load(db, table.name).defaults : [:]
        var defaults: [Int: OwnedValue] = [:]
        for (number, name) in presentNames {
            guard let expression = expressions[name.identifierKey] else { continue }
            let affinity = affinitiesByName[name.identifierKey] ?? .blob
            let value = try DatabaseValue.fetchOne(
                db, sql: "SELECT \(affinity.converted("v")) FROM (SELECT (\(expression)) AS v)")
            defaults[number] = OwnedValue.make(value ?? .null)
        }
        self.defaults = defaults
        return defaults[column]?.value ?? .null
    }

    /// Returns whether the user's table holds the row.
    func hasRow(_ key: RowKey) throws -> Bool {
        guard let existing else { return false }
        existing.reset()
        defer { existing.reset() }
        key.value.bind(existing.sqliteStatement, 1)
        return try existing.step()
    }

    /// Deletes the row from the user's table. A trigger that forbids it, or fails, is not asked:
    /// the row was deleted already, elsewhere.
    func delete(_ key: RowKey) throws {
        guard let deletion else { return }
        guard hasUserTriggers else { return try delete(key, deletion) }
        do {
            // Of a trigger that fails, SQLite may leave what it did so far, and the delete.
            try db.inSavepoint {
                try delete(key, deletion)
                return .commit
            }
            guard try hasRow(key) else { return }
        } catch let error as DatabaseError {
            guard obstacle(error, of: deletion) != nil else { throw error }
        }
        try UserTriggers.withoutTriggers(db, on: table) { try delete(key, deletion) }
    }

    private func delete(_ key: RowKey, _ deletion: Statement) throws {
        deletion.reset()
        key.value.bind(deletion.sqliteStatement, 1)
        while try deletion.step() {}
        deletion.reset()
    }

    /// Inserts a row of some columns.
    ///
    /// - returns: The constraint that stands against it, or nil when it was inserted.
    func insert(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> ConstraintFailure? {
        assert(table.hasRows, "there is no table to insert into")
        let statement = try db.cachedStatement(sql: Self.insertSQL(table, values.map(\.name), failClause))
        let failure = try run(statement, [key.value] + values.map(\.value))
        if failure == nil { try keepOriginals(key, values) }
        return failure
    }

    /// Writes some columns of a row.
    ///
    /// - returns: The constraint that stands against it, or nil when it was written.
    func update(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> ConstraintFailure? {
        assert(!values.isEmpty, "an update of no column is no statement")
        let failure = try run(
            updating(values.map(\.name)), values.map(\.value) + [key.value], isUpdate: true)
        if failure == nil { try keepOriginals(key, values) }
        return failure
    }

    private func updating(_ names: [String]) throws -> Statement {
        let assignments = names.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: ", ")
        return try db.cachedStatement(
            sql: """
                UPDATE \(failClause) \(table.qualifiedName) SET \(assignments)
                WHERE \(table.keyMatch("?\(names.count + 1)"))
                """)
    }

    /// Writes a value of this replica's own into a column: what the table makes of it is what was written.
    ///
    /// - returns: The constraint that stands against it, or nil when it was written.
    func edit(_ key: RowKey, _ name: String, _ value: WireValue) throws -> ConstraintFailure? {
        try run(updating([name]), [value, key.value], isUpdate: true)
    }

    /// Keeps the values that were written and of which the table made others.
    func keepOriginals(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws {
        for (name, value) in values where affinitiesByName[name.identifierKey]?.mayConvert(value) == true {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(name.quotedDatabaseIdentifier) FROM \(table.qualifiedName)
                    WHERE \(table.keyMatch("?1"))
                    """)
            statement.reset()
            defer { statement.reset() }
            key.value.bind(statement.sqliteStatement, 1)
            guard try statement.step(), WireValue(statement.sqliteStatement, 0).compare(value) != 0,
                let column = table.columns.first(where: { $0.name.isSameIdentifier(as: name) })
            else { continue }
            try reader.originals.record(value, column: column.number, key)
        }
    }

    private func run(
        _ statement: Statement, _ values: [WireValue], isUpdate: Bool = false
    ) throws -> ConstraintFailure? {
        statement.reset()
        for (index, value) in values.enumerated() { try value.bind(to: statement, CInt(index + 1)) }
        return try constraintFailure(of: statement, isUpdate: isUpdate)
    }

    /// Runs a bound statement. A constraint that took the transaction with it
    /// (`RAISE(ROLLBACK)` in a trigger) is an error of the whole application.
    ///
    /// - parameter isUpdate: Whether it is an update. SQLite undoes a statement that fails by an expression where a constraint
    ///   could have failed as well: in each insert, because of the key, and not in each update.
    /// - returns: What stands against the row. Nothing is written then.
    func constraintFailure(of statement: Statement, isUpdate: Bool = false) throws -> ConstraintFailure? {
        guard mayFailHalfWay || (isUpdate && hasUserTriggers) else { return try step(statement) }
        var failure: ConstraintFailure?
        try db.inSavepoint {
            failure = try step(statement)
            return failure == nil ? .commit : .rollback
        }
        return failure
    }

    private func step(_ statement: Statement) throws -> ConstraintFailure? {
        do {
            while try statement.step() {}
            statement.reset()
        } catch let error as DatabaseError {
            guard let failure = obstacle(error, of: statement) else { throw error }
            return failure
        }
        // RAISE(IGNORE) is no error, and must not lose the values.
        guard hasUserTriggers, db.changesCount == 0 else { return nil }
        return ConstraintFailure(.trigger, "a trigger of \(table.name) ignored the row")
    }

    /// What stands against a row, by the error of the statement that would write it; nil when it is no error of the row's:
    /// that one would come for each row, and the whole application has to fail.
    private func obstacle(_ error: DatabaseError, of statement: Statement) -> ConstraintFailure? {
        guard db.isInsideTransaction else { return nil }
        statement.reset()
        if error.resultCode == .SQLITE_CONSTRAINT { return ConstraintFailure(error) }
        // SQLite prepares a statement again at its first step after a change of the schema, and says then what the schema lacks.
        guard error.mayConcernValues, (try? db.makeStatement(sql: statement.sql)) != nil else { return nil }
        return ConstraintFailure.expression(error, mayBeTrigger: hasUserTriggers)
    }
}
