// Walks through the items of a fragment's bytes.

extension QueryFragment.Code {
    /// How many bytes an item has that begins with a byte, without the forms of a choice.
    static func length(_ byte: UInt8) -> Int {
        switch byte {
        case tableName, columns, tableSource, writableNames, names, rowNumber, elements: 9
        case part, literal, need: 2
        case choice: 18
        default: 1
        }
    }
}

extension QueryFragment {
    /// The piece without the qualifiers of a table's columns.
    func unqualified<T: Table>(_ type: T.Type) -> QueryFragment {
        replacing(type) { kind, address in
            switch kind {
            // The point behind the name goes too.
            case Code.tableName: Replacement(code: [], length: 10)
            case Code.columns: Replacement(code: [Code.names] + address, length: 9)
            default: nil
            }
        }
    }

    /// The piece with another name before a table's columns.
    func qualified<T: Table>(_ type: T.Type, by name: String) -> QueryFragment {
        var qualifier = QueryFragment()
        qualifier.append(identifier: name)
        var columns = QueryFragment()
        for column in type.allColumnNames {
            columns.separate()
            columns.append(qualifier)
            columns.append(literal: ".")
            columns.append(identifier: column)
        }
        return replacing(type) { kind, _ in
            switch kind {
            case Code.tableName: Replacement(code: qualifier.code, length: 9)
            case Code.columns: Replacement(code: columns.code, length: 9)
            case Code.elements: Self.name(name, of: type)
            default: nil
            }
        }
    }

    /// The piece with a name behind elements of JSON. What is said of them stays.
    func naming<T: Table>(_ type: T.Type, _ name: String) -> QueryFragment {
        replacing(type) { kind, _ in kind == Code.elements ? Self.name(name, of: type) : nil }
    }

    /// What stands in the place of a name: nothing, where it is that of the table.
    private static func name<T: Table>(_ name: String, of type: T.Type) -> Replacement {
        var text = QueryFragment()
        if name != type.tableName {
            text.append(literal: " AS ")
            text.append(identifier: name)
        }
        return Replacement(code: text.code, length: 9)
    }

    /// What stands in the place of a reference, and how many bytes it takes the place of.
    private struct Replacement {
        let code: [UInt8]
        let length: Int
    }

    /// The piece with something else in the place of references to a table, by their kind and the address in them.
    private func replacing<T: Table>(
        _ type: T.Type, _ replacement: (_ kind: UInt8, _ address: ArraySlice<UInt8>) -> Replacement?
    ) -> QueryFragment {
        var result = QueryFragment()
        result.bindings = bindings
        result.code = Self.replacing(code[...], UInt(bitPattern: ObjectIdentifier(type)), replacement)
        return result
    }

    /// The piece with another type in all references to a table.
    func retargeted<Old: Table, New: Table>(_ old: Old.Type, to new: New.Type) -> QueryFragment {
        let (old, new) = (UInt(bitPattern: ObjectIdentifier(old)), UInt(bitPattern: ObjectIdentifier(new)))
        var result = self
        var index = 0
        // The forms of a choice stand behind it, item by item.
        while index < code.count {
            let length = Code.length(code[index])
            if length == 9, code[...].load(UInt.self, index + 1) == old {
                withUnsafeBytes(of: new) { result.code.replaceSubrange(index + 1..<index + 9, with: $0) }
            }
            index += length
        }
        return result
    }

    /// Whether a table is referred to.
    func mentions<T: Table>(_ type: T.Type) -> Bool {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        var index = 0
        while index < code.count {
            let length = Code.length(code[index])
            if length == 9, code[...].load(UInt.self, index + 1) == type { return true }
            index += length
        }
        return false
    }

    /// The piece with one form in the place of each choice: the one that this process' engine takes.
    var withFormsOfEngine: QueryFragment { withForms(\.isSupported) }

    /// The same with the forms that it takes in what a schema holds.
    var withFormsOfSchema: QueryFragment { withForms(\.isSupportedInSchema) }

    private func withForms(_ isNative: (EngineChoice) -> Bool) -> QueryFragment {
        guard code.contains(Code.choice) else { return self }
        var result = QueryFragment()
        var value = 0
        result.appendForms(code[...], bindings, &value, isNative)
        return result
    }

    private mutating func appendForms(
        _ source: ArraySlice<UInt8>, _ values: [QueryBinding], _ value: inout Int,
        _ isNative: (EngineChoice) -> Bool
    ) {
        var index = source.startIndex
        while index < source.endIndex {
            let byte = source[index]
            if byte == Code.choice {
                let start = index + Code.length(byte)
                let middle = start + Int(source.load(UInt32.self, index + 2))
                let end = middle + Int(source.load(UInt32.self, index + 6))
                if EngineChoice(rawValue: source[index + 1]).map(isNative) ?? true {
                    appendForms(source[start..<middle], values, &value, isNative)
                    value += Int(source.load(UInt32.self, index + 14))
                } else {
                    value += Int(source.load(UInt32.self, index + 10))
                    appendForms(source[middle..<end], values, &value, isNative)
                }
                index = end
                continue
            }
            let length = Code.length(byte)
            code.append(contentsOf: source[index..<index + length])
            if byte == Code.parameter {
                bindings.append(values[value])
                value += 1
            }
            index += length
        }
    }

    private static func replacing(
        _ code: ArraySlice<UInt8>, _ type: UInt, _ replacement: (UInt8, ArraySlice<UInt8>) -> Replacement?
    ) -> [UInt8] {
        var result: [UInt8] = []
        var index = code.startIndex
        while index < code.endIndex {
            let byte = code[index]
            let length = Code.length(byte)
            let isOwn = length == 9 && code.load(UInt.self, index + 1) == type
            if byte == Code.choice {
                index = appendChoice(code, index, type, replacement, to: &result)
            } else if isOwn, let other = replacement(byte, code[index + 1..<index + 9]) {
                result.append(contentsOf: other.code)
                index += other.length
            } else {
                result.append(contentsOf: code[index..<index + length])
                index += length
            }
        }
        return result
    }

    /// Copies a choice, whose forms get other lengths.
    private static func appendChoice(
        _ code: ArraySlice<UInt8>, _ start: Int, _ type: UInt,
        _ replacement: (UInt8, ArraySlice<UInt8>) -> Replacement?, to result: inout [UInt8]
    ) -> Int {
        let forms = start + Code.length(Code.choice)
        let middle = forms + Int(code.load(UInt32.self, start + 2))
        let end = middle + Int(code.load(UInt32.self, start + 6))
        let native = replacing(code[forms..<middle], type, replacement)
        let emulated = replacing(code[middle..<end], type, replacement)
        result.append(contentsOf: code[start..<start + 2])
        for count in [native.count, emulated.count] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: count)) { result.append(contentsOf: $0) }
        }
        result.append(contentsOf: code[start + 10..<forms])
        result.append(contentsOf: native)
        result.append(contentsOf: emulated)
        return end
    }
}

extension ArraySlice<UInt8> {
    func load<T: FixedWidthInteger>(_ type: T.Type, _ index: Int) -> T {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index - startIndex, as: T.self) }
    }
}
