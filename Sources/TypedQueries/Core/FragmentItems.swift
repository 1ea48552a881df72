// Walks through the items of a fragment's bytes.

extension QueryFragment.Code {
    /// How many bytes an item has that begins with a byte, without the forms of a choice.
    static func length(_ byte: UInt8) -> Int {
        switch byte {
        case tableName, columns, tableSource, writableNames, names: 9
        case part, literal, need: 2
        case choice: 14
        default: 1
        }
    }
}

extension QueryFragment {
    /// The piece without the qualifiers of a table's columns.
    func unqualified<T: Table>(_ type: T.Type) -> QueryFragment {
        var result = QueryFragment()
        result.bindings = bindings
        result.code = Self.unqualified(code[...], UInt(bitPattern: ObjectIdentifier(type)))
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

    private static func unqualified(_ code: ArraySlice<UInt8>, _ type: UInt) -> [UInt8] {
        var result: [UInt8] = []
        var index = code.startIndex
        while index < code.endIndex {
            let byte = code[index]
            let length = Code.length(byte)
            let isOwn = length == 9 && code.load(UInt.self, index + 1) == type
            if byte == Code.choice {
                index = appendChoice(code, index, type, to: &result)
            } else if isOwn, byte == Code.tableName {
                // The point behind the name goes too.
                index += 10
            } else if isOwn, byte == Code.columns {
                result.append(Code.names)
                result.append(contentsOf: code[index + 1..<index + 9])
                index += 9
            } else {
                result.append(contentsOf: code[index..<index + length])
                index += length
            }
        }
        return result
    }

    /// Copies a choice, whose forms get shorter.
    private static func appendChoice(
        _ code: ArraySlice<UInt8>, _ start: Int, _ type: UInt, to result: inout [UInt8]
    ) -> Int {
        let middle = start + 14 + Int(code.load(UInt32.self, start + 2))
        let end = middle + Int(code.load(UInt32.self, start + 6))
        let native = unqualified(code[start + 14..<middle], type)
        let emulated = unqualified(code[middle..<end], type)
        result.append(contentsOf: code[start..<start + 2])
        for count in [native.count, emulated.count] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: count)) { result.append(contentsOf: $0) }
        }
        result.append(contentsOf: code[start + 10..<start + 14])
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
