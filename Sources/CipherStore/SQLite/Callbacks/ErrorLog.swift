import CSQLCipher
import Foundation
import Synchronization

/// SQLite's error log, which is the process's.
///
/// Related SQLite documentation: <https://www.sqlite.org/errlog.html>
enum ErrorLog {
    /// What is called with each message. A lock that held the function itself would wrap it anew at each message.
    private struct Receiver: Sendable { let call: Database.LogErrorFunction }

    private static let receiver = Lock<Receiver?>(nil)

    /// Whether SQLite took the callback. It does so once, before it is
    /// initialized by the first connection; asking for this sees to it.
    static let isInstalled: Bool = csqlcipher_config_log(receiveLog) == SQLITE_OK

    static var current: Database.LogErrorFunction? {
        get { receiver.withLock { $0 }?.call }
        set {
            _ = isInstalled
            receiver.withLock { $0 = newValue.map { Receiver(call: $0) } }
            isWanted.store(newValue != nil, ordering: .relaxed)
        }
    }

    private static let isWanted = Atomic(false)

    /// What a thread has in its dictionary while it prepares SQL that may hold a key.
    private static let secretMark = "CipherStore.ErrorLog.preparesKey"

    /// Runs a block that prepares SQL.
    ///
    /// SQLite before 3.26 logs an error of the SQL without the SQL, so that a
    /// word of it can't be told from a key.
    static func preparing<T>(_ sql: String, _ body: () throws -> T) rethrows -> T {
        guard isWanted.load(ordering: .relaxed), KeyRedaction.mayHoldKey(sql) else { return try body() }
        let marks = Thread.current.threadDictionary
        let mark = marks[secretMark]
        marks[secretMark] = true
        defer { marks[secretMark] = mark }
        return try body()
    }

    /// Passes a message on, without the keys that it may quote.
    static func report(code: CInt, message: String) {
        // Called outside of the lock: the function may set another one.
        guard let function = current else { return }
        let code = ResultCode(rawValue: code)
        guard
            Thread.current.threadDictionary[secretMark] != nil || KeyRedaction.mayHoldKey(message)
                || KeyRedaction.quotesLiteral(message)
                || KeyRedaction.quotesKeyOfURI(message)
        else { return function(code, ValueRedaction.redacted(message) ?? message) }
        function(code, "\(code.errorString ?? "error"); the statement may hold a key and is not shown")
    }
}

private func receiveLog(_: UnsafeMutableRawPointer?, _ code: CInt, _ message: UnsafePointer<CChar>?) {
    ErrorLog.report(code: code, message: message.map { String(cString: $0) } ?? "")
}

extension Database {
    /// A function that receives SQLite's error log.
    public typealias LogErrorFunction = @Sendable (_ resultCode: ResultCode, _ message: String) -> Void

    /// A function that is called whenever SQLite reports an anomaly.
    ///
    /// ```swift
    /// Database.logError = { code, message in
    ///     logger.error("SQLite error \(code): \(message)")
    /// }
    /// ```
    ///
    /// The function may be called on any thread, and must not use a database
    /// connection. Messages hold SQL, but never a key.
    ///
    /// It can be set at any time, unless other code of the process opened an
    /// SQLite connection before CipherStore did: then SQLite no longer takes it.
    public static var logError: LogErrorFunction? {
        get { ErrorLog.current }
        set { ErrorLog.current = newValue }
    }
}
