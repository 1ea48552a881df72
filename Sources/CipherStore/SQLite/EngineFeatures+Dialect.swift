import CSQLCipher

// The parts of the SQL language that not every engine has.

extension EngineFeatures {
    /// Whether aggregate functions can have a `FILTER` clause.
    package var supportsAggregateFilter: Bool { sqliteVersionNumber >= 3_030_000 }

    /// Whether ordering terms can have `NULLS FIRST` and `NULLS LAST`.
    package var supportsNullsOrdering: Bool { sqliteVersionNumber >= 3_030_000 }

    /// Whether rows are made up behind a left join where an `IS` of two values that may be NULL finds its rows. 3.15 does so.
    var misplansIdentity: Bool { sqliteVersionNumber < 3_046_000 }

    /// Whether rows are lost or made up by indexes: for `IN` of a whole column, for `OR` behind a left join, for the least of some
    /// rows, and for `IN` of several columns in a join. 3.15 does so.
    var misplansIndexes: Bool { sqliteVersionNumber < 3_046_000 }

    /// Whether a deletion removes rows while queries in its condition still read the table. 3.15 and 3.40 do so, and 3.46 does not.
    var readsAmongDeletions: Bool { sqliteVersionNumber < 3_046_000 }

    /// Whether there is a binary form of JSON, with its functions.
    package var supportsJSONB: Bool { supportsJSON && sqliteVersionNumber >= 3_045_000 }

    /// Whether `TRUE` and `FALSE` are numbers. Older engines take them for names.
    var supportsBooleanNames: Bool { sqliteVersionNumber >= 3_023_000 }

    /// Whether the operators `->` and `->>` are available.
    package var supportsJSONOperators: Bool { supportsJSON && sqliteVersionNumber >= 3_038_000 }

    /// Whether a name in double quotes that nothing has can be refused. Older engines take it for a text.
    var refusesTextInDoubleQuotes: Bool { sqliteVersionNumber >= 3_029_000 }

    /// Whether the authorizer is asked about an update of the table of the schema when a virtual table is declared.
    /// 3.15 to 3.40 ask, and 3.46 does not.
    var authorizesDeclaredTables: Bool { sqliteVersionNumber < 3_046_000 }

    /// Whether `PRAGMA integrity_check` can be told to check one table. Older engines take its name for no number, and check all.
    var checksSingleTables: Bool { sqliteVersionNumber >= 3_033_000 }

    /// Whether `UPDATE` and `DELETE` can have `ORDER BY` and `LIMIT` clauses.
    static let supportsLimitedChanges = sqlite3_compileoption_used("ENABLE_UPDATE_DELETE_LIMIT") != 0

    /// Whether these clauses are known to mean the rows of a view. 3.15 finds none, and 3.40 does.
    var limitsChangesOfViews: Bool { sqliteVersionNumber >= 3_035_000 }
}
