extension Database {
    /// What becomes of a change that violates a constraint.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_conflict.html>
    public enum ConflictResolution: String, Sendable {
        /// The transaction is rolled back.
        case rollback = "ROLLBACK"
        /// What the statement did is undone, and it fails.
        case abort = "ABORT"
        /// The statement fails; what it did before stays.
        case fail = "FAIL"
        /// The row that violates the constraint is left out.
        case ignore = "IGNORE"
        /// The rows in the way are deleted.
        case replace = "REPLACE"
    }
}
