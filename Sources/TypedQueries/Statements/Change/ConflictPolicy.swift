/// What becomes of a row that violates a constraint: `INSERT OR REPLACE`.
public enum ConflictPolicy: String, Hashable, Sendable {
    /// The statement is undone.
    case abort = "ABORT"
    /// The statement stops.
    case fail = "FAIL"
    /// The row is left out.
    case ignore = "IGNORE"
    /// The rows in its way are deleted.
    case replace = "REPLACE"
    /// The transaction is undone.
    case rollback = "ROLLBACK"

    @usableFromInline var insert: StaticString {
        switch self {
        case .abort: "INSERT OR ABORT INTO "
        case .fail: "INSERT OR FAIL INTO "
        case .ignore: "INSERT OR IGNORE INTO "
        case .replace: "INSERT OR REPLACE INTO "
        case .rollback: "INSERT OR ROLLBACK INTO "
        }
    }

    @usableFromInline var update: StaticString {
        switch self {
        case .abort: "UPDATE OR ABORT "
        case .fail: "UPDATE OR FAIL "
        case .ignore: "UPDATE OR IGNORE "
        case .replace: "UPDATE OR REPLACE "
        case .rollback: "UPDATE OR ROLLBACK "
        }
    }
}
