import Foundation

/// An error that SQLite, or the layer above it, reports.
///
/// ```swift
/// do {
///     try db.execute(sql: "INSERT INTO pet (masterId) VALUES (?)", arguments: [1])
/// } catch let error as DatabaseError {
///     error.resultCode          // SQLITE_CONSTRAINT
///     error.extendedResultCode  // SQLITE_CONSTRAINT_FOREIGNKEY
///     error.message             // "FOREIGN KEY constraint failed"
/// }
/// ```
///
/// `description` never holds statement arguments unless
/// ``Configuration/publicStatementArguments`` allows it, so that an error can
/// be logged.
public struct DatabaseError: Error, Equatable, Sendable {
    /// The primary result code.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The result code with its detail.
    public let extendedResultCode: ResultCode

    /// SQLite's message.
    public let message: String?

    /// The SQL that failed, if the error comes from a statement. A key in it is hidden, and so are the values of a request
    /// with more of them than a statement can have arguments.
    public let sql: String?

    /// The arguments of the statement that failed. Do not log them.
    public let arguments: StatementArguments?

    /// What is wrong with the file or its key, when that is known.
    ///
    /// SQLite reports a wrong passphrase, a plaintext file and a damaged one
    /// with one and the same code; this tells them apart.
    public let storeError: StoreError?

    /// The file of the connection that raised it, once the error has left an access to a queue or a pool.
    package var file: String? { origin.file }

    private var origin = Origin()

    private let publicStatementArguments: Bool

    /// Where an error happened, which is no part of what it is: errors of two files are equal.
    private struct Origin: Sendable, Equatable {
        var file: String?

        static func == (left: Self, right: Self) -> Bool { true }
    }

    /// Makes an error.
    ///
    /// - parameters:
    ///     - resultCode: The code, primary or extended.
    ///     - message: The message; SQLite's text for the code when nil.
    ///     - sql: The SQL that failed.
    ///     - arguments: Its arguments.
    ///     - publicStatementArguments: Whether `description` shows the arguments.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil, sql: String? = nil,
        arguments: StatementArguments? = nil, publicStatementArguments: Bool = false
    ) {
        self.init(
            resultCode: resultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: publicStatementArguments, storeError: nil)
    }

    init(
        resultCode: ResultCode, message: String?, sql: String? = nil, arguments: StatementArguments? = nil,
        publicStatementArguments: Bool = false, storeError: StoreError?
    ) {
        // Errors are logged, so they hold no key.
        let redacted = sql.flatMap { KeyRedaction.redacted($0) }
        var message = redacted == nil ? message : KeyRedaction.message(message)
        if let text = message, KeyRedaction.quotesKeyOfURI(text) { message = nil }
        self.extendedResultCode = resultCode
        self.message = message ?? resultCode.errorString
        self.sql = (redacted ?? sql).map { ValueRedaction.redacted($0) ?? $0 }
        self.arguments = redacted == nil ? arguments : nil
        self.publicStatementArguments = publicStatementArguments
        self.storeError = storeError
    }

    /// Whether the statement ended because of ``DatabaseReader/interrupt()``, or
    /// because an interruption had rolled its transaction back.
    public var isInterruptionError: Bool {
        switch resultCode {
        case .SQLITE_ABORT, .SQLITE_INTERRUPT: true
        default: false
        }
    }

    /// The same error with what is known about the file.
    func with(storeError: StoreError) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: publicStatementArguments, storeError: storeError)
    }

    /// The same error with the file of its connection, unless it came from another one.
    func raised(in file: String) -> DatabaseError {
        guard origin.file == nil else { return self }
        var error = self
        error.origin.file = file
        return error
    }

    private func text(showsArguments: Bool) -> String {
        var text = "SQLite error \(resultCode.rawValue)"
        if let message { text += ": \(message)" }
        if let sql {
            text += " - while executing `\(sql.trimmedSQL)`"
        }
        if showsArguments, let arguments, !arguments.isEmpty {
            text += " with arguments \(arguments)"
        }
        if let storeError { text += " (\(storeError))" }
        return text
    }
}

extension DatabaseError: CustomStringConvertible {
    /// A text for logs: code, message and SQL, without arguments.
    public var description: String { text(showsArguments: publicStatementArguments) }

    /// A text with the statement's arguments. Do not log it.
    public var expandedDescription: String { text(showsArguments: true) }
}

extension DatabaseError: CustomNSError {
    /// The domain of the error as an `NSError`; GRDB's, for code that compares it.
    public static var errorDomain: String { "GRDB.DatabaseError" }

    /// The extended result code.
    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    /// The description, without arguments, as the failure reason.
    public var errorUserInfo: [String: Any] { [NSLocalizedFailureReasonErrorKey: description] }
}

extension String {
    /// The SQL without the blanks and semicolons around it.
    var trimmedSQL: String {
        let isTrimmed: (Character) -> Bool = { $0.isWhitespace || $0 == ";" }
        guard let start = firstIndex(where: { !isTrimmed($0) }),
            let end = lastIndex(where: { !isTrimmed($0) })
        else { return "" }
        return String(self[start...end])
    }
}

extension ResultCode {
    /// Returns whether an error carries a code that the pattern covers.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.extendedResultCode
    }
}
