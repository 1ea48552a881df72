import Foundation

/// Reads a JSON object (RFC 8259) from the bytes of a line, which are valid UTF-8.
struct JSONLineParser {
    /// Why a line is refused.
    struct Problem: Error {
        let message: String
        /// The byte of the line, from 0.
        let position: Int
    }

    /// Deeper values than this are refused, so that no line can use up the stack.
    private static let maximumDepth = 100

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Calls `body` for each member of the object that the line is.
    mutating func forEachMember(_ body: (_ name: String, _ value: JSONField) throws(Problem) -> Void)
        throws(Problem)
    {
        skipBlanks()
        guard take("{") else { throw problem("a line is one JSON object, such as {\"title\":\"Books\"}") }
        skipBlanks()
        if !take("}") {
            repeat {
                skipBlanks()
                let start = position
                let name = try string()
                skipBlanks()
                guard take(":") else { throw problem("expected a colon") }
                skipBlanks()
                let value = try field()
                do { try body(name, value) } catch {
                    throw Problem(message: error.message, position: start)
                }
                skipBlanks()
            } while take(",")
            guard take("}") else { throw problem("expected a comma or the end of the object") }
        }
        skipBlanks()
        guard position == bytes.count else { throw problem("there is more after the object") }
    }

    // MARK: - Values

    private mutating func field() throws(Problem) -> JSONField {
        let start = position
        switch peek {
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "{"):
            if let data = blob() { return .blob(data) }
            position = start
            try skipValue(depth: 0)
            return .other(text(from: start))
        case UInt8(ascii: "["):
            try skipValue(depth: 0)
            return .other(text(from: start))
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        case UInt8(ascii: "t"):
            try word("true")
            return .integer(1, written: "true")
        case UInt8(ascii: "f"):
            try word("false")
            return .integer(0, written: "false")
        default:
            try skipNumber()
            return .number(UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
        }
    }

    /// `{"base64":"…"}`; nil for any other object.
    private mutating func blob() -> Data? {
        guard take("{") else { return nil }
        skipBlanks()
        guard let name = try? string(), name == "base64" else { return nil }
        skipBlanks()
        guard take(":") else { return nil }
        skipBlanks()
        guard let value = try? string() else { return nil }
        skipBlanks()
        guard take("}") else { return nil }
        return Data(base64Encoded: value)
    }

    private mutating func skipValue(depth: Int) throws(Problem) {
        guard depth < Self.maximumDepth else { throw problem("values are nested too deeply") }
        switch peek {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = take("{")
            if !isObject { position += 1 }
            skipBlanks()
            if take(isObject ? "}" : "]") { return }
            repeat {
                skipBlanks()
                if isObject {
                    _ = try string()
                    skipBlanks()
                    guard take(":") else { throw problem("expected a colon") }
                    skipBlanks()
                }
                try skipValue(depth: depth + 1)
                skipBlanks()
            } while take(",")
            guard take(isObject ? "}" : "]") else {
                throw problem("expected a comma or the end of the value")
            }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "n"): try word("null")
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        default: try skipNumber()
        }
    }

    private mutating func skipNumber() throws(Problem) {
        _ = take("-")
        let isZero = peek == UInt8(ascii: "0")
        let integerDigits = skipDigits()
        guard integerDigits > 0, !(isZero && integerDigits > 1) else { throw problem("expected a value") }
        if take(".") {
            guard skipDigits() > 0 else { throw problem("expected a digit") }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard skipDigits() > 0 else { throw problem("expected a digit") }
        }
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        return position - start
    }

    // MARK: - Strings

    private mutating func string() throws(Problem) -> String {
        guard take("\"") else { throw problem("expected a string in quotes") }
        var result: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"): result.append(contentsOf: try escape())
            case ..<0x20: throw problem("a control character in a string; write it as an escape")
            default: result.append(byte)
            }
        }
        throw problem("a string without an end")
    }

    private mutating func escape() throws(Problem) -> [UInt8] {
        guard let byte = peek else { throw problem("a string without an end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw problem("an unknown escape")
        }
    }

    /// What follows `\u`: four hexadecimal digits, and the second half of a pair that needs one.
    private mutating func unicodeEscape() throws(Problem) -> [UInt8] {
        var value = try fourDigits()
        if (0xD800...0xDBFF).contains(value), take("\\"), take("u") {
            let low = try fourDigits()
            guard (0xDC00...0xDFFF).contains(low) else { throw problem("half a surrogate pair") }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw problem("half a surrogate pair") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func fourDigits() throws(Problem) -> UInt32 {
        guard position + 4 <= bytes.count else { throw problem("expected four hexadecimal digits") }
        let digits = bytes[position..<position + 4]
        guard digits.allSatisfy({ ($0 | 0x20) >= 0x61 ? ($0 | 0x20) <= 0x66 : (0x30...0x39).contains($0) }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw problem("expected four hexadecimal digits") }
        position += 4
        return value
    }

    // MARK: - Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString) throws(Problem) {
        let expected = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[position...].starts(with: expected) else { throw problem("expected a value") }
        position += expected.count
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    private func text(from start: Int) -> String {
        String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private func problem(_ message: String) -> Problem { Problem(message: message, position: position) }
}
