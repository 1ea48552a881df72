import CSQLCipher

/// An SQLite result code.
///
/// A code is primary (`SQLITE_CONSTRAINT`) or extended
/// (`SQLITE_CONSTRAINT_UNIQUE`). A primary code matches each of its extended
/// codes in a pattern:
///
/// ```swift
/// do { … }
/// catch ResultCode.SQLITE_CONSTRAINT_UNIQUE { … }
/// catch ResultCode.SQLITE_CONSTRAINT { … }
/// ```
///
/// Related SQLite documentation: <https://www.sqlite.org/rescode.html>
public struct ResultCode: RawRepresentable, Equatable, Hashable, CustomStringConvertible, Sendable {
    /// The numeric code.
    public let rawValue: CInt

    /// Makes a code from its number.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The code without its detail.
    public var primaryResultCode: ResultCode {
        ResultCode(rawValue: rawValue & 0xFF)
    }

    /// Whether the code carries no detail.
    public var isPrimary: Bool { self == primaryResultCode }

    /// The number and SQLite's English text for it, such as
    /// `"19 (constraint failed)"`.
    public var description: String {
        guard let text = errorString else { return "\(rawValue)" }
        return "\(rawValue) (\(text))"
    }

    /// SQLite's English text for the code.
    var errorString: String? {
        sqlite3_errstr(rawValue).map { Self.currentWording(String(cString: $0)) }
    }

    /// One wording for all versions of the library, with what to do where SQLite's text does not tell.
    static func currentWording(_ message: String) -> String {
        // The library changed this text when it changed what the code says.
        if message == "file is encrypted or is not a database" { return "file is not a database" }
        if message.hasPrefix("unsafe use of "), message.hasSuffix("()") { return message + adviceOnUnsafeUse }
        return message
    }

    /// What follows SQLite's message when the schema of a file calls a function that it may not call.
    private static let adviceOnUnsafeUse =
        ": a view, trigger or default of the file calls it, and files are not trusted; "
        + "add the function with `innocuous: true` if any file may call it, or make a TEMP trigger or view"

    /// Returns whether a primary pattern covers a code, or an extended one equals it.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern.isPrimary ? pattern == code.primaryResultCode : pattern == code
    }
}
