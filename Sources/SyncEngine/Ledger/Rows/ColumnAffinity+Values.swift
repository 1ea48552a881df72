import CipherStore
import SyncWire

extension ColumnAffinity {
    /// Reads the affinities of a table's columns, by name.
    static func loadAll(_ db: Database, table name: String) throws -> [String: ColumnAffinity] {
        let rows = try Row.fetchAll(
            db, sql: "PRAGMA main.table_info(\(name.quotedDatabaseIdentifier))")
        return Dictionary(
            try rows.map {
                (
                    try $0.decode(String.self, forColumn: "name").identifierKey,
                    ColumnAffinity(type: try $0.decode(forColumn: "type"))
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the column may hold another value than the one that is written to it. What it holds has to be read:
    /// this is only the question whether that is worth while.
    @inline(__always)
    func mayConvert(_ value: WireValue) -> Bool {
        switch (self, value) {
        case (.blob, _), (_, .null), (_, .blob): false
        case (.text, .text), (.numeric, .integer), (.integer, .integer): false
        case (.text, _), (.real, .integer): true
        case (.real, .real(let number)): number == 0 && number.sign == .minus
        case (.numeric, .real(let number)), (.integer, .real(let number)):
            number.rounded(.towardZero) == number
        case (_, .text(let bytes)): Self.looksLikeNumber(bytes)
        }
    }

    /// What the column makes of a value, in SQL.
    func converted(_ value: String) -> String {
        switch self {
        case .blob: value
        case .text:
            "CASE WHEN typeof(\(value)) IN ('integer', 'real') THEN CAST(\(value) AS TEXT) ELSE \(value) END"
        case .integer, .real, .numeric:
            """
            CASE WHEN typeof(\(value)) = 'text' AND CAST(\(value) AS NUMERIC) = \(value)
                THEN CAST(\(value) AS \(self == .real ? "REAL" : "NUMERIC"))
                WHEN typeof(\(value)) = 'integer' AND \(self == .real ? 1 : 0) THEN CAST(\(value) AS REAL)
                WHEN typeof(\(value)) = 'real' AND \(self == .real ? 0 : 1) AND \(value) = CAST(\(value) AS INTEGER)
                THEN CAST(\(value) AS INTEGER) ELSE \(value) END
            """
        }
    }

    /// Whether text is a number, with spaces around it: dates and names are told apart at their first letter or
    /// second sign.
    private static func looksLikeNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var hasDigit = false
        var (mayHaveSign, mayHavePoint, mayHaveExponent, isOver) = (true, true, true, false)
        for byte in bytes {
            switch byte {
            case 0x09...0x0D, 0x20:
                if hasDigit || !mayHaveSign || !mayHavePoint { isOver = true }
                continue
            case _ where isOver:
                return false
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                (hasDigit, mayHaveSign) = (true, false)
            case UInt8(ascii: "+") where mayHaveSign, UInt8(ascii: "-") where mayHaveSign:
                mayHaveSign = false
            case UInt8(ascii: ".") where mayHavePoint:
                (mayHavePoint, mayHaveSign) = (false, false)
            case UInt8(ascii: "e") where mayHaveExponent && hasDigit,
                UInt8(ascii: "E") where mayHaveExponent && hasDigit:
                (mayHaveExponent, mayHavePoint, mayHaveSign) = (false, false, true)
            default:
                return false
            }
        }
        return hasDigit
    }
}
