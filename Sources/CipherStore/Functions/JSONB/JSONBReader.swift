/// Reads SQLite's binary JSON as text: <https://sqlite.org/jsonb.html>.
///
/// It does not recurse, so that a hostile blob can't exhaust the stack. What it writes is parsed afterwards, so that no
/// content of a blob is taken for JSON that isn't.
struct JSONBReader {
    private let blob: UnsafeRawBufferPointer
    private var index = 0
    private var text: [UInt8] = []
    /// Arrays and objects that are open: where they end, and how many values they have so far.
    private var open: [(end: Int, isObject: Bool, count: Int)] = []

    /// The JSON text of a blob, or nil when the blob is none.
    static func text(of blob: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = JSONBReader(blob: blob)
        reader.text.reserveCapacity(blob.count + blob.count / 4)
        guard reader.read() else { return nil }
        return reader.text
    }

    private init(blob: UnsafeRawBufferPointer) { self.blob = blob }

    private mutating func read() -> Bool {
        repeat {
            guard element() else { return false }
            while let last = open.last, last.end == index {
                guard !last.isObject || last.count % 2 == 0 else { return false }
                text.append(UInt8(ascii: last.isObject ? "}" : "]"))
                open.removeLast()
            }
        } while !open.isEmpty
        return index == blob.count
    }

    /// Reads one element, of an array or object only its head.
    private mutating func element() -> Bool {
        let end = open.last?.end ?? blob.count
        guard index < end, open.count < JSONText.maximumDepth else { return false }
        let head = blob[index]
        let isName = open.last.map { $0.isObject && $0.count % 2 == 0 } ?? false
        guard !isName || (7...10).contains(head & 15) else { return false }
        separate()
        index += 1
        guard let size = size(head >> 4, end), size <= end - index else { return false }
        let content = UnsafeRawBufferPointer(rebasing: blob[index..<index + size])
        switch head & 15 {
        case 11, 12:
            text.append(UInt8(ascii: head & 15 == 12 ? "{" : "["))
            open.append((index + size, head & 15 == 12, 0))
            return true
        default:
            guard append(head & 15, content) else { return false }
            index += size
            return true
        }
    }

    /// Writes what stands between this element and the one before it.
    private mutating func separate() {
        guard let last = open.indices.last else { return }
        let count = open[last].count
        if count > 0 { text.append(UInt8(ascii: open[last].isObject && count % 2 == 1 ? ":" : ",")) }
        open[last].count += 1
    }

    /// The size of an element's content, which stands in the head or in the bytes behind it.
    private mutating func size(_ code: UInt8, _ end: Int) -> Int? {
        guard code > 11 else { return Int(code) }
        let count = 1 << (Int(code) - 12)
        guard count <= end - index else { return nil }
        var size: UInt64 = 0
        for byte in blob[index..<index + count] { size = size << 8 | UInt64(byte) }
        index += count
        return size <= UInt64(blob.count) ? Int(size) : nil
    }

    private mutating func append(_ kind: UInt8, _ content: UnsafeRawBufferPointer) -> Bool {
        switch kind {
        case 0 where content.isEmpty: text += "null".utf8
        case 1 where content.isEmpty: text += "true".utf8
        case 2 where content.isEmpty: text += "false".utf8
        case 3, 5: text += content
        case 4: return appendHexadecimal(content)
        case 6: appendNumber(content)
        case 7, 8:
            text.append(UInt8(ascii: "\""))
            text += content
            text.append(UInt8(ascii: "\""))
        case 9: return appendJSON5(content)
        case 10: JSONString.append(content, to: &text)
        default: return false
        }
        return true
    }

    /// `0x1F`, with or without a sign.
    private mutating func appendHexadecimal(_ content: UnsafeRawBufferPointer) -> Bool {
        let digits = String(decoding: content, as: UTF8.self)
        let unsigned = digits.drop { "+-".contains($0) }
        guard unsigned.lowercased().hasPrefix("0x"), let value = UInt64(unsigned.dropFirst(2), radix: 16)
        else { return false }
        text += ((digits.hasPrefix("-") ? "-" : "") + String(value)).utf8
        return true
    }

    /// A number with a sign, or a point at its begin or end.
    private mutating func appendNumber(_ content: UnsafeRawBufferPointer) {
        var digits = String(decoding: content, as: UTF8.self)
        if digits.hasPrefix("+") { digits.removeFirst() }
        let isNegative = digits.hasPrefix("-")
        if isNegative { digits.removeFirst() }
        if digits.hasPrefix(".") { digits = "0" + digits }
        if let point = digits.firstIndex(of: ".") {
            let next = digits.index(after: point)
            if next == digits.endIndex || !digits[next].isNumber { digits.insert("0", at: next) }
        }
        text += ((isNegative ? "-" : "") + digits).utf8
    }

    /// A text with the escapes of JSON5: `\'`, `\v`, `\0`, `\x41`, and lines that go on.
    private mutating func appendJSON5(_ content: UnsafeRawBufferPointer) -> Bool {
        text.append(UInt8(ascii: "\""))
        var position = 0
        while position < content.count {
            let byte = content[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                if byte == UInt8(ascii: "\"") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
                continue
            }
            guard position < content.count else { return false }
            let escape = content[position]
            position += 1
            switch escape {
            case UInt8(ascii: "'"): text.append(escape)
            case UInt8(ascii: "v"): text += "\\u000b".utf8
            case UInt8(ascii: "0"): text += "\\u0000".utf8
            case UInt8(ascii: "x"):
                guard position + 2 <= content.count else { return false }
                text += "\\u00".utf8
                text += content[position..<position + 2]
                position += 2
            case UInt8(ascii: "\r"):
                if position < content.count, content[position] == UInt8(ascii: "\n") { position += 1 }
            case UInt8(ascii: "\n"): break
            case 0xE2 where position + 2 <= content.count: position += 2
            default: text += [UInt8(ascii: "\\"), escape]
            }
        }
        text.append(UInt8(ascii: "\""))
        return true
    }
}
