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

    /// What stands against a row for whose values an expression of its table fails, by an error that can come from these.
    ///
    /// - parameter mayBeTrigger: Whether it can be an expression of a trigger of the user's, which can look at other rows.
    static func expression(_ error: DatabaseError, mayBeTrigger: Bool) -> ConstraintFailure {
        ConstraintFailure(
            mayBeTrigger ? .other : .check,
            """
            a CHECK, an index, a generated column or a trigger of the table fails for these values: \
            \(error.message ?? "no reason is known")
            """)
    }
}

extension DatabaseError {
    /// Whether an error of a statement that was prepared well, and writes a row, can come from the row's values.
    ///
    /// SQLite reports a broken constraint as one, but an expression that fails – `json_extract` of a text that is no JSON,
    /// `abs` of the least integer, a result that is too long – as an error of the statement. Whatever else has these codes
    /// has SQLite's general text for them, or names what a virtual table misses of its own.
    var mayConcernValues: Bool {
        switch extendedResultCode.rawValue {
        case ResultCode.SQLITE_TOOBIG.rawValue, ResultCode.SQLITE_MISMATCH.rawValue: true
        case ResultCode.SQLITE_ERROR.rawValue:
            message != DatabaseError(resultCode: .SQLITE_ERROR).message
                && !Self.schemaMessages.contains { message?.hasPrefix($0) ?? true }
        default: false
        }
    }

    /// How SQLite begins to say that the schema is not as a statement needs it.
    private static let schemaMessages = [
        "no such table", "no such column", "no such function", "no such module", "no such index",
        "no such collation sequence", "no such view", "no such database", "unknown database",
        "vtable constructor failed", "malformed database schema", "database schema",
    ]
}
