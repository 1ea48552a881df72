import Foundation

extension DatabaseValue {
    /// The value as SQL writes it.
    var sqlLiteral: String {
        get throws {
            if let encodingError { throw encodingError }
            return storage.sqlLiteral
        }
    }

    /// SQL that every engine reads as the value, wherever an argument can stand, or nil.
    ///
    /// An old engine reads nothing after a NUL. Two signs in a row begin a comment.
    var exactLiteral: String? {
        guard encodingError == nil else { return nil }
        return switch storage {
        case .int64(let value): value < 0 ? "(\(value))" : value.description
        case .double(let value): value.exactSQL
        case .string(let value) where !value.utf8.contains(0): value.quotedSQLText
        case .blob: storage.sqlLiteral
        default: nil
        }
    }
}

extension DatabaseValue.Storage {
    fileprivate var sqlLiteral: String {
        switch self {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value) where value.isInfinite: value < 0 ? "-9e999" : "9e999"
        case .double(let value): value.isNaN ? "NULL" : value.description
        // SQLite stops reading at a NUL. With the parentheses it can be a default value, too.
        case .string(let value) where value.utf8.contains(0): "(CAST(\(Self.literal(value.utf8)) AS TEXT))"
        case .string(let value): value.quotedSQLText
        case .blob(let value): Self.literal(value)
        }
    }

    private static func literal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = Array("X'".utf8)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }
}
