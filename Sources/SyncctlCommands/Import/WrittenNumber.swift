import Foundation

/// A number as it is written, taken apart without rounding. Spellings that are more than a number, such as `007` or
/// `-0`, are not numbers here.
struct WrittenNumber {
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
    private var hasPlusSign = false
    /// Whether it is an integer and a fraction of at most 15 digits without needless zeros, and no exponent.
    private var isPlain = false
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
        hasPlusSign = first == UInt8(ascii: "+")
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
        isPlain =
            integerDigits > 0 && fractionDigits > 0 && index == bytes.count && digitCount <= 15
            && !hasPlusSign
            && (fractionDigits == 1 || bytes[index - 1] != UInt8(ascii: "0"))
        guard isInRange(writtenAs: bytes) else { return nil }
    }

    /// Whether the number is written as the database's text of it: `5`, `0.1` and `1e-05`, and not `+5`, `1.10` or
    /// `1e5`.
    func isCanonical(writtenAs bytes: UnsafeRawBufferPointer) -> Bool {
        if integer != nil { return !hasPlusSign }
        // The database keeps no negative zero.
        if significand == 0 && isNegative { return false }
        // Decimals of 15 digits are different doubles, so the shortest text of one of them is itself.
        if isPlain, significand == 0 || digitCount + exponent > -3 { return true }
        return "\(doubleValue(writtenAs: bytes))".utf8.elementsEqual(bytes)
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
