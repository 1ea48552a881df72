import CipherStore

extension QueryFragment {
    /// Adds a piece with its values as literals, as views and triggers need it.
    ///
    /// What only some engines know is in the form of this one: a schema that has to work on all of them is made by the
    /// oldest.
    mutating func append(schemaText piece: QueryFragment) {
        let other = piece.withFormsOfSchema.withBinaryJSON
        if let error = other.bindings.lazy.compactMap(\.literalError).first {
            // The parameter makes the statement fail, with the reason.
            append(binding: .invalid(error))
        }
        var literal = other
        literal.bindings = other.bindings.map(\.exactLiteral)
        let renderer = FragmentRenderer(literal, .literals, .engine)
        for need in renderer.needs { require(need) }
        for table in renderer.numberedTables { append(rowNumberOf: table) }
        append(sql: String(decoding: renderer.text, as: UTF8.self))
    }
}

extension QueryFragment {
    /// The piece with a blob in the place of each `jsonb` of a value. The bytes are the same on all engines, and programs whose engine
    /// has no such function can run what the schema holds. It has no choices.
    fileprivate var withBinaryJSON: QueryFragment {
        let call = Array("jsonb(".utf8) + [Code.parameter, UInt8(ascii: ")")]
        var result = QueryFragment()
        result.bindings = bindings
        var value = 0
        var isInName = false
        var index = 0
        while index < code.count {
            if !isInName, code[index...].starts(with: call), let blob = bindings[value].binaryJSON {
                result.bindings[value] = .blob(blob)
                result.code.append(Code.parameter)
                value += 1
                index += call.count
                continue
            }
            let length = Code.length(code[index])
            if code[index] == Code.parameter { value += 1 }
            isInName = length == 1 && Self.isNameByte(code[index])
            result.code.append(contentsOf: code[index..<index + length])
            index += length
        }
        return result
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }
}

extension QueryFragment {
    /// The statement with the bare name of the table that it changes: triggers take no other.
    var withUnqualifiedTarget: QueryFragment {
        var beginning: [UInt8] = []
        var index = 0
        while index < code.count, code[index] != Code.tableSource {
            let length = Code.length(code[index])
            if length == 1 { beginning.append(code[index]) }
            index += length
        }
        guard index < code.count, Self.endsBeforeTarget(beginning),
            let table = Self.table(at: code[index + 1..<index + 9]),
            table.schemaName != nil, table.tableAlias == nil
        else { return self }
        var result = QueryFragment()
        result.code.append(contentsOf: code[..<index])
        result.append(identifier: table.tableName)
        result.code.append(contentsOf: code[(index + 9)...])
        result.bindings = bindings
        return result
    }

    /// Whether the beginning of a statement is that of a change up to its table.
    private static func endsBeforeTarget(_ beginning: [UInt8]) -> Bool {
        let text = String(decoding: beginning, as: UTF8.self).uppercased()
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return switch words.first ?? "" {
        case "INSERT", "REPLACE": words.last == "INTO"
        case "DELETE": words == ["DELETE", "FROM"]
        case "UPDATE": words.count == 1 || words.count == 3 && words[1] == "OR"
        default: false
        }
    }
}

extension QueryBinding {
    /// What `jsonb` makes of the value, if that is a JSON text.
    fileprivate var binaryJSON: [UInt8]? {
        if case .text(let text) = self { JSONBWriter.blob(ofText: text) } else { nil }
    }

    /// Why the value has no literal.
    fileprivate var literalError: QueryBindingError? {
        switch self {
        case .invalid(let error): error
        case .uint(let value) where value > UInt64(Int64.max):
            QueryBindingError("the integer is greater than what SQLite can store")
        case .date(let value) where ISO8601Text.text(of: value) == nil:
            QueryBindingError("a date that is not in the years 0 to 9999 can't be written into a schema")
        case .double(let value) where value.isInfinite:
            QueryBindingError("infinity can't be written into a schema")
        case .text(let text) where text.utf8.contains(0):
            QueryBindingError("a text with a NUL character can't be written into a schema")
        default: nil
        }
    }

    /// A value whose literal stands for the same.
    fileprivate var exactLiteral: QueryBinding {
        switch self {
        // SQLite stores it as NULL.
        case .double(let value) where value.isNaN: .null
        default: self
        }
    }
}
