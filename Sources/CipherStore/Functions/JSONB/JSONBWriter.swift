/// Writes SQLite's binary JSON: <https://sqlite.org/jsonb.html>.
///
/// Every element has a head with its kind and the number of bytes behind it. The bytes of numbers and texts are
/// those of the JSON text.
package enum JSONBWriter {
    /// The bytes that `jsonb` makes of a text, or nil when it is no JSON.
    package static func blob(ofText text: String) -> [UInt8]? {
        guard let json = try? JSONText(parsing: Array(text.utf8)) else { return nil }
        return blob(of: json)
    }

    /// The binary form of a text.
    static func blob(of json: JSONText) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.bytes.count + 8)
        var node = 0
        // Arrays and objects that are open: where their content begins, and the node behind them.
        var open: [(start: Int, kind: UInt8, next: Int)] = []
        while node < json.nodes.count {
            let content = json.text(of: node)
            switch json.nodes[node].kind {
            case .null: output.append(0)
            case .true: output.append(1)
            case .false: output.append(2)
            case .integer: append(3, content, to: &output)
            case .real: append(5, content, to: &output)
            case .text:
                let text = content.dropFirst().dropLast()
                append(text.contains(UInt8(ascii: "\\")) ? 8 : 7, text, to: &output)
            case .array: open.append((output.count, 11, json.nodes[node].next))
            case .object: open.append((output.count, 12, json.nodes[node].next))
            }
            node += 1
            while let last = open.last, last.next == node {
                open.removeLast()
                insertHead(last.kind, from: last.start, in: &output)
            }
        }
        return output
    }

    private static func append(_ kind: UInt8, _ content: ArraySlice<UInt8>, to output: inout [UInt8]) {
        output += head(kind, content.count)
        output += content
    }

    private static func insertHead(_ kind: UInt8, from start: Int, in output: inout [UInt8]) {
        output.insert(contentsOf: head(kind, output.count - start), at: start)
    }

    /// The kind in the low bits, the size in the high ones or behind.
    private static func head(_ kind: UInt8, _ size: Int) -> [UInt8] {
        if size <= 11 { return [UInt8(size) << 4 | kind] }
        if size <= 0xFF { return [12 << 4 | kind, UInt8(size)] }
        if size <= 0xFFFF { return [13 << 4 | kind, UInt8(size >> 8), UInt8(size & 0xFF)] }
        return [14 << 4 | kind] + [24, 16, 8, 0].map { UInt8(size >> $0 & 0xFF) }
    }
}
