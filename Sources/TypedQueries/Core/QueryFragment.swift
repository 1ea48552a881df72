/// A piece of SQL with the values of its parameters.
///
/// ```swift
/// let fragment: QueryFragment = "lower(\(Reminder.columns.title)) = \(bind: title)"
/// ```
///
/// A piece does not hold its text, but bytes that are short and quick to write: the names of tables and the lists of
/// their columns are references to the types that have them. The bytes find the prepared statement in the
/// connection's cache. They become text when it isn't there.
public struct QueryFragment: Hashable, Sendable {
    @usableFromInline var code: [UInt8]
    @usableFromInline package var bindings: [QueryBinding]

    /// What stands in the bytes between texts.
    @usableFromInline enum Code {
        /// A parameter; its value is the next of the bindings.
        @usableFromInline static var parameter: UInt8 { 0 }
        /// The name by which a table's columns are qualified, then the type.
        @usableFromInline static var tableName: UInt8 { 1 }
        /// All columns of a table, then the type.
        @usableFromInline static var columns: UInt8 { 2 }
        /// A table of a FROM clause, then the type.
        @usableFromInline static var tableSource: UInt8 { 3 }
        /// The names of the columns that can be written, then the type.
        @usableFromInline static var writableNames: UInt8 { 4 }
        /// A part of a statement begins: then ``FragmentPart``.
        @usableFromInline static var part: UInt8 { 5 }
        /// Two forms: then the feature, the counts of bytes and the counts of values of both, of 4 bytes each.
        @usableFromInline static var choice: UInt8 { 6 }
        /// A byte of text that would mean something else.
        @usableFromInline static var literal: UInt8 { 7 }
        /// Something that an old engine lacks: then ``EngineNeed``.
        @usableFromInline static var need: UInt8 { 8 }
        /// The names of all columns, not qualified, then the type. It is a control character that no SQL has, as are
        /// those that follow.
        @usableFromInline static var names: UInt8 { 14 }
        /// The name of a selected column begins: ` AS "name"`.
        @usableFromInline static var naming: UInt8 { 15 }
        /// The name of a selected column ends.
        @usableFromInline static var namingEnd: UInt8 { 16 }
        /// The comma between two terms of a list.
        @usableFromInline static var comma: UInt8 { 17 }
        /// The number of a row is asked for, by the name behind this; then the type of the table. It is no text.
        @usableFromInline static var rowNumber: UInt8 { 18 }
        /// The place of a name behind elements of JSON, then their type. It is no text until a statement names them.
        @usableFromInline static var elements: UInt8 { 19 }

        /// Whether a byte of text would mean something.
        @inlinable static func isCode(_ byte: UInt8) -> Bool {
            byte <= need || (names...elements).contains(byte)
        }
    }

    /// Makes an empty piece.
    @inlinable
    public init() {
        code = []
        bindings = []
    }

    /// Makes a piece of SQL as it is.
    ///
    /// - parameter sql: SQL that you have written. Never put what others have written into it. Values belong into
    ///   the text as `\(bind: value)`, where a literal is written.
    @inlinable
    public init(_ sql: String = "") {
        self.init()
        append(sql: sql)
    }

    /// Whether there is nothing in it.
    @inlinable
    public var isEmpty: Bool { code.isEmpty }

    // MARK: Writing

    /// Adds SQL as it is.
    @inlinable
    public mutating func append(sql: StaticString) { append(literal: sql) }

    /// Adds SQL as it is. Of two methods of one name, the compiler takes that for a `String` when it sees a literal.
    @inlinable
    mutating func append(literal sql: StaticString) {
        // One byte, of a parenthesis or a point, is put in place without a call.
        if sql.utf8CodeUnitCount == 1 { return code.append(sql.utf8Start.pointee) }
        code.append(contentsOf: UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount))
    }

    /// Adds SQL as it is.
    @_disfavoredOverload
    public mutating func append(sql: String) {
        var sql = sql
        sql.withUTF8 { appendText($0) }
    }

    /// Adds text that may have any byte in it.
    @usableFromInline mutating func appendText(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.contains(where: Code.isCode) else { return code.append(contentsOf: text) }
        for byte in text {
            if Code.isCode(byte) { code.append(Code.literal) }
            code.append(byte)
        }
    }

    /// Adds a parameter with its value.
    @inlinable
    public mutating func append(binding: QueryBinding) {
        code.append(Code.parameter)
        bindings.append(binding)
    }

    /// Adds another piece.
    @inlinable
    public mutating func append(_ other: QueryFragment) {
        code.append(contentsOf: other.code)
        if other.bindings.isEmpty { return }
        // The first values are shared rather than copied.
        if bindings.isEmpty { bindings = other.bindings } else { bindings.append(contentsOf: other.bindings) }
    }

    /// Adds a quoted name.
    @inlinable
    public mutating func append(identifier name: String) {
        code.append(UInt8(ascii: "\""))
        var name = name
        name.withUTF8 { appendName($0) }
        code.append(UInt8(ascii: "\""))
    }

    @inlinable
    mutating func appendName(_ name: UnsafeBufferPointer<UInt8>) {
        // Bytes that mean something here, and quotes, are rare in names.
        if name.allSatisfy({ $0 > Code.elements && $0 != UInt8(ascii: "\"") }) {
            code.append(contentsOf: name)
        } else {
            appendQuoting(name, UInt8(ascii: "\""))
        }
    }

    @usableFromInline mutating func appendQuoting(_ text: UnsafeBufferPointer<UInt8>, _ quote: UInt8) {
        for byte in text {
            if byte == quote { code.append(quote) }
            if Code.isCode(byte) { code.append(Code.literal) }
            code.append(byte)
        }
    }

    /// Adds the name by which columns of a table are qualified.
    @inlinable
    public mutating func append<T: Table>(tableOf type: T.Type) { append(Code.tableName, type) }

    /// Adds the qualified names of all columns of a table.
    @inlinable
    public mutating func append<T: Table>(columnsOf type: T.Type) { append(Code.columns, type) }

    /// Adds a table as it stands in a FROM clause.
    @inlinable
    public mutating func append<T: Table>(sourceOf type: T.Type) { append(Code.tableSource, type) }

    /// Adds the names of a table's columns that can be written.
    @inlinable
    public mutating func append<T: Table>(writableNamesOf type: T.Type) { append(Code.writableNames, type) }

    /// Notes that the name that follows has to be that of the number of a table's rows.
    mutating func append<T: Table>(rowNumberOf type: T.Type) { append(Code.rowNumber, type) }

    @inlinable
    mutating func append<T: Table>(_ kind: UInt8, _ type: T.Type) {
        // The kind is the last byte before the address, so that both are added at once.
        let reference = (UInt64(kind).bigEndian, UInt(bitPattern: ObjectIdentifier(type)))
        withUnsafeBytes(of: reference) { code.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[7...])) }
    }

    /// Adds a comma unless the piece is empty.
    @inlinable
    package mutating func separate() {
        if !code.isEmpty { append(literal: ", ") }
    }

    @inlinable
    mutating func begin(_ part: FragmentPart) {
        code.append(Code.part)
        code.append(part.rawValue)
    }
}

/// The parts of a change, by which an engine's lack of RETURNING and upserts is made up for.
@usableFromInline enum FragmentPart: UInt8 {
    /// `INSERT INTO` … and the names of the columns.
    case insertTarget = 1
    /// `VALUES`; then come rows.
    case rows = 2
    /// One row of values.
    case row = 3
    /// A SELECT that is inserted.
    case insertedSelect = 4
    /// `DEFAULT VALUES`.
    case defaultValues = 5
    /// The columns of `ON CONFLICT (`…`)`.
    case conflictTarget = 6
    /// The condition of the target.
    case conflictTargetCondition = 7
    /// `DO NOTHING`.
    case doNothing = 8
    /// The assignments of `DO UPDATE SET`.
    case doUpdate = 9
    /// The condition of the update.
    case doUpdateCondition = 10
    /// `UPDATE` … the table and the assignments.
    case updateTarget = 11
    /// The condition of an update or a deletion.
    case changeCondition = 12
    /// `DELETE FROM` … the table.
    case deleteTarget = 13
    /// What is returned.
    case returning = 14
    /// Common tables before a change.
    case commonTables = 15
    /// Text that the emulation writes itself.
    case glue = 16
}

extension QueryFragment: ExpressibleByStringInterpolation {
    /// Makes a piece of SQL as it is.
    public init(stringLiteral sql: String) { self.init(sql) }

    /// Makes a piece of SQL with expressions and values in it.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.fragment }

    /// SQL with expressions and values in it.
    public struct StringInterpolation: StringInterpolationProtocol {
        /// What was written so far.
        public var fragment = QueryFragment()

        /// Begins.
        public init(literalCapacity: Int, interpolationCount: Int) {
            fragment.code.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: String) { fragment.append(sql: literal) }

        /// Adds a piece.
        public mutating func appendInterpolation(_ other: QueryFragment) { fragment.append(other) }

        /// Adds an expression, or a value as a parameter.
        public mutating func appendInterpolation(_ expression: some QueryExpression) {
            expression.write(to: &fragment)
        }

        /// Adds a value as a parameter.
        public mutating func appendInterpolation<Value: QueryExpression>(bind value: Value) {
            value.write(to: &fragment)
        }

        /// Adds a parameter.
        public mutating func appendInterpolation(_ binding: QueryBinding) {
            fragment.append(binding: binding)
        }

        /// Adds a statement as a subquery would stand between parentheses.
        public mutating func appendInterpolation(_ statement: some Statement) {
            statement.writeStatement(to: &fragment)
        }

        /// Adds the name of a table.
        public mutating func appendInterpolation<T: Table>(_ table: T.Type) {
            fragment.append(sourceOf: table)
        }

        /// Adds a quoted name.
        public mutating func appendInterpolation(quote name: String, delimiter: QuoteDelimiter = .identifier)
        {
            var name = name
            let quote = delimiter.byte
            fragment.code.append(quote)
            name.withUTF8 { fragment.appendQuoting($0, quote) }
            fragment.code.append(quote)
        }

        /// Adds what is given as it is. What others have written does not belong here.
        public mutating func appendInterpolation(raw sql: String) { fragment.append(sql: sql) }

        /// Adds what describes itself, as it is. What others have written does not belong here.
        public mutating func appendInterpolation(raw sql: some LosslessStringConvertible) {
            fragment.append(sql: sql.description)
        }
    }
}

/// What stands around a name or a text.
public enum QuoteDelimiter: Sendable {
    /// The double quotes of names.
    case identifier
    /// The single quotes of texts.
    case text

    var byte: UInt8 { self == .identifier ? UInt8(ascii: "\"") : UInt8(ascii: "'") }
}
