/// A part of the SQL language that an old engine lacks, and that is written in another way there.
public enum EngineChoice: UInt8, Sendable {
    /// `NULLS FIRST` and `NULLS LAST`.
    case nullsOrdering = 1
    /// `FILTER` of aggregates.
    case aggregateFilter = 2
    /// `iif`.
    case iif = 3
    /// `ORDER BY` in aggregates.
    case aggregateOrdering = 5
    /// Arguments of a table. On old engines those of a table behind `LEFT JOIN` leave out rows without others, and a subquery runs too
    /// early that depends on a table by them alone.
    case outerTableArguments = 6
    /// `'floor'`, a modifier of dates.
    case dateFloor = 7
    /// Plans by comparisons that old engines get wrong: by `<` and `>` of several columns, SQLite 3.15 leaves out rows where the first is
    /// the number of the row, or equal to one.
    case plannedComparison = 8
    /// Plans by `IS` between two expressions that may be NULL: behind `LEFT JOIN`, also that of a view, SQLite 3.15 makes up rows by them.
    case plannedIdentity = 9
    /// What every engine has where it stands. It was another choice elsewhere.
    case settled = 10
    /// A row value that is assigned from a query. SQLite 3.15 makes a trigger with it, and each change that runs the trigger fails.
    case rowAssignment = 11
    /// Plans by `IN` of several columns, which SQLite 3.15 can't carry out where a column of them is equal to one of another table.
    case plannedRows = 12
    /// `IN` of a whole column by an index that has it. SQLite 3.15 takes a partial index for all rows, and finds no NULL in a
    /// descending one.
    case indexedMembership = 13
    /// The least value by an index. SQLite 3.15 leaves out rows whose next column in the index is NULL.
    case indexedMinimum = 14
    /// Plans by `OR`. In columns of a row that a left join has not found, SQLite 3.15 leaves values of another one by them.
    /// Plans by `IS NULL` behind a left join, too: it takes rows for absent that an index `WHERE a IS NULL` leaves out.
    case plannedAlternatives = 15
    /// Queries in the condition of a deletion. SQLite 3.15 and 3.40 ask them about a table from which rows are gone already.
    case queriesOfDeletions = 16
    /// Plans by ranges that a column of another table limits. SQLite 3.15 takes that column for NULL in the rows that it joins, and in
    /// other conditions on them.
    case plannedRange = 17
    /// Plans by `IS NOT` and a value, by which SQLite 3.15 looks in an index of rows without NULL only.
    case plannedDifference = 18
    /// Dates after the year 9999, which are NULL. SQLite 3.15 goes on with texts that lack a digit, and takes numbers of seconds for others
    /// from the year 5352 on.
    case dateRange = 19

    /// Whether the engine has it.
    public var isSupported: Bool {
        let features = EngineFeatures.current
        return switch self {
        case .nullsOrdering: features.supportsNullsOrdering
        case .aggregateFilter: features.supportsAggregateFilter
        case .iif: features.sqliteVersionNumber >= 3_032_000
        case .aggregateOrdering: features.sqliteVersionNumber >= 3_044_000
        case .dateRange: features.sqliteVersionNumber >= 3_040_000
        case .outerTableArguments, .dateFloor, .plannedComparison, .plannedIdentity, .plannedRows,
            .indexedMembership, .indexedMinimum, .plannedAlternatives, .queriesOfDeletions, .plannedRange,
            .plannedDifference:
            features.sqliteVersionNumber >= 3_046_000
        case .settled, .rowAssignment: true
        }
    }

    /// Whether the engine has it in what a schema holds, such as a trigger.
    var isSupportedInSchema: Bool {
        self == .rowAssignment ? EngineFeatures.current.sqliteVersionNumber >= 3_033_000 : isSupported
    }
}

/// A part of the SQL language that an old engine lacks, and that can't be written in another way.
public enum EngineNeed: UInt8, Sendable {
    /// `RIGHT JOIN` and `FULL JOIN`.
    case outerJoins = 1
    /// Window functions.
    case windowFunctions = 2
    /// `MATERIALIZED` hints.
    case materializedHints = 3
    /// `ORDER BY` in aggregates.
    case aggregateOrdering = 5
    /// A table of rows in a place that only newer engines take.
    case deferredFeature = 6
    /// Full-text search, which a library is built with or without.
    case fullTextSearch = 7
    /// `ON CONFLICT` in a statement that does not run by itself, as those of a trigger. One that runs is emulated.
    case upsert = 8
    /// `RETURNING` in such a statement.
    case returning = 9
    /// `UPDATE … FROM` whose rows are those of the same table, with the columns that are assigned to.
    case updateFromItself = 10
    /// `UPDATE … FROM` in a trigger, with an expression that gives several columns.
    case rowAssignmentInTrigger = 11
    /// `UPDATE … FROM`, with a view of the table that is changed. What is changed is the table before this mark.
    case updateFromOwnView = 12

    /// The version of SQLite that has it.
    public var version: Int {
        switch self {
        case .outerJoins: 3_039_000
        case .windowFunctions: 3_025_000
        case .materializedHints: 3_035_000
        case .aggregateOrdering: 3_044_000
        case .deferredFeature: 3_035_000
        case .fullTextSearch: 3_009_000
        case .upsert: 3_024_000
        case .returning: 3_035_000
        case .updateFromItself, .rowAssignmentInTrigger, .updateFromOwnView: 3_033_000
        }
    }

    var name: String {
        switch self {
        case .outerJoins: "RIGHT JOIN and FULL JOIN"
        case .windowFunctions: "window functions"
        case .materializedHints: "MATERIALIZED"
        case .aggregateOrdering: "ORDER BY in an aggregate function"
        case .deferredFeature: "this statement"
        case .fullTextSearch: "FTS5"
        case .upsert: "ON CONFLICT in a trigger, a query plan or a region"
        case .returning: "RETURNING in a query plan or a region"
        case .updateFromItself: "UPDATE … FROM that reads the columns it assigns to"
        case .updateFromOwnView: "UPDATE … FROM a view of the same table"
        case .rowAssignmentInTrigger: "UPDATE … FROM in a trigger, with an expression of several columns,"
        }
    }

    /// Throws when the engine lacks it.
    ///
    /// - throws: A `DatabaseError` that names the version.
    func check(sql: @autoclosure () -> String) throws {
        if self == .fullTextSearch, !EngineFeatures.current.supportsFTS5 {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "FTS5 is missing: the SQLCipher library was built without it",
                sql: sql())
        }
        guard EngineFeatures.current.sqliteVersionNumber < version else { return }
        throw Self.error(name, version, sql: sql())
    }

    static func error(_ name: String, _ version: Int, sql: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: """
                \(name) needs SQLite \(text(version)) or later; \
                this is \(text(EngineFeatures.current.sqliteVersionNumber))
                """, sql: sql)
    }

    private static func text(_ version: Int) -> String {
        "\(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
    }
}

extension QueryFragment {
    /// Adds SQL in two forms, of which the engine decides.
    ///
    /// - parameters:
    ///     - choice: What the engine has or lacks.
    ///     - native: Writes the form of engines that have it. It is also what descriptions show.
    ///     - emulated: Writes the form of engines that lack it.
    public mutating func appendChoice(
        _ choice: EngineChoice, native: (inout QueryFragment) -> Void, emulated: (inout QueryFragment) -> Void
    ) {
        guard !choice.isSupportedInSchema else { return native(&self) }
        var forms = (QueryFragment(), QueryFragment())
        native(&forms.0)
        emulated(&forms.1)
        code.append(Code.choice)
        code.append(choice.rawValue)
        let counts = [
            forms.0.code.count, forms.1.code.count, forms.0.bindings.count, forms.1.bindings.count,
        ]
        for count in counts {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: count)) { code.append(contentsOf: $0) }
        }
        append(forms.0)
        append(forms.1)
    }

    /// Adds SQL for engines that lack something.
    mutating func append(onlyWithout choice: EngineChoice, _ write: (inout QueryFragment) -> Void) {
        appendChoice(choice, native: { _ in }, emulated: write)
    }

    /// Notes that the SQL works on certain engines only; on others, preparing it fails with an error that says so.
    public mutating func require(_ need: EngineNeed) {
        code.append(Code.need)
        code.append(need.rawValue)
    }
}
