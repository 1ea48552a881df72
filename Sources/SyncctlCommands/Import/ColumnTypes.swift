import Foundation

/// What a column of text holds, found by looking at every value.
enum ColumnType: String {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
}

/// A field as it is stored. A text points into the field, so it lives no longer than the field's bytes.
enum FieldValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)

    /// Reads a field as a value of its column. A field that does not fit the type stays the text it is, so
    /// nothing is lost if the file changed after its types were found.
    static func parse(field bytes: UnsafeRawBufferPointer, isQuoted: Bool, as type: ColumnType) -> Self {
        if isMissing(bytes, isQuoted: isQuoted) { return .null }
        guard type != .text, let number = WrittenNumber(bytes) else { return .text(bytes) }
        if type == .integer { return number.integer.map(FieldValue.integer) ?? .text(bytes) }
        return number.isInexactInteger ? .text(bytes) : .real(number.doubleValue(writtenAs: bytes))
    }

    /// An empty field or `NA`, as R and its relatives write it, is a missing value, unless it is in quotes.
    @inline(__always)
    fileprivate static func isMissing(_ bytes: UnsafeRawBufferPointer, isQuoted: Bool) -> Bool {
        if isQuoted || bytes.count > 2 { return false }
        return bytes.isEmpty || (bytes.count == 2 && bytes[0] == 0x4E && bytes[1] == 0x41)
    }
}

/// Finds the types of the columns of a file. A column is numeric only when every value is a number that the
/// database gives back unchanged; one other value makes it text, which keeps all characters as they are.
struct ColumnTypeInference {
    private struct Facts {
        var hasInteger = false, hasInexactInteger = false
        var hasReal = false, hasText = false
        var hasOnlyUUIDs = true
    }

    private(set) var rowCount = 0
    private var facts: [Facts]

    init(columnCount: Int) {
        facts = Array(repeating: Facts(), count: columnCount)
    }

    mutating func observe(_ record: borrowing CSVRecord) {
        rowCount += 1
        for column in facts.indices where !facts[column].hasText || facts[column].hasOnlyUUIDs {
            record.withField(column) { bytes, isQuoted in
                Self.observe(bytes, isQuoted: isQuoted, in: &facts[column])
            }
        }
    }

    /// The type of each column. A column without values is text.
    var types: [ColumnType] {
        facts.map { facts in
            if facts.hasText { return .text }
            if facts.hasReal { return facts.hasInexactInteger ? .text : .real }
            return facts.hasInteger ? .integer : .text
        }
    }

    /// Whether the column can name its rows across devices: every row has a UUID in it. That no UUID comes
    /// twice is not checked.
    func isUUIDKey(_ column: Int) -> Bool { rowCount > 0 && facts[column].hasOnlyUUIDs }

    private static func observe(_ bytes: UnsafeRawBufferPointer, isQuoted: Bool, in facts: inout Facts) {
        if facts.hasOnlyUUIDs { facts.hasOnlyUUIDs = isUUID(bytes) }
        if facts.hasText || FieldValue.isMissing(bytes, isQuoted: isQuoted) { return }
        guard let number = WrittenNumber(bytes) else {
            facts.hasText = true
            return
        }
        if number.integer == nil { facts.hasReal = true } else { facts.hasInteger = true }
        if number.isInexactInteger { facts.hasInexactInteger = true }
    }

    private static func isUUID(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == 36
            && bytes.indices.allSatisfy { index in
                let byte = bytes[index]
                if [8, 13, 18, 23].contains(index) { return byte == UInt8(ascii: "-") }
                return (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
            }
    }
}

/// A number as it is written, taken apart without rounding. Spellings that a number would not give back, such
/// as `007` or `-0`, are not numbers here.
private struct WrittenNumber {
    /// Doubles hold every integer up to this one, and can be told apart by 17 digits.
    private static let largestExactInteger: UInt64 = 1 << 53
    private static let maximumRealDigits = 17
    /// Longer fields are text: no number of 17 digits needs as much.
    private static let maximumLength = 64
    private static let exactPowersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    private var isNegative = false
    private var significand: UInt64 = 0
    private var digitCount = 0
    private var exponent = 0
    /// The value, if it is written without a point and an exponent.
    private(set) var integer: Int64?
    /// Whether a column of reals would change this integer.
    var isInexactInteger: Bool { integer != nil && significand > Self.largestExactInteger }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first, bytes.count <= Self.maximumLength else { return nil }
        isNegative = first == UInt8(ascii: "-")
        var index = isNegative || first == UInt8(ascii: "+") ? 1 : 0
        let integerDigits = scanDigits(of: bytes, at: &index)
        if integerDigits > 1, bytes[index - integerDigits] == UInt8(ascii: "0") { return nil }
        if index == bytes.count {
            if integerDigits > 0, setInteger() { return } else { return nil }
        }
        var fractionDigits = 0
        if bytes[index] == UInt8(ascii: ".") {
            index += 1
            fractionDigits = scanDigits(of: bytes, at: &index)
            guard fractionDigits > 0 else { return nil }
        }
        guard integerDigits + fractionDigits > 0, digitCount <= Self.maximumRealDigits,
            let writtenExponent = Self.exponent(of: bytes, at: index)
        else { return nil }
        exponent = writtenExponent - fractionDigits
        guard isInRange(writtenAs: bytes) else { return nil }
    }

    /// Adds a run of digits to the significand and counts them. Leading zeros are not significant.
    @inline(__always)
    private mutating func scanDigits(of bytes: UnsafeRawBufferPointer, at index: inout Int) -> Int {
        let start = index
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            if digit > 9 { break }
            // With more than 19 digits this overflows, but then the number is out of range anyway.
            significand = significand &* 10 &+ UInt64(digit)
            if digitCount > 0 || digit > 0 { digitCount += 1 }
            index += 1
        }
        return index - start
    }

    private mutating func setInteger() -> Bool {
        let limit = isNegative ? Int64.min.magnitude : Int64.max.magnitude
        guard digitCount <= 19, significand <= limit, !(isNegative && significand == 0) else { return false }
        integer = Int64(truncatingIfNeeded: isNegative ? 0 &- significand : significand)
        return true
    }

    /// The exponent that is written from `index` to the end of the field: 0 for none, nil for anything else.
    private static func exponent(of bytes: UnsafeRawBufferPointer, at index: Int) -> Int? {
        if index == bytes.count { return 0 }
        guard bytes[index] | 0x20 == UInt8(ascii: "e") else { return nil }
        // Int also takes a sign, which is the only other thing an exponent may have.
        let digits = UnsafeRawBufferPointer(rebasing: bytes[(index + 1)...])
        guard digits.count <= 6 else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// Whether the double neither overflows nor loses digits next to zero.
    private func isInRange(writtenAs bytes: UnsafeRawBufferPointer) -> Bool {
        let magnitude = digitCount + exponent
        if significand == 0 || (-300...300).contains(magnitude) { return true }
        return doubleValue(writtenAs: bytes).isNormal
    }

    /// The nearest double. A product or quotient of two exact doubles is rounded only once; for the rest, the
    /// standard library reads the text, which it does without regard to the locale.
    func doubleValue(writtenAs bytes: UnsafeRawBufferPointer) -> Double {
        guard significand <= Self.largestExactInteger, exponent.magnitude < Self.exactPowersOfTen.count else {
            return Double(String(decoding: bytes, as: UTF8.self)) ?? .nan
        }
        let power = Self.exactPowersOfTen[Int(exponent.magnitude)]
        let value = exponent < 0 ? Double(significand) / power : Double(significand) * power
        return isNegative ? -value : value
    }
}
