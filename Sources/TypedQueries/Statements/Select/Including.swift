import CipherStore

/// Rows of a table, each with the rows of other tables that refer to it.
///
/// ```swift
/// let lists = try RemindersList.order(by: \.title)
///     .including(all: RemindersList.hasMany(Reminder.self).order(Column("title")))
///     .fetchAll(db)
/// for (list, reminders) in lists { … }
/// ```
///
/// There is one statement for the rows, and one for each association, however many rows there are; more when
/// the rows have more keys than one statement takes: 500 values, or 20,000 integers. Fetch in one access, so that all of them see the same state.
public struct Including<Base: SelectStatement, each Child: Table>: Sendable
where Base.QueryValue == (), Base.Joins == NoJoins {
    /// A row with those that refer to it.
    public typealias Element = (Base.From.QueryOutput, repeat [(each Child).QueryOutput])

    let base: Base
    let children: (repeat IncludedTable<each Child>)

    /// Adds the rows of another association.
    ///
    /// - parameters:
    ///     - association: How they refer to each row.
    ///     - isUnscoped: Whether also those come that the table's `all` leaves out.
    public func including<A: AssociationToMany>(
        all association: A, unscoped isUnscoped: Bool = false
    ) -> Including<Base, repeat each Child, A.RowDecoder>
    where A.OriginRowDecoder == Base.From, A.RowDecoder: Table {
        Including<Base, repeat each Child, A.RowDecoder>(
            base: base, children: (repeat each children, IncludedTable(association, isUnscoped)))
    }

    /// All rows, with those that refer to them.
    ///
    /// - throws: A `DatabaseError`, also when the schema has no foreign key for an association; a
    ///   ``QueryDecodingFailure``.
    public func fetchAll(_ db: Database) throws -> [Element] {
        try fetchAll(db, base.query)
    }

    /// The first row, with those that refer to it, or nil. It adds a limit to a statement without one.
    ///
    /// - throws: As ``fetchAll(_:)`` does.
    public func fetchOne(_ db: Database) throws -> Element? {
        let select = base.asSelect()
        let rows = try fetchAll(db, (select.clauses.limit.isEmpty ? select.limit(1) : select).query)
        // The compiler can't handle `rows.first`, whose type is a tuple of any length.
        if rows.isEmpty { return nil }
        return rows[0]
    }

    private func fetchAll(_ db: Database, _ query: QueryFragment) throws -> [Element] {
        guard !query.isEmpty else { return [] }
        let plans = (repeat try (each children).plan(db))
        var names: [String] = []
        for plan in repeat each plans { names.append(contentsOf: plan.rows.originColumns) }
        let indexes = try names.map { try Base.From.columnIndex($0) }
        let (rows, values) = try Base.From.fetchRows(db, query, indexes)
        let origin = Origin(names: names, values: values)
        let groups = (repeat try (each plans).fetch(db, origin))
        var result: [Element] = []
        result.reserveCapacity(rows.count)
        for (row, values) in zip(rows, values) {
            result.append((row, repeat (each groups).rows(of: values)))
        }
        return result
    }
}

extension SelectStatement where QueryValue == (), Joins == NoJoins {
    /// Adds the rows that refer to each row, which are fetched afterwards for all rows at once.
    ///
    /// They are those of the other table's `all`, as in other queries: its conditions count, unless they need joined tables, and
    /// its order and limit do not.
    ///
    /// - parameters:
    ///     - association: How they refer to it: `hasMany` of the table, or an association of a record type whose rows are a
    ///       ``Table``, filtered and ordered as it should be.
    ///     - isUnscoped: Whether also those come that the other table's `all` leaves out.
    public func including<A: AssociationToMany>(
        all association: A, unscoped isUnscoped: Bool = false
    ) -> Including<Self, A.RowDecoder>
    where A.OriginRowDecoder == From, A.RowDecoder: Table {
        Including(base: self, children: IncludedTable(association, isUnscoped))
    }
}

extension Table {
    /// The rows of another table that refer to this one by a foreign key.
    ///
    /// ```swift
    /// extension RemindersList {
    ///     static let reminders = hasMany(Reminder.self)
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - child: The other table.
    ///     - foreignKey: The columns, when the schema has none or several foreign keys from there to here.
    @_disfavoredOverload
    public static func hasMany<Child: Table>(
        _ child: Child.Type, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Child> {
        CipherStore.Table<Self>(tableName).hasMany(
            CipherStore.Table<Child>(Child.tableName), using: foreignKey)
    }

    /// The rows of a statement, and for each of them the values of some columns.
    fileprivate static func fetchRows(
        _ db: Database, _ query: QueryFragment, _ indexes: [Int]
    ) throws -> (rows: [QueryOutput], values: [[DatabaseValue]]) {
        var values: [[DatabaseValue]] = []
        let rows = try db.fetchRows(query, width: columnWidth, rowType: Self.self) { decoder in
            let row = try decoder.value(Self.self)
            values.append(AssociatedRows.values(decoder.statement, indexes))
            return row
        }
        return (rows, values)
    }

    /// The position of a column among those that are fetched.
    fileprivate static func columnIndex(_ name: String) throws -> Int {
        if let index = allColumnNames.firstIndex(where: { $0.isSameIdentifier(as: name) }) {
            return index
        }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "\(Self.self) has no column \(name), to which the rows of an association refer")
    }
}

/// A table whose rows are fetched for those of another.
struct IncludedTable<Child: Table>: Sendable {
    /// How they are fetched through one connection.
    struct Plan {
        let rows: AssociatedRows
        let isUnscoped: Bool

        func fetch(_ db: Database, _ origin: Origin) throws -> Groups {
            let positions = origin.positions(of: rows.originColumns)
            let names = Child.allColumnNames
            let width = Child.columnWidth
            let keyIndexes = width..<width + positions.count
            let keys = origin.values.map { values in positions.map { values[$0] } }
            var groups = Groups(positions: positions, owners: rows.owners(among: keys))
            let scope = isUnscoped ? SelectClauses() : Child.all.asSelect().clauses
            guard !scope.isNone else { return groups }
            let statements = try rows.statements(
                selecting: names, of: groups.owners, filter: Self.filter(scope, db), db)
            groups.owners.areOfSeveralQueries = statements.count > 1
            for statement in statements {
                let cursor = try QueryCursor(statement, width: keyIndexes.upperBound, rowType: Child.self) {
                    (
                        try $0.value(Child.self),
                        AssociatedRows.values($0.statement, keyIndexes)
                    )
                }
                while let (row, key) = try cursor.next() { try groups.add(row, key, db) }
                groups.endQuery()
            }
            return groups
        }

        /// The conditions of a default scope, as one on the associated rows.
        private static func filter(_ scope: SelectClauses, _ db: Database) throws -> AssociatedRows.Filter? {
            guard !scope.conditions.isEmpty, scope.joins.isEmpty else { return nil }
            var condition = QueryFragment()
            scope.conditions.writeConjunction(to: &condition)
            let unqualified = FragmentRenderer(condition)
            try db.check(
                unqualified, of: condition, sql: String(decoding: unqualified.text, as: UTF8.self))
            return { [condition] qualifier in
                let renderer = FragmentRenderer(condition, renaming: (type: Child.self, name: qualifier))
                let sql = String(decoding: renderer.text, as: UTF8.self)
                let values = try renderer.values.map { try condition.bindings[$0].databaseValue() }
                return (sql, StatementArguments(values))
            }
        }
    }

    /// The rows by what they refer to.
    struct Groups {
        /// Where the key is among the values of the row that they belong to.
        let positions: [Int]
        /// Which rows belong to which keys.
        var owners: KeyOwners
        /// The rows of each key.
        private var members: [[Child.QueryOutput]]
        /// The row before: most have the same key as it.
        private var last: (key: [DatabaseValue], owners: KeyOwners.Owners)?

        init(positions: [Int], owners: KeyOwners) {
            self.positions = positions
            self.owners = owners
            members = Array(repeating: [], count: owners.keys.count)
        }

        /// Deals out a row.
        mutating func add(_ row: Child.QueryOutput, _ key: [DatabaseValue], _ db: Database) throws {
            let current: KeyOwners.Owners
            if let last, last.key == key {
                current = last.owners
            } else {
                current = try owners.owners(of: key, db)
                last = (key, current)
            }
            switch current {
            case .none: break
            case .one(let owner): members[owner].append(row)
            case .several(let others): for owner in others { members[owner].append(row) }
            }
        }

        /// Notes that all rows of a query were dealt out.
        mutating func endQuery() {
            owners.endQuery()
            last = nil
        }

        func rows(of values: [DatabaseValue]) -> [Child.QueryOutput] {
            owners.position(of: positions.map { values[$0] }).map { members[$0] } ?? []
        }
    }

    private let find: @Sendable (Database) throws -> AssociatedRows
    private let isUnscoped: Bool

    init<A: AssociationToMany>(_ association: A, _ isUnscoped: Bool) where A.RowDecoder == Child {
        self.isUnscoped = isUnscoped
        find = { db in try AssociatedRows(association, db) }
    }

    func plan(_ db: Database) throws -> Plan { try Plan(rows: find(db), isUnscoped: isUnscoped) }
}

/// The rows that others are fetched for.
struct Origin {
    /// The columns that associations refer to, for each row.
    let names: [String]
    let values: [[DatabaseValue]]

    func positions(of columns: [String]) -> [Int] { columns.compactMap { names.firstIndex(of: $0) } }
}
