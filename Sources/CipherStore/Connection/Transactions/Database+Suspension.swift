import Foundation

// Suspension lets an application drop its locks before the system suspends it:
// iOS kills a suspended process that holds a lock on a file it shares.

extension Database {
    /// Post this notification to suspend the connections whose configuration
    /// observes it: they give up their locks and refuse to take new ones.
    public static let suspendNotification = Notification.Name("CipherStore.Database.Suspend")

    /// Post this notification to end a suspension.
    public static let resumeNotification = Notification.Name("CipherStore.Database.Resume")

    /// Refuses statements that take a lock. It may be called from any thread.
    func suspend() { interruption.suspend() }

    /// Ends a suspension. It may be called from any thread.
    func resume() { interruption.resume() }

    /// Throws when a statement would take or keep a lock. What ends a
    /// transaction is always allowed, because it gives the locks up; in WAL
    /// mode, so is reading.
    func checkSuspension(_ sql: String, _ verb: TransactionVerb) throws {
        switch verb {
        case .commit, .rollback: return
        case .begin where isWAL, .savepoint where isWAL: return
        default: break
        }
        if isWAL && verb == .other && isReadonlyStatement(sql) { return }
        if isInsideTransaction { try? protected { try rollback() } }
        throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Database is suspended", sql: sql.trimmedSQL)
    }

    private func isReadonlyStatement(_ sql: String) -> Bool {
        var offset = 0
        let statement = try? Statement.prepareUnchecked(database: self, sql: sql, offset: &offset)
        return statement?.isReadonly ?? false
    }

    private var isWAL: Bool {
        SQLiteHandle.text(handle, "PRAGMA journal_mode") == "wal"
    }
}

extension Interruption {
    /// Refuses statements that take a lock until ``resume()``, and interrupts
    /// the one that runs. It may be called from any thread.
    func suspend() {
        insert([.suspended, .stopping])
        interrupt()
    }

    /// Ends a suspension. It may be called from any thread.
    func resume() { remove(.suspended) }

    /// Whether statements that take a lock are refused.
    var isSuspended: Bool { restrictions.contains(.suspended) }
}
