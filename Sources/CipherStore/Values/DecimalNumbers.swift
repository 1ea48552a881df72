import Foundation

extension Decimal: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number as text, such as `"10.5"`. Nothing is lost, where a
    /// floating-point number would be rounded. NaN is NULL, as in SQLite.
    public var databaseValue: DatabaseValue {
        isNaN ? .null : description.databaseValue
    }

    /// Decodes numbers, and text that is a decimal number.
    ///
    /// A floating-point number is the shortest decimal number that stands for
    /// it: 10.1 is 10.1, and not 10.0999999999999996.
    ///
    /// - returns: nil for what `Decimal` has no value for, such as infinity.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Decimal? {
        switch dbValue.storage {
        case .int64(let value): Decimal(value)
        case .double(let value): Decimal(number: value.description)
        case .string(let text): Decimal(number: text)
        case .null, .blob: nil
        }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.integerClass: self.init(column.int64)
        case RawColumn.realClass: self.init(number: column.double.description)
        case RawColumn.textClass: self.init(number: column.string)
        default: return nil
        }
    }

    /// Parses a whole text, where `Decimal(string:)` is content with its start.
    package init?(number text: String) {
        guard text.isDecimalNumber else { return nil }
        self.init(string: text)
        if isNaN { return nil }
    }

    /// The number as `NSNumber` and `NSDecimalNumber` are stored: an integer
    /// when it is one and fits, or else a floating-point number.
    var numericDatabaseValue: DatabaseValue {
        if isNaN { return .null }
        if let integer = Int64(description) { return integer.databaseValue }
        // Foundation's own conversion is not always the nearest number.
        return Double(description)?.databaseValue ?? .null
    }
}

extension String {
    /// Whether a text is `[+-]digits[.digits][e[+-]digits]`, with at least one
    /// digit before or after the point.
    var isDecimalNumber: Bool {
        var rest = utf8[...]
        func skip(_ characters: StaticString) -> Bool {
            let found = rest.first.map { first in
                characters.withUTF8Buffer { $0.contains(first) }
            }
            if found == true { rest.removeFirst() }
            return found == true
        }
        func skipDigits() -> Bool {
            let count = rest.count
            rest = rest.drop { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            return rest.count < count
        }
        _ = skip("+-")
        let hasInteger = skipDigits()
        let hasFraction = skip(".") && skipDigits()
        guard hasInteger || hasFraction else { return false }
        if skip("eE") {
            _ = skip("+-")
            guard skipDigits() else { return false }
        }
        return rest.isEmpty
    }
}
