import Foundation

/// SQLite's binary JSON, read as text: <https://sqlite.org/jsonb.html>.
enum JSONBlob {
    /// The JSON text of a blob.
    ///
    /// - throws: ``QueryDecodingError`` when the blob is none, or nests deeper than 1000 levels.
    static func text(of blob: UnsafeRawBufferPointer) throws -> Data {
        var reader = Reader(blob: blob)
        try reader.element(end: blob.count, depth: 0)
        guard reader.index == blob.count else { throw Reader.invalid }
        return reader.text
    }

    private struct Reader {
        let blob: UnsafeRawBufferPointer
        var index = 0
        var text = Data()

        static var invalid: QueryDecodingError { .invalidValue("the blob is no binary JSON") }

        /// Reads one element that ends at `end` at the latest.
        mutating func element(end: Int, depth: Int) throws {
            guard index < end, depth < 1000 else { throw Self.invalid }
            let head = blob[index]
            index += 1
            let size = try size(head >> 4, end)
            guard size <= end - index else { throw Self.invalid }
            let next = index + size
            switch head & 15 {
            case 0: text.append(contentsOf: "null".utf8)
            case 1: text.append(contentsOf: "true".utf8)
            case 2: text.append(contentsOf: "false".utf8)
            case 3, 5: text.append(contentsOf: blob[index..<next])
            case 4: try appendInteger(blob[index..<next])
            case 6: appendNumber(blob[index..<next])
            case 7, 8: appendQuoted(blob[index..<next])
            case 9: try appendQuoted(json5: blob[index..<next])
            case 10: try appendRaw(blob[index..<next])
            case 11: try list("[", "]", next, depth, isObject: false)
            case 12: try list("{", "}", next, depth, isObject: true)
            default: throw Self.invalid
            }
            index = next
        }

        /// The size of an element's content, which stands in the head or in the bytes behind it.
        private mutating func size(_ code: UInt8, _ end: Int) throws -> Int {
            guard code > 11 else { return Int(code) }
            let count = 1 << (Int(code) - 12)
            guard count <= end - index else { throw Self.invalid }
            var size: UInt64 = 0
            for byte in blob[index..<index + count] { size = size << 8 | UInt64(byte) }
            index += count
            guard size <= UInt64(blob.count) else { throw Self.invalid }
            return Int(size)
        }

        private mutating func list(
            _ open: Character, _ close: Character, _ end: Int, _ depth: Int, isObject: Bool
        ) throws {
            text.append(contentsOf: String(open).utf8)
            var count = 0
            while index < end {
                if count > 0 { text.append(UInt8(ascii: isObject && count % 2 == 1 ? ":" : ",")) }
                if isObject, count % 2 == 0 {
                    guard (UInt8(7)...10).contains(blob[index] & 15) else { throw Self.invalid }
                }
                try element(end: end, depth: depth + 1)
                count += 1
            }
            guard index == end, !isObject || count % 2 == 0 else { throw Self.invalid }
            text.append(contentsOf: String(close).utf8)
        }

        private mutating func appendQuoted(_ bytes: Slice<UnsafeRawBufferPointer>) {
            text.append(UInt8(ascii: "\""))
            text.append(contentsOf: bytes)
            text.append(UInt8(ascii: "\""))
        }

        /// A text without escapes, which may have characters that need them.
        private mutating func appendRaw(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
            text.append(try JSONEncoder().encode(String(decoding: bytes, as: UTF8.self)))
        }

        /// A text with the escapes of JSON5.
        private mutating func appendQuoted(json5 bytes: Slice<UnsafeRawBufferPointer>) throws {
            let quoted = Data("\"".utf8) + bytes + Data("\"".utf8)
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            guard let value = try? decoder.decode(String.self, from: quoted) else { throw Self.invalid }
            text.append(try JSONEncoder().encode(value))
        }

        /// A hexadecimal integer.
        private mutating func appendInteger(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
            let digits = String(decoding: bytes, as: UTF8.self)
            let isNegative = digits.hasPrefix("-")
            let hexadecimal = digits.drop { "+-".contains($0) }.dropFirst(2)
            guard let value = UInt64(hexadecimal, radix: 16) else { throw Self.invalid }
            text.append(contentsOf: ((isNegative ? "-" : "") + String(value)).utf8)
        }

        /// A number with a point at its begin or end.
        private mutating func appendNumber(_ bytes: Slice<UnsafeRawBufferPointer>) {
            var digits = String(decoding: bytes, as: UTF8.self)
            if digits.hasPrefix("+") { digits.removeFirst() }
            if digits.hasPrefix(".") { digits = "0" + digits }
            if digits.hasPrefix("-.") { digits = "-0" + digits.dropFirst() }
            if digits.hasSuffix(".") { digits += "0" }
            text.append(contentsOf: digits.replacingOccurrences(of: ".e", with: ".0e").utf8)
        }
    }
}
