/// The rows that a window function sees beside the current one.
///
/// ```swift
/// Player.select {
///     ($0.name, $0.score.sum().over(QueryWindow().partition(by: $0.team).order(by: $0.score.desc())))
/// }
/// // SELECT "players"."name", sum("players"."score") OVER (
/// //     PARTITION BY "players"."team" ORDER BY "players"."score" DESC
/// // ) FROM "players"
/// ```
public struct QueryWindow: Sendable {
    private var partitions = QueryFragment()
    private var ordering = QueryFragment()
    private var frame = QueryFragment()

    /// Makes a window of all rows.
    public init() {}

    /// Only rows that have the same values of expressions.
    public func partition<each Term: QueryExpression>(by terms: repeat each Term) -> QueryWindow {
        var result = self
        for term in repeat each terms { SelectClauses.join(&result.partitions, term.queryFragment) }
        return result
    }

    /// The order of the rows. With one, functions see the rows up to the current one and its equals, unless a frame
    /// says which.
    public func order<each Term: QueryExpression>(by terms: repeat each Term) -> QueryWindow {
        var result = self
        for term in repeat each terms { SelectClauses.join(&result.ordering, term.queryFragment) }
        return result
    }

    /// Counts rows before and behind the current one: `ROWS BETWEEN … AND …`.
    ///
    /// - parameters:
    ///     - start: The first row.
    ///     - end: The last row.
    ///     - exclusion: Which rows are left out. Other than nothing needs SQLite 3.28.
    public func rows(_ start: Bound, _ end: Bound = .currentRow, exclude exclusion: Exclusion? = nil)
        -> QueryWindow
    {
        framed("ROWS", start, end, exclusion)
    }

    /// Takes rows whose value in the order is so far from that of the current one: `RANGE BETWEEN … AND …`.
    ///
    /// Numbers as bounds need SQLite 3.28, and one term in the order.
    public func range(_ start: Bound, _ end: Bound = .currentRow, exclude exclusion: Exclusion? = nil)
        -> QueryWindow
    {
        framed("RANGE", start, end, exclusion)
    }

    /// Counts groups of rows that are equal in the order: `GROUPS BETWEEN … AND …`. It needs SQLite 3.28.
    public func groups(_ start: Bound, _ end: Bound = .currentRow, exclude exclusion: Exclusion? = nil)
        -> QueryWindow
    {
        framed("GROUPS", start, end, exclusion)
    }

    private func framed(_ unit: StaticString, _ start: Bound, _ end: Bound, _ exclusion: Exclusion?)
        -> QueryWindow
    {
        var result = self
        var frame = QueryFragment()
        frame.append(sql: unit)
        frame.append(literal: " BETWEEN ")
        start.write(to: &frame)
        frame.append(literal: " AND ")
        end.write(to: &frame)
        if let exclusion {
            frame.append(literal: " EXCLUDE ")
            frame.append(sql: exclusion.sql)
        }
        result.frame = frame
        return result
    }

    /// An end of a frame.
    public enum Bound: Sendable {
        /// The first row of the partition, at the begin of a frame.
        case unboundedPreceding
        /// So many rows, groups, or so much of the value, before the current row.
        case preceding(Int)
        /// The current row.
        case currentRow
        /// So many rows, groups, or so much of the value, behind the current row.
        case following(Int)
        /// The last row of the partition, at the end of a frame.
        case unboundedFollowing

        func write(to fragment: inout QueryFragment) {
            switch self {
            case .unboundedPreceding: fragment.append(literal: "UNBOUNDED PRECEDING")
            case .preceding(let count): fragment.append(sql: "\(count) PRECEDING" as String)
            case .currentRow: fragment.append(literal: "CURRENT ROW")
            case .following(let count): fragment.append(sql: "\(count) FOLLOWING" as String)
            case .unboundedFollowing: fragment.append(literal: "UNBOUNDED FOLLOWING")
            }
        }
    }

    /// Which rows of a frame are left out.
    public enum Exclusion: Sendable {
        /// The current row.
        case currentRow
        /// The current row and its equals in the order.
        case group
        /// The equals of the current row, but not the row itself.
        case ties

        var sql: StaticString {
            switch self {
            case .currentRow: "CURRENT ROW"
            case .group: "GROUP"
            case .ties: "TIES"
            }
        }
    }

    /// Adds the definition between parentheses.
    func write(to fragment: inout QueryFragment) {
        fragment.append(literal: "(")
        var isFirst = true
        let parts: [(StaticString, QueryFragment)] = [
            ("PARTITION BY ", partitions), ("ORDER BY ", ordering), ("", frame),
        ]
        for (word, part) in parts where !part.isEmpty {
            if !isFirst { fragment.append(literal: " ") }
            isFirst = false
            fragment.append(sql: word)
            fragment.append(part)
        }
        fragment.append(literal: ")")
    }
}
