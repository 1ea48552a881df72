import Foundation

/// A table of the full-text search module FTS5.
///
/// ```swift
/// @Table struct ReminderText: FTS5 {
///     let rowid: Int
///     let title: String
///     let notes: String
/// }
///
/// try ReminderText.where { $0.match("milk OR bread") }.order { $0.rank }
///     .select { ($0.title.highlight("<b>", "</b>"), $0.bm25([\.title: 10])) }
///     .fetchAll(db)
/// ```
///
/// The type has all columns of the table, `UNINDEXED` ones too, in the order of its `CREATE VIRTUAL TABLE`: functions of FTS5 count columns,
/// so that `highlight`, `snippet` and the weights of `bm25` would be those of others.
///
/// SQLCipher libraries may be built without FTS5, such as Debian's. Statements that use these functions fail there with
/// an error that says so.
public protocol FTS5: Table {}

extension Optional: FTS5 where Wrapped: FTS5 {}

extension TableAlias: FTS5 where Base: FTS5 {}

extension QueryFragment {
    /// Adds the column of an FTS5 table that has the table's name: it stands for the whole row.
    fileprivate mutating func append<T: Table>(searched type: T.Type) {
        append(tableOf: type)
        guard T.tableAlias != nil else { return }
        append(literal: ".")
        append(identifier: T.tableName)
    }
}

extension TableDefinition where QueryValue: FTS5 {
    /// Whether a row matches a query: `("reminderTexts" MATCH 'milk')`.
    ///
    /// - parameter query: A query in the language of FTS5: <https://sqlite.org/fts5.html#full_text_query_syntax>. A
    ///   malformed one is an error when the statement runs.
    public func match(_ query: some QueryExpression<String>) -> SQLQueryExpression<Bool> {
        var fragment = QueryFragment("(")
        fragment.require(.fullTextSearch)
        fragment.append(searched: QueryValue.self)
        fragment.append(literal: " MATCH ")
        query.write(to: &fragment)
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }

    /// How well the row matches: the less, the better. It is fast in an order; NULL without a match.
    public var rank: SQLQueryExpression<Double?> {
        var fragment = QueryFragment()
        fragment.require(.fullTextSearch)
        fragment.append(tableOf: QueryValue.self)
        fragment.append(literal: ".\"rank\"")
        return SQLQueryExpression(fragment)
    }

    /// How well the row matches, where columns have a weight: the less, the better.
    ///
    /// ```swift
    /// $0.bm25([\.title: 10])    // bm25("reminderTexts", 10.0, 1.0)
    /// ```
    ///
    /// - parameter weights: The weights of columns, 1 for others.
    public func bm25(_ weights: [PartialKeyPath<Self>: Double] = [:]) -> SQLQueryExpression<Double> {
        var byName: [String: Double] = [:]
        for (keyPath, weight) in weights {
            guard let column = self[keyPath: keyPath] as? any TableColumnExpression else { continue }
            for name in column.queryColumnNames { byName[name] = weight }
        }
        var fragment = QueryFragment("bm25(")
        fragment.require(.fullTextSearch)
        fragment.append(searched: QueryValue.self)
        if !byName.isEmpty {
            for name in QueryValue.searchedColumnNames {
                fragment.append(literal: ", ")
                fragment.append(binding: .double(byName[name] ?? 1))
            }
        }
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }
}

extension TableColumnExpression where Root: FTS5 {
    /// Whether the column matches a text as a phrase: `("reminderTexts" MATCH '"title" : "oat milk"')`.
    ///
    /// - parameter phrase: Words in their order. Nothing in it is taken for the language of queries.
    public func match(_ phrase: String) -> SQLQueryExpression<Bool> {
        let quote = UInt8(ascii: "\"")
        return Root.columns.match("\(queryColumnName.inQuotes(quote)) : \(phrase.inQuotes(quote))")
    }

    /// The text with marks around what matches.
    ///
    /// ```swift
    /// $0.title.highlight("<b>", "</b>")    // highlight("reminderTexts", 0, '<b>', '</b>')
    /// ```
    public func highlight(
        _ opening: some QueryExpression<String>, _ closing: some QueryExpression<String>
    ) -> SQLQueryExpression<QueryValue> {
        auxiliary("highlight", [opening.queryFragment, closing.queryFragment])
    }

    /// A part of the text that matches, with marks around what does.
    ///
    /// - parameters:
    ///     - opening: The mark before it.
    ///     - closing: The mark behind it.
    ///     - ellipsis: What stands where the text was cut.
    ///     - count: How many words there are at most, up to 64.
    public func snippet(
        _ opening: some QueryExpression<String>, _ closing: some QueryExpression<String>,
        _ ellipsis: some QueryExpression<String>, _ count: some QueryExpression<Int>
    ) -> SQLQueryExpression<QueryValue> {
        auxiliary(
            "snippet",
            [opening.queryFragment, closing.queryFragment, ellipsis.queryFragment, count.queryFragment])
    }

    private func auxiliary(
        _ function: StaticString, _ arguments: [QueryFragment]
    ) -> SQLQueryExpression<QueryValue> {
        var fragment = QueryFragment()
        fragment.require(.fullTextSearch)
        fragment.append(sql: function)
        fragment.append(literal: "(")
        fragment.append(searched: Root.self)
        // Functions of FTS5 count the columns of the table.
        let index = Root.searchedColumnNames.firstIndex(of: queryColumnName) ?? -1
        fragment.append(sql: ", \(index)" as String)
        for argument in arguments {
            fragment.append(literal: ", ")
            fragment.append(argument)
        }
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }
}

extension Table {
    /// The names of the columns that an FTS5 table was created with, if the type has all of them in order, as ``FTS5`` asks for.
    fileprivate static var searchedColumnNames: [String] {
        allColumnNames.filter { $0 != "rowid" && $0 != "rank" }
    }
}
