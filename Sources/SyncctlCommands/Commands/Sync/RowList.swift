import ArgumentParser
import SyncEngine
import SyncWire

/// The rows of a table, as `table.column=value,…`: names plain or in double quotes, values as words, in
/// single quotes, or after a word that says their type.
package struct RowList: ExpressibleByArgument {
    package let table: String
    package let column: String
    package let values: [ScopeValue]

    package init?(argument: String) {
        var text = argument[...]
        guard let table = Self.name(&text, until: "."), let column = Self.name(&text, until: "=") else {
            return nil
        }
        var values: [ScopeValue] = []
        repeat {
            guard let value = Self.value(&text) else { return nil }
            values.append(value)
        } while Self.skip(",", &text)
        guard text.isEmpty else { return nil }
        self.table = table
        self.column = column
        self.values = values
    }

    private static func skip(_ character: Character, _ text: inout Substring) -> Bool {
        guard text.first == character else { return false }
        text.removeFirst()
        return true
    }

    /// Reads what stands in quotes; of these, two stand for one.
    private static func quoted(_ quote: Character, _ text: inout Substring) -> String? {
        guard skip(quote, &text) else { return nil }
        var result = ""
        while let character = text.popFirst() {
            guard character == quote else {
                result.append(character)
                continue
            }
            guard skip(quote, &text) else { return result }
            result.append(quote)
        }
        return nil
    }

    private static func name(_ text: inout Substring, until end: Character) -> String? {
        var name = ""
        if text.first == "\"" {
            guard let quoted = quoted("\"", &text) else { return nil }
            name = quoted
        } else {
            name = String(text.prefix { $0 != end })
            text.removeFirst(name.count)
        }
        return skip(end, &text) && !name.isEmpty ? name : nil
    }

    private static func value(_ text: inout Substring) -> ScopeValue? {
        if text.first == "'" { return quoted("'", &text).map(ScopeValue.text) }
        let word = String(text.prefix { $0 != "," })
        text.removeFirst(word.count)
        if word == "null:" { return .null }
        if word.hasPrefix("text:") { return .text(String(word.dropFirst(5))) }
        if word.hasPrefix("int:") { return Int64(word.dropFirst(4)).map(ScopeValue.integer) }
        if word.hasPrefix("hex:") { return bytes(word.dropFirst(4)).map(ScopeValue.blob) }
        if word.hasPrefix("uuid:") {
            let digits = word.dropFirst(5).filter { $0 != "-" }
            return bytes(digits[...]).flatMap { $0.count == 16 ? .blob($0) : nil }
        }
        return word.isEmpty ? nil : .text(word)
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    // MARK: Saying it

    /// Rows as they are said on the command line.
    package static func text(_ rows: SyncScope.Rows) -> String {
        let values = rows.values.map(text).joined(separator: ",")
        return "\(name(rows.table, ".")).\(name(rows.column, "="))=\(values)"
    }

    private static func name(_ name: String, _ end: Character) -> String {
        guard name.contains(end) || name.hasPrefix("\"") else { return name }
        return "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    private static func text(_ value: ScopeValue) -> String {
        switch value {
        case .null: return "null:"
        case .integer(let number): return "int:\(number)"
        case .blob(let bytes):
            return "hex:" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .text(let text):
            let isPlain =
                !text.isEmpty && !text.contains { $0 == "," || $0 == "'" || $0.isWhitespace }
                && !["null:", "text:", "int:", "hex:", "uuid:"].contains(where: text.hasPrefix)
            return isPlain ? text : "'" + text.replacing("'", with: "''") + "'"
        }
    }
}
