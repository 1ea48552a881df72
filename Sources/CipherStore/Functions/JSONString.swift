/// The texts of JSON: with quotes and escapes, and without.
enum JSONString {
    /// Appends a text with the quotes and escapes of JSON.
    static func append(_ text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var plain = 0
        for (index, byte) in text.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[plain..<index]))
            plain = index + 1
            append(escapeOf: byte, to: &output)
        }
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[plain...]))
        output.append(UInt8(ascii: "\""))
    }

    private static func append(escapeOf byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0x22, 0x5C: output.append(byte)
        default:
            output.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] {
                output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    /// Returns the text between the quotes, without its escapes.
    ///
    /// Half of a surrogate pair becomes the three bytes that UTF-8 would have
    /// for it, as in SQLite.
    static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
        guard content.contains(UInt8(ascii: "\\")) else { return Array(content) }
        var output: [UInt8] = []
        output.reserveCapacity(content.count)
        var index = content.startIndex
        while index < content.endIndex {
            let byte = content[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < content.endIndex else {
                output.append(byte)
                continue
            }
            let escape = content[index]
            index += 1
            switch escape {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"): append(scalarAt: &index, of: content, to: &output)
            default: output.append(escape)
            }
        }
        return output
    }

    private static func append(
        scalarAt index: inout Int, of content: ArraySlice<UInt8>, to output: inout [UInt8]
    ) {
        guard let first = hexNumber(content, at: index) else { return }
        index += 4
        var scalar = first
        if (0xD800..<0xDC00).contains(first), index + 6 <= content.endIndex,
            content[index] == UInt8(ascii: "\\"), content[index + 1] == UInt8(ascii: "u"),
            let second = hexNumber(content, at: index + 2), (0xDC00..<0xE000).contains(second)
        {
            index += 6
            scalar = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
        }
        append(utf8Of: scalar, to: &output)
    }

    private static func append(utf8Of scalar: UInt32, to output: inout [UInt8]) {
        func continuation(_ shift: UInt32) -> UInt8 { UInt8(0x80 | (scalar >> shift) & 0x3F) }
        switch scalar {
        case ..<0x80: output.append(UInt8(scalar))
        case ..<0x800: output += [UInt8(0xC0 | scalar >> 6), continuation(0)]
        case ..<0x10000: output += [UInt8(0xE0 | scalar >> 12), continuation(6), continuation(0)]
        default: output += [UInt8(0xF0 | scalar >> 18), continuation(12), continuation(6), continuation(0)]
        }
    }

    private static func hexNumber(_ content: ArraySlice<UInt8>, at index: Int) -> UInt32? {
        guard index + 4 <= content.endIndex else { return nil }
        var number: UInt32 = 0
        for byte in content[index..<(index + 4)] {
            guard let digit = hexValue(byte) else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number
    }

    /// The value of a hexadecimal digit.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
