import Foundation

// Elements of JSON under other names, and elements of rows that may be absent.

extension Select where Columns == (), Joins == NoJoins {
    /// The elements under another name, by which they are told from others of their type in one statement.
    ///
    /// ```swift
    /// enum Other: AliasName {}
    /// Trip.join(Trip.columns.tags.jsonEach()) { _, _ in true }
    ///     .join(Trip.columns.labels.jsonEach().as(Other.self)) { $1.value.eq($2.value) }
    /// // … JOIN json_each("trips"."tags") ON 1
    /// // JOIN json_each("trips"."labels") AS "others" ON ("json_each"."value") = ("others"."value")
    /// ```
    ///
    /// An element is read by `value`: select it. The columns of the name's type can be what others are made of:
    /// `TableAlias<JSONElements<Int, String>, Other>.columns.value`.
    public func `as`<Key, Value, Name: AliasName>(
        _ name: Name.Type
    ) -> Select<(), TableAlias<From, Name>, NoJoins> where From == JSONElements<Key, Value> {
        Select<(), TableAlias<From, Name>, NoJoins>(
            clauses: clauses.naming(From.self, as: TableAlias<From, Name>.self))
    }
}

/// The elements of JSON, of whatever types.
public protocol JSONElementTable: Table {
    /// The type of the elements.
    associatedtype ElementValue: QueryRepresentable
}

extension JSONElements: JSONElementTable {
    /// The type of the elements.
    public typealias ElementValue = Value
}

extension TableAlias: JSONElementTable where Base: JSONElementTable {
    /// The type of the elements.
    public typealias ElementValue = Base.ElementValue
}

extension TableAlias.TableColumns where Base: JSONElementTable, Base.ElementValue.QueryUnwrapped == UUID {
    /// The element. JSON has identifiers in upper case; they are stored and bound in lower case.
    public var value: SQLQueryExpression<Base.ElementValue> {
        elementOutOfJSON()
    }
}

extension Optional.TableColumns where Wrapped: JSONElementTable, Wrapped.ElementValue.QueryUnwrapped == UUID {
    /// The element, or NULL where there is none. JSON has identifiers in upper case; they are stored and bound in lower case.
    public var value: SQLQueryExpression<Wrapped.ElementValue?> {
        elementOutOfJSON()
    }
}

extension TableAlias.TableColumns where Base: JSONElementTable, Base.ElementValue.QueryUnwrapped == Data {
    /// The element. JSON has it as a text in Base64.
    public var value: SQLQueryExpression<Base.ElementValue> { elementOutOfJSON() }
}

extension TableAlias.TableColumns where Base: JSONElementTable, Base.ElementValue.QueryUnwrapped == [UInt8] {
    /// The element. JSON has it as an array of numbers.
    public var value: SQLQueryExpression<Base.ElementValue> { elementOutOfJSON() }
}

extension Optional.TableColumns where Wrapped: JSONElementTable, Wrapped.ElementValue.QueryUnwrapped == Data {
    /// The element, or NULL where there is none. JSON has it as a text in Base64.
    public var value: SQLQueryExpression<Data?> { elementOutOfJSON() }
}

extension Optional.TableColumns
where Wrapped: JSONElementTable, Wrapped.ElementValue.QueryUnwrapped == [UInt8] {
    /// The element, or NULL where there is none. JSON has it as an array of numbers.
    public var value: SQLQueryExpression<[UInt8]?> { elementOutOfJSON() }
}

extension TableDefinition {
    /// The element as values of its type are stored and compared.
    fileprivate func elementOutOfJSON<Value: QueryRepresentable>() -> SQLQueryExpression<Value> {
        SQLQueryExpression(
            TableColumn<QueryValue, Value>("value").queryFragment.takenOutOfJSON(as: Value.self))
    }
}
