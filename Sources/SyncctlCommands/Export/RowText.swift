import CipherStore
import Foundation

/// Rows as text in the formats of `export`.
enum RowText {
    // MARK: CSV

    /// What is changed in the texts of CSV, beside quoting.
    struct CSVCare {
        /// Whether controls are escaped, because a terminal would obey them.
        var isForTerminal = false
        /// Whether an apostrophe stands before what a spreadsheet would take for a formula.
        var escapesFormulas = false

        fileprivate func applied(to text: String) -> String {
            let isFormula = escapesFormulas && text.unicodeScalars.first.map(Self.beginsFormula) == true
            let text = isFormula ? "'" + text : text
            return isForTerminal ? PrintableText.escaped(text) : text
        }

        private static func beginsFormula(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar {
            case "=", "+", "-", "@", "\t", "\r": true
            default: false
            }
        }
    }

    /// A line of CSV (RFC 4180). NULL is an empty field, an empty text is `""`.
    static func csv(_ values: [DatabaseValue], _ care: CSVCare = CSVCare()) -> String {
        values.map { csvField($0, care) }.joined(separator: ",") + "\n"
    }

    /// A header of CSV.
    static func csvHeader(_ names: [String], _ care: CSVCare = CSVCare()) -> String {
        names.map { quoteIfNeeded(care.applied(to: $0)) }.joined(separator: ",") + "\n"
    }

    /// How many bytes a value has in CSV, without its quotes.
    static func csvByteCount(_ value: DatabaseValue, _ care: CSVCare = CSVCare()) -> Int {
        switch value.storage {
        case .string(let text): care.applied(to: text).utf8.count
        case .blob(let data): blobText(data).utf8.count
        case .null, .int64, .double: csvField(value, care).utf8.count
        }
    }

    private static func csvField(_ value: DatabaseValue, _ care: CSVCare) -> String {
        switch value.storage {
        case .null: ""
        case .int64(let number): String(number)
        case .double(let number): realText(number)
        // NA is read as NULL, unless it is in quotes.
        case .string(let text):
            text.isEmpty || text == "NA" ? "\"\(text)\"" : quoteIfNeeded(care.applied(to: text))
        // An empty field is NULL, unless it is in quotes.
        case .blob(let data): data.isEmpty ? "\"\"" : blobText(data)
        }
    }

    private static func quoteIfNeeded(_ text: String) -> String {
        // A zero byte outside of quotes is what a file in UTF-16 has, and is refused.
        let needsQuotes = text.utf8.contains { byte in
            byte == 0x2C || byte == 0x22 || byte == 0x0A || byte == 0x0D || byte == 0
        }
        return needsQuotes ? text.inQuotes(UInt8(ascii: "\"")) : text
    }

    /// 16 bytes are a UUID; other bytes are hexadecimal.
    private static func blobText(_ data: Data) -> String {
        UUID.fromDatabaseValue(data.databaseValue)?.uuidString.lowercased() ?? hexadecimal(data)
    }

    private static func hexadecimal(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * data.count)
        for byte in data {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The shortest text that reads back as the same number.
    private static func realText(_ number: Double) -> String {
        if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
        return "\(number)"
    }

    // MARK: JSON lines

    /// A JSON object on a line. 16-byte blobs are UUID text, other blobs `{"base64": "…"}`.
    static func json(_ names: [String], _ values: [DatabaseValue]) -> String {
        let members = zip(names, values).map { "\(JSONText.quoted($0)):\(jsonValue($1))" }
        return "{" + members.joined(separator: ",") + "}\n"
    }

    static func jsonValue(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let number): String(number)
        case .double(let number): number.isFinite ? "\(number)" : "\"\(number)\""
        case .string(let text): JSONText.quoted(text)
        case .blob(let data):
            if let uuid = UUID.fromDatabaseValue(data.databaseValue) {
                "\"\(uuid.uuidString.lowercased())\""
            } else {
                "{\"base64\":\"\(data.base64EncodedString())\"}"
            }
        }
    }

    // MARK: SQL

    /// A value as an SQL literal.
    ///
    /// - parameter isForTerminal: Whether text with controls is written as bytes, because a terminal would obey them.
    static func sqlLiteral(_ value: DatabaseValue, isForTerminal: Bool = false) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): String(number)
        case .double(let number): realText(number)
        case .string(let text):
            // What is on a terminal is for people: its bytes are UTF-8, and a database in UTF-16 would take them otherwise.
            isForTerminal && PrintableText.escapedLines(text) != text
                ? "CAST(x'\(hexadecimal(Data(text.utf8)))' AS TEXT)" : SQLText.literal(text)
        case .blob(let data): "x'\(hexadecimal(data))'"
        }
    }
}
