/// Why a value has no database value.
///
/// It does not say what the value is, because errors and logs show it.
final class UnencodableValue: Sendable {
    let message: String

    init(_ message: String) { self.message = message }
}

extension DatabaseValue {
    /// The error of a value that SQLite can't store; nil for all others.
    var encodingError: DatabaseError? { encodingError(sql: nil) }

    /// The error of a value that a statement can't be given; nil for all others.
    func encodingError(sql: String?) -> DatabaseError? {
        guard case .unencodable(let value) = content else { return nil }
        return DatabaseError(resultCode: .SQLITE_MISMATCH, message: value.message, sql: sql)
    }

    /// Stands for an integer that is out of the range of `Int64`.
    init(unencodable integer: some FixedWidthInteger) {
        self.init(
            unencodable: "SQLite can't store a \(type(of: integer)) that is out of the range of Int64")
    }
}
