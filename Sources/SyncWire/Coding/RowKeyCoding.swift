/// The key of a row: 16 bytes, or 36 characters of UUID text, as the table
/// stores it.
///
/// Text that is canonical in lower or in upper case travels as its 16 bytes.
enum RowKeyCoding {
    static let blob: UInt8 = 0
    static let lowercaseText: UInt8 = 1
    static let uppercaseText: UInt8 = 2
    static let text: UInt8 = 3

    /// The positions of the hyphens in UUID text.
    private static func isHyphen(_ index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }

    /// Returns whether bytes are UUID text: 8-4-4-4-12 hexadecimal digits.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == 36 else { return false }
        for index in 0..<36 {
            if isHyphen(index) ? bytes[index] != 0x2D : digit(bytes[index]) == nil { return false }
        }
        return true
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }

    /// Writes UUID text as its bytes when that loses nothing.
    ///
    /// - returns: The kind that was written, or nil when the text is mixed in
    ///   case or is no UUID; the output is of no use then.
    static func pack(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> UInt8? {
        guard text.count == 36 else { return nil }
        var hasLower = false
        var hasUpper = false
        var position = 0
        var index = 0
        while index < 36 {
            if isHyphen(index) {
                guard text[index] == 0x2D else { return nil }
                index += 1
                continue
            }
            let (first, second) = (text[index], text[index + 1])
            guard let high = digit(first), let low = digit(second) else { return nil }
            hasLower = hasLower || first >= 0x61 || second >= 0x61
            hasUpper = hasUpper || (first >= 0x41 && first < 0x61) || (second >= 0x41 && second < 0x61)
            output[position] = high << 4 | low
            position += 1
            index += 2
        }
        if hasLower && hasUpper { return nil }
        return hasUpper ? uppercaseText : lowercaseText
    }

    /// Writes the UUID text of 16 bytes.
    static func unpack(
        _ bytes: UnsafeRawBufferPointer, isUppercase: Bool, into output: UnsafeMutableRawBufferPointer
    ) {
        let letters: UInt8 = isUppercase ? 0x41 - 10 : 0x61 - 10
        var index = 0
        for byte in bytes {
            if isHyphen(index) {
                output[index] = 0x2D
                index += 1
            }
            for digit in [byte >> 4, byte & 15] {
                output[index] = digit < 10 ? 0x30 + digit : letters + digit
                index += 1
            }
        }
    }
}
