// Lists of terms, and the names that selected terms have; what is written at once because it is written often.

extension QueryFragment {
    /// Adds a term, or several, to a list.
    @usableFromInline mutating func append(term: QueryFragment) {
        guard !term.isEmpty else { return }
        if !isEmpty { code.append(Code.comma) }
        append(term)
    }

    /// Adds ` AS "name"`.
    mutating func append(naming name: String) {
        code.append(Code.naming)
        append(literal: " AS ")
        append(identifier: name)
        code.append(Code.namingEnd)
    }

    /// The piece without the names of what is selected: the values of an INSERT and the arguments of a call have none.
    var withoutNames: QueryFragment {
        guard code.contains(Code.naming) else { return self }
        var result = QueryFragment()
        result.bindings = bindings
        var index = 0
        var isNaming = false
        while index < code.count {
            let length = itemLength(at: index)
            if code[index] == Code.naming {
                isNaming = true
            } else if code[index] == Code.namingEnd {
                isNaming = false
            } else if !isNaming {
                result.code.append(contentsOf: code[index..<index + length])
            }
            index += length
        }
        return result
    }

    /// The terms of a list, without those of lists within them.
    var terms: [QueryFragment] { split { $0.first == Code.comma ? 1 : 0 } }

    /// The conditions that must all be met, where they stand between parentheses; the piece itself, where it is another expression.
    var conjuncts: [QueryFragment] {
        guard outerWords.allSatisfy({ $0 == "AND" }) else { return [self] }
        let word = Array(" AND ".utf8)
        return split { $0.starts(with: word) ? word.count : 0 }
    }

    /// The columns of an expression that has several, whichever way the commas between them were written.
    var columnTerms: [QueryFragment] {
        split { $0.first == Code.comma || $0.first == UInt8(ascii: ",") ? 1 : 0 }.map { term in
            var column = term
            column.code = Array(term.code.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
            return column
        }
    }

    /// The terms of a row without those of columns whose values the database makes.
    func withoutGeneratedColumns<Row: Table>(of type: Row.Type) -> QueryFragment {
        let (all, writable) = (Row.allColumnNames, Set(Row.writableColumnNames))
        guard writable.count < all.count else { return self }
        let columns = columnTerms
        // A subquery of several columns is one term.
        guard columns.count == all.count else { return self }
        var fragment = QueryFragment()
        for (name, column) in zip(all, columns) where writable.contains(name) {
            fragment.separate()
            fragment.append(column)
        }
        return fragment
    }

    /// - parameter separator: How many of the next bytes are a separator.
    private func split(at separator: (ArraySlice<UInt8>) -> Int) -> [QueryFragment] {
        var terms: [QueryFragment] = []
        var term = QueryFragment()
        var value = 0
        var nesting = Nesting()
        var index = 0
        while index < code.count {
            let separatorLength = nesting.isOutside ? separator(code[index...]) : 0
            if separatorLength > 0 {
                terms.append(term)
                term = QueryFragment()
                index += separatorLength
                continue
            }
            let length = itemLength(at: index)
            term.code.append(contentsOf: code[index..<index + length])
            let count = valueCount(at: index)
            term.bindings.append(contentsOf: bindings[value..<value + count])
            value += count
            nesting.pass(code[index])
            index += length
        }
        return terms + [term]
    }

    /// How many bytes an item has, with the forms of a choice.
    func itemLength(at index: Int) -> Int {
        let length = Code.length(code[index])
        guard code[index] == Code.choice else { return length }
        return length + Int(code[...].load(UInt32.self, index + 2))
            + Int(code[...].load(UInt32.self, index + 6))
    }

    /// How many values an item has.
    private func valueCount(at index: Int) -> Int {
        switch code[index] {
        case Code.parameter: 1
        case Code.choice:
            Int(code[...].load(UInt32.self, index + 10)) + Int(code[...].load(UInt32.self, index + 14))
        default: 0
        }
    }

    /// Whether text stands within parentheses, between quotes, or in a comment.
    struct Nesting {
        private enum Comment {
            case line
            case block
        }

        private var depth = 0
        /// The byte that ends what is quoted.
        private var quote: UInt8?
        private var comment: Comment?
        private var previous: UInt8 = 0

        /// Whether what is appended stays in a comment until the line ends.
        var isInLineComment: Bool { comment == .line }

        var isOutside: Bool { depth == 0 && quote == nil && comment == nil }

        mutating func pass(_ byte: UInt8) {
            let before = previous
            previous = byte
            if let comment {
                let isEnd =
                    comment == .line
                    ? byte == UInt8(ascii: "\n") : before == UInt8(ascii: "*") && byte == UInt8(ascii: "/")
                if isEnd { self.comment = nil }
            } else if let quote {
                if byte == quote { self.quote = nil }
            } else {
                begin(byte, after: before)
            }
        }

        private mutating func begin(_ byte: UInt8, after before: UInt8) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): quote = byte
            case UInt8(ascii: "["): quote = UInt8(ascii: "]")
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "-") where before == byte: comment = .line
            case UInt8(ascii: "*") where before == UInt8(ascii: "/"):
                comment = .block
                // What begins it is no part of its end.
                previous = 0
            default: break
            }
        }
    }
}

extension QueryFragment {
    /// The values of a row, each with the name of its column.
    ///
    /// - parameters:
    ///     - names: The names of those that are written, in order.
    ///     - all: The names of all columns, those included that are NULL because nothing is written; nil for the same.
    ///     - write: Writes all values.
    static func named(
        _ names: [String], among all: [String]? = nil, _ write: (inout RowWriter) -> Void
    ) -> QueryFragment {
        var fragment = QueryFragment()
        var index = 0
        for name in all ?? names {
            var value = QueryFragment("NULL")
            if index < names.count, names[index] == name {
                var row = RowWriter()
                row.form = .some(names.indices.map { $0 == index }, 0)
                write(&row)
                value = row.takeFragment()
                index += 1
            }
            value.append(naming: name)
            fragment.separate()
            fragment.append(value)
        }
        return fragment
    }
}

extension QueryFragment {
    /// Adds parameters with commas between them, and before them unless they are the first of their list. Their
    /// values are there already.
    @usableFromInline mutating func append(parameters count: Int, isFirst: Bool) {
        let text: StaticString = ", \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0, \0"
        var start = isFirst ? 2 : 0
        var rest = 3 &* count &- start
        while rest > 0 {
            let length = min(rest, text.utf8CodeUnitCount &- start)
            code.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start + start, count: length))
            rest &-= length
            start = 0
        }
    }

    /// Adds SQL of at most 15 bytes and a reference behind it, at once.
    @inlinable @inline(__always)
    mutating func append<T: Table>(literal sql: StaticString, _ kind: UInt8, _ type: T.Type) {
        // The text and the kind are the last bytes before the address.
        var bytes = (UInt64(0), UInt64(0), UInt(bitPattern: ObjectIdentifier(type)))
        let count = sql.utf8CodeUnitCount
        withUnsafeMutableBytes(of: &bytes) {
            $0[15] = kind
            UnsafeMutableRawBufferPointer(rebasing: $0[15 - count..<15])
                .copyMemory(from: UnsafeRawBufferPointer(start: sql.utf8Start, count: count))
            code.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[(15 - count)...]))
        }
    }

    /// Makes room for a row of so many columns.
    @inlinable
    mutating func reserve(width: Int) {
        code.reserveCapacity(3 &* width &+ 32)
        bindings.reserveCapacity(width)
    }
}
