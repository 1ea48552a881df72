extension Error {
    /// Whether the system does not let this process read or write a file, or there is no room: nothing is
    /// damaged.
    var isAboutAccess: Bool {
        switch StoreError(self)?.code {
        case .cannotRead, .cannotWrite, .full, .busy: return true
        case nil: break
        default: return false
        }
        guard let error = self as? DatabaseError else { return false }
        return error.saysNoFileCanBeMade
            || [.SQLITE_READONLY, .SQLITE_PERM, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM]
                .contains(error.resultCode)
    }
}
