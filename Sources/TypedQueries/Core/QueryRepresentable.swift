import Foundation

/// A type that is read from the columns of a row.
public protocol QueryDecodable {
    /// Reads the value from the decoder's next columns.
    ///
    /// - throws: ``QueryDecodingError``.
    init(decoder: inout some QueryDecoder) throws
}

/// A type that says how values of a type are stored.
///
/// Most types represent themselves. `Date.UnixTimeRepresentation` represents dates as numbers.
public protocol QueryRepresentable<QueryOutput>: QueryDecodable {
    /// The type of the values in Swift.
    associatedtype QueryOutput

    /// The type without the optional, for optional types; else the type itself.
    associatedtype QueryUnwrapped = Self

    /// Makes a representation of a value.
    init(queryOutput: QueryOutput)

    /// The value.
    var queryOutput: QueryOutput { get }

    /// The number of columns it takes.
    static var columnWidth: Int { get }

    /// Writes a value's columns into a row. There are defaults for bindable types, tables and optionals of them.
    static func writeValue(_ output: QueryOutput, to row: inout RowWriter)

    /// Writes NULL into each of its columns of a row.
    static func writeNull(to row: inout RowWriter)

    /// Writes the qualified name of a column, or of those of a group.
    static func writeColumn<Root: Table>(
        _ name: String, of root: Root.Type, to fragment: inout QueryFragment)

    /// The names of the columns that a column of this type and name stands for.
    static func columnNames(_ name: String) -> [String]
}

extension QueryRepresentable {
    /// One column.
    @inlinable
    public static var columnWidth: Int { 1 }

    /// Writes the representation, which has to be an expression.
    public static func writeValue(_ output: QueryOutput, to row: inout RowWriter) {
        guard let expression = Self(queryOutput: output) as? any QueryExpression else {
            return row.append(.invalid(QueryBindingError("\(Self.self) is no QueryBindable")))
        }
        row.append(expression)
    }

    /// Writes NULL.
    @inlinable
    public static func writeNull(to row: inout RowWriter) { row.append(.null) }

    /// Writes one qualified name.
    @inlinable
    public static func writeColumn<Root: Table>(
        _ name: String, of root: Root.Type, to fragment: inout QueryFragment
    ) {
        fragment.append(tableOf: root)
        fragment.append(literal: ".")
        fragment.append(identifier: name)
    }

    /// The one name.
    public static func columnNames(_ name: String) -> [String] { [name] }
}

extension QueryRepresentable where QueryOutput == Self {
    /// The value itself.
    @inlinable
    public init(queryOutput: Self) { self = queryOutput }

    /// The value itself.
    @inlinable
    public var queryOutput: Self { self }
}

/// A type whose values are bound to one parameter of a statement.
///
/// ```swift
/// enum Priority: Int, QueryBindable { case low, medium, high }
/// ```
public protocol QueryBindable: QueryRepresentable, QueryExpression
where QueryValue: QueryRepresentable {
    /// The type of its value as an expression, which is the type itself.
    associatedtype QueryValue = Self

    /// The type of the values in Swift, the type itself unless it says so.
    associatedtype QueryOutput = Self

    /// The value that is bound.
    var queryBinding: QueryBinding { get }
}

extension QueryBindable {
    /// One parameter.
    @inlinable
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        fragment.append(binding: queryBinding)
        return fragment
    }

    /// Adds one parameter.
    @inlinable
    public func write(to fragment: inout QueryFragment) { fragment.append(binding: queryBinding) }

    /// Writes one parameter, or what the representation writes as an expression.
    @inlinable
    public static func writeValue(_ output: QueryOutput, to row: inout RowWriter) {
        let value = Self(queryOutput: output)
        if RowWriter.isParameter(Self.self) {
            row.append(value.queryBinding)
        } else {
            row.append(value)
        }
    }
}

/// Writes the values of a row, which become the list of an INSERT, or the assignments of an UPDATE.
public struct RowWriter {
    @usableFromInline var fragment: QueryFragment
    @usableFromInline var isFirst = true
    @usableFromInline var form = Form.list
    /// How many parameters of a list were bound and are not written yet. They are written together.
    @usableFromInline var unwritten = 0

    /// What becomes of the values.
    @usableFromInline enum Form {
        /// `a, b`
        case list
        /// `"x" = a, "y" = b`, for the names that are there, in order; nil leaves a value out.
        case assignments([String?], Int)
        /// `a, b` of some of the values.
        case some([Bool], Int)
    }

    /// Makes a writer that goes on with a piece.
    @inlinable
    init(_ fragment: QueryFragment = QueryFragment()) { self.fragment = fragment }

    /// Writes a value, which may have several columns.
    ///
    /// - parameters:
    ///     - value: The value.
    ///     - type: How it is stored.
    @inlinable
    public mutating func write<Value: QueryRepresentable>(_ value: Value.QueryOutput, as type: Value.Type) {
        Value.writeValue(value, to: &self)
    }

    /// Writes NULL into each column of a type.
    @inlinable
    public mutating func writeNull<Value: QueryRepresentable>(_ type: Value.Type) {
        Value.writeNull(to: &self)
    }

    /// Writes a value into the next column.
    @inlinable
    public mutating func append(_ binding: QueryBinding) {
        if case .list = form {
            fragment.bindings.append(binding)
            unwritten &+= 1
        } else if beginNamedValue() {
            fragment.append(binding: binding)
        }
    }

    /// Writes an expression into the next column.
    @inlinable
    public mutating func append(_ expression: some QueryExpression) {
        guard beginValue() else { return }
        expression.write(to: &fragment)
    }

    /// The piece with all values, which the writer gives away.
    @inlinable
    mutating func takeFragment() -> QueryFragment {
        writeParameters()
        let result = fragment
        fragment = QueryFragment()
        return result
    }

    /// Whether a type is known to write one parameter and nothing else.
    ///
    /// The compiler knows the answer where it knows the type.
    @inlinable @inline(__always)
    static func isParameter<Value: QueryBindable>(_ type: Value.Type) -> Bool {
        type == String.self || type == Int.self || type == Int64.self || type == Double.self
            || type == Bool.self || type == UUID.self || type == UUID.BytesRepresentation.self
            || type == Date.self || type == Data.self || type == [UInt8].self || type == Int32.self
    }

    @inlinable
    mutating func writeParameters() {
        guard unwritten > 0 else { return }
        if unwritten == 1, isFirst {
            fragment.code.append(QueryFragment.Code.parameter)
        } else {
            fragment.append(parameters: unwritten, isFirst: isFirst)
        }
        isFirst = false
        unwritten = 0
    }

    @inlinable
    mutating func beginValue() -> Bool {
        guard case .list = form else { return beginNamedValue() }
        writeParameters()
        if isFirst { isFirst = false } else { fragment.append(literal: ", ") }
        return true
    }

    @usableFromInline mutating func beginNamedValue() -> Bool {
        switch form {
        case .list: return true
        case .assignments(let names, let index):
            form = .assignments(names, index + 1)
            guard index < names.count, let name = names[index] else { return false }
            if isFirst { isFirst = false } else { fragment.append(literal: ", ") }
            fragment.append(identifier: name)
            fragment.append(literal: " = ")
        case .some(let isWritten, let index):
            form = .some(isWritten, index + 1)
            guard index < isWritten.count, isWritten[index] else { return false }
            if isFirst { isFirst = false } else { fragment.append(literal: ", ") }
        }
        return true
    }
}
