extension String {
    /// The name in double quotes, as SQL writes an identifier.
    public var quotedDatabaseIdentifier: String { inQuotes(UInt8(ascii: "\"")) }

    /// The text in single quotes, as SQL writes a literal.
    package var quotedSQLText: String { inQuotes(UInt8(ascii: "'")) }

    /// The text between quotes, with each quote in it doubled.
    ///
    /// It looks at bytes, as SQLite does: a quote that a combining mark follows
    /// is no `Character` of its own, and would end the text for SQLite only. CSV
    /// and the language of full-text queries are read in the same way.
    package func inQuotes(_ quote: UInt8) -> String {
        var bytes: [UInt8] = [quote]
        bytes.reserveCapacity(utf8.count + 2)
        for byte in utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Double {
    /// SQL that every engine reads as exactly this number.
    ///
    /// An old engine may read a number with digits behind its point as its neighbour. Whole numbers below 2^53 it reads as
    /// they are, and to multiply and divide them by powers of two rounds nothing.
    package var exactSQL: String {
        if isNaN { return "NULL" }
        if isInfinite { return self < 0 ? "(-9e999)" : "9e999" }
        if self == 0 { return sign == .minus ? "(-0.0)" : "0.0" }
        var digits = Int64(significand * 0x1p52)
        var power = Int(exponent) - 52
        let zeros = digits.trailingZeroBitCount
        digits >>= zeros
        power += zeros
        while power > 0, digits < 1 << 52 {
            digits <<= 1
            power -= 1
        }
        var text = self < 0 ? "(-\(digits).0" : "(\(digits).0"
        var rest = abs(power)
        while rest > 0 {
            let step = Swift.min(rest, 52)
            let factor: Int64 = 1 << step
            text += power < 0 ? "/\(factor).0" : "*\(factor).0"
            rest -= step
        }
        return text + ")"
    }
}
