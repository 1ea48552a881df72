import CipherStore
import Foundation

/// Values of the database as people read them.
enum ValueText {
    /// A value in a table: text as it is, a blob of 16 bytes as a UUID, others as hexadecimal digits.
    static func plain(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .string(let text): text
        default: literal(value)
        }
    }

    /// A value in a line of text, where texts are in quotes.
    static func literal(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): String(number)
        case .double(let number): "\(number)"
        case .string(let text): text.quotedSQLText
        case .blob(let data):
            UUID.fromDatabaseValue(data.databaseValue)?.uuidString.lowercased() ?? RowText.sqlLiteral(value)
        }
    }
}
