/// Bytes in Crockford's base 32, in groups of four with hyphens between them.
///
/// The alphabet has no letters that look like digits. The count of bytes is a multiple of five, so that each
/// text is one number of characters and no bits are left over.
enum GroupedBase32 {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func text(of bytes: [UInt8]) -> String {
        assert(bytes.count % 5 == 0)
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        var written = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                if written > 0, written % 4 == 0 { text.append(UInt8(ascii: "-")) }
                text.append(alphabet[Int(bits >> bitCount & 31)])
                written += 1
            }
            bits &= 31
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads what ``text(of:)`` wrote, in whatever case and with any spaces and hyphens.
    static func bytes(of text: String, count: Int) throws(MembershipError) -> [UInt8] {
        let wrongLength = MembershipError(
            .recoveryKeyInvalid, "a recovery key has \(count * 2 / 5) groups of four letters or digits")
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for character in text.utf8 where !isSeparator(character) {
            guard bytes.count < count else { throw wrongLength }
            guard let value = value(of: character) else {
                throw MembershipError(.recoveryKeyInvalid, "the recovery key has a character that no key has")
            }
            bits = bits << 5 | value
            bitCount += 5
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            bits &= 255
        }
        guard bytes.count == count, bitCount == 0 else { throw wrongLength }
        return bytes
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            true
        default: false
        }
    }

    private static func value(of character: UInt8) -> UInt32? {
        var upper = character
        if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(upper) { upper -= 32 }
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map { UInt32($0) }
        }
    }
}
