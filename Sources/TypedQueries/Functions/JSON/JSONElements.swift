import Foundation

/// The elements of JSON as the rows of a table: what the query of `jsonEach()` is about.
///
/// ```swift
/// Trip.where { $0.geofence.jsonEach().where { $0.latitude < 0 }.exists() }
/// // … WHERE EXISTS (SELECT "json_each"."value" FROM json_each("trips"."geofence")
/// //     WHERE (json_extract("json_each"."value", '$.latitude')) < (0.0))
/// Trip.join(Trip.columns.geofence.jsonEach()) { _, _ in true }.select { ($0.title, $1.key, $1.label) }
/// ```
///
/// - `Key` is the type of the keys: positions, or the names of members.
/// - `Value` is the type of the elements: how they are read.
///
/// SQLite calls all elements `json_each`. Those beside or among the ones of another `jsonEach()` are called `json_each_2`, and so on.
/// Where both have one type, as in a tree, columns in the closures of the inner ones are always the inner ones'; elements of one type
/// that are joined get names by `as(_:)`.
///
/// A library without SQLite's JSON gets the table in Swift.
public struct JSONElements<Key: QueryBindable, Value: QueryRepresentable & Sendable>: Table {
    /// An element.
    public typealias QueryOutput = Value.QueryOutput

    private let value: Value

    /// The columns of the elements.
    @dynamicMemberLookup
    public struct TableColumns: TableDefinition {
        /// The elements.
        public typealias QueryValue = JSONElements<Key, Value>

        /// Makes the columns.
        public init() {}

        /// The position in the array, from 0, or the name of the member.
        public var key: TableColumn<QueryValue, Key> { TableColumn("key") }

        /// The element.
        @_disfavoredOverload
        public var value: TableColumn<QueryValue, Value> { TableColumn("value") }

        /// What a row is read from: the element.
        public static var columnList: ColumnList { ColumnList(TableColumn<QueryValue, Value>("value")) }

        /// A property of the element, by the name of its column.
        ///
        /// ```swift
        /// $0.latitude    // json_extract("json_each"."value", '$.latitude')
        /// ```
        public subscript<Element: Table & Codable, Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Element.TableColumns, TableColumn<Element, Member>>
        ) -> SQLQueryExpression<Member> where Value == JSONTextRepresentation<Element> {
            let list = Element.TableColumns.columnList
            let column = Element.columns[keyPath: keyPath].queryColumnName
            let name = list.columns.firstIndex { $0.queryColumnName == column }
                .map { list.nameInJSON(of: $0) }
            var path = QueryFragment()
            path.append(binding: .text("$." + JSONPropertyName.quoted(name ?? column)))
            let call: QueryFragment = "json_extract(\(value.queryFragment), \(path))"
            return SQLQueryExpression(call.takenOutOfJSON(as: Member.self))
        }
    }

    /// The table's name.
    public static var tableName: String { "json_each" }

    /// The number of columns of an element.
    public static var columnWidth: Int { Value.columnWidth }

    /// Makes a row of an element.
    public init(queryOutput: Value.QueryOutput) { value = Value(queryOutput: queryOutput) }

    /// The element.
    public var queryOutput: Value.QueryOutput { value.queryOutput }

    /// Reads an element.
    public init(decoder: inout some QueryDecoder) throws {
        if decoder.isText, let bytes = Value.jsonBytes {
            value = try Self.bytes(&decoder, bytes)
        } else {
            value = try Value(decoder: &decoder)
        }
    }

    /// Writes the element.
    public func writeValues(to row: inout RowWriter) { row.write(value.queryOutput, as: Value.self) }
}

extension JSONElements.TableColumns where Value.QueryUnwrapped == UUID {
    /// The element. JSON has identifiers in upper case; they are stored and bound in lower case.
    public var value: SQLQueryExpression<Value> {
        SQLQueryExpression(TableColumn<QueryValue, Value>("value").queryFragment.ignoringCase)
    }
}

extension QueryFragment {
    /// An expression whose letters are compared without their case, as those of identifiers are.
    var ignoringCase: QueryFragment { "(\(self) COLLATE NOCASE)" }
}

/// A type whose JSON is an array or an object of values of one type.
public protocol JSONContainer {
    /// The type of the positions or the names.
    associatedtype JSONKey: QueryBindable
    /// The type of the elements.
    associatedtype JSONElement
}

extension Array: JSONContainer {
    /// Positions, from 0.
    public typealias JSONKey = Int
    /// The elements.
    public typealias JSONElement = Element
}

extension Set: JSONContainer {
    /// Positions, from 0.
    public typealias JSONKey = Int
    /// The elements.
    public typealias JSONElement = Element
}

extension Dictionary: JSONContainer where Key == String {
    /// The names of the members.
    public typealias JSONKey = String
    /// The members' values.
    public typealias JSONElement = Value
}

extension Optional: JSONContainer where Wrapped: JSONContainer {
    /// The keys of the value that may be missing.
    public typealias JSONKey = Wrapped.JSONKey
    /// The elements of the value that may be missing.
    public typealias JSONElement = Wrapped.JSONElement
}

extension QueryExpression where QueryValue: JSONStorage {
    /// The elements of an array, or the members of an object, as the rows of a query.
    ///
    /// ```swift
    /// Reminder.where { $0.tags.jsonEach().contains("home") }
    /// // … WHERE ('home') IN (SELECT "json_each"."value" FROM json_each("reminders"."tags"))
    /// ```
    public func jsonEach() -> Select<
        (), JSONElements<QueryValue.JSONValue.JSONKey, QueryValue.JSONValue.JSONElement>, NoJoins
    > where QueryValue.JSONValue: JSONContainer, QueryValue.JSONValue.JSONElement: QueryBindable & Sendable {
        JSONRows.all(queryFragment)
    }

    /// The same of elements that are objects or arrays themselves.
    @_disfavoredOverload
    public func jsonEach<Element: Codable & Sendable>() -> Select<
        (), JSONElements<QueryValue.JSONValue.JSONKey, JSONTextRepresentation<Element>>, NoJoins
    > where QueryValue.JSONValue: JSONContainer, QueryValue.JSONValue.JSONElement == Element {
        JSONRows.all(queryFragment)
    }

    /// The elements of an array, or the members of an object in the JSON, as the rows of a query.
    ///
    /// ```swift
    /// User.where { $0.profile.jsonEach(\.tags).contains("admin") }
    /// // … WHERE ('admin') IN (SELECT "json_each"."value" FROM json_each("users"."profile", '$.tags'))
    /// ```
    public func jsonEach<Container: JSONContainer>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Container>
    ) -> Select<(), JSONElements<Container.JSONKey, Container.JSONElement>, NoJoins>
    where Container.JSONElement: QueryBindable & Sendable {
        JSONRows.all(queryFragment, JSONPath<QueryValue.JSONValue>()[keyPath: path])
    }

    /// The same of elements that are objects or arrays themselves.
    @_disfavoredOverload
    public func jsonEach<Container: JSONContainer, Element: Codable & Sendable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Container>
    ) -> Select<(), JSONElements<Container.JSONKey, JSONTextRepresentation<Element>>, NoJoins>
    where Container.JSONElement == Element {
        JSONRows.all(queryFragment, JSONPath<QueryValue.JSONValue>()[keyPath: path])
    }
}

/// Makes the queries of elements.
private enum JSONRows {
    static func all<Key, Value>(
        _ json: QueryFragment, _ path: JSONPath<some Any>? = JSONPath<Never>?.none
    ) -> Select<(), JSONElements<Key, Value>, NoJoins> {
        var source = QueryFragment("json_each(\(json)")
        var arguments = [ConditionalSource.Argument(column: "json", value: json)]
        if let path {
            var text = QueryFragment()
            path.write(to: &text)
            source.append(literal: ", ")
            source.append(text)
            arguments.append(ConditionalSource.Argument(column: "root", value: text))
        }
        source.append(literal: ")")
        var clauses = SelectClauses()
        let type = JSONElements<Key, Value>.self
        source.append(.elements(type))
        clauses.source = source
        clauses.conditionalSource = ConditionalSource(type, arguments)
        clauses.elements = [.elements(type)]
        return Select(clauses: clauses)
    }
}

extension Select where Columns == (), Joins == NoJoins {
    /// Whether one of the elements equals a value.
    public func contains<Key, Value, Element: QueryExpression>(
        _ element: Element
    ) -> MembershipTest<Element> where From == JSONElements<Key, Value>, Element.QueryValue == Value {
        let rows =
            Value.jsonBytes == nil ? self : with { $0.columns = JSONElements<Key, Value>.valueOutOfJSON }
        return MembershipTest(
            base: element, symbol: Value.QueryUnwrapped.self == UUID.self ? " COLLATE NOCASE IN " : " IN ",
            list: rows.query)
    }
}
