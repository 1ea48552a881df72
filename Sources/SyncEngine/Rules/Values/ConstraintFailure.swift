import CipherStore

/// Why a row can't be in the user's table.
struct ConstraintFailure {
    /// The row that stands against another: the winner of a UNIQUE value, or a parent that is missing.
    struct Other {
        let table: Int64
        let key: OwnedValue
    }

    let reason: ParkedRow.Reason
    /// SQLite's words, which name the constraint, or ours.
    let message: String
    var other: Other?

    init(_ reason: ParkedRow.Reason, _ message: String, other: Other? = nil) {
        self.reason = reason
        self.message = message
        self.other = other
    }

    init(_ error: DatabaseError) {
        let text = error.message ?? "a constraint"
        // A trigger of the user's may say what the engine says of other rows, by which it tells these.
        message = KeptReason.all.contains(text) ? text.debugDescription : text
        reason =
            switch error.extendedResultCode {
            case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: .unique
            case .SQLITE_CONSTRAINT_NOTNULL: .notNull
            case .SQLITE_CONSTRAINT_CHECK: .check
            case .SQLITE_CONSTRAINT_TRIGGER: .trigger
            case .SQLITE_CONSTRAINT_FOREIGNKEY: .missingParent
            default: .other
            }
    }
}
