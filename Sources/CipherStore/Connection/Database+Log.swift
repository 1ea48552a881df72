extension Database {
    /// Tells what could not be thrown to anybody.
    static func log(_ error: any Error) {
        let code = (error as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR
        logError?(code, "\(error)")
    }

    /// Tells which statement keeps a connection from closing.
    static func logUnfinalizedStatement(_ sql: String) {
        let keyless = KeyRedaction.redacted(sql) ?? sql
        logError?(.SQLITE_MISUSE, "unfinalized statement: \(ValueRedaction.redacted(keyless) ?? keyless)")
    }
}
