extension QueryFragment {
    /// Adds a piece with its values as literals, as views and triggers need it.
    ///
    /// What only some engines know is in the form of this one: a schema that has to work on all of them is made by the
    /// oldest.
    mutating func append(schemaText other: QueryFragment) {
        if let error = other.bindings.lazy.compactMap(\.literalError).first {
            // The parameter makes the statement fail, with the reason.
            append(binding: .invalid(error))
        }
        var literal = other
        literal.bindings = other.bindings.map(\.exactLiteral)
        let renderer = FragmentRenderer(literal, .literals, .engine)
        for need in renderer.needs { require(need) }
        append(sql: String(decoding: renderer.text, as: UTF8.self))
    }
}

extension QueryBinding {
    /// Why the value has no literal.
    fileprivate var literalError: QueryBindingError? {
        switch self {
        case .invalid(let error): error
        case .uint(let value) where value > UInt64(Int64.max):
            QueryBindingError("\(value) is greater than what SQLite can store as an integer")
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
