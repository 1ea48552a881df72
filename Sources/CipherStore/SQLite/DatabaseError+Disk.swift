extension DatabaseError {
    /// Whether the disk is full, which SQLite says in three ways.
    public var saysDiskIsFull: Bool {
        switch extendedResultCode {
        case .SQLITE_FULL, .SQLITE_IOERR_SHMSIZE: true
        // SQLCipher's export reports each failure as this code, with the text of the other one.
        case .SQLITE_ERROR: message == ResultCode.SQLITE_FULL.errorString
        default: false
        }
    }

    /// Whether SQLite could not make the files beside a database that it needs to read it.
    var saysNoFileCanBeMade: Bool {
        switch extendedResultCode {
        case .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_WRITE: true
        default: saysDiskIsFull || resultCode == .SQLITE_CANTOPEN
        }
    }
}
