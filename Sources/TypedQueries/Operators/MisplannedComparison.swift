// Comparisons that SQLite 3.15 finds rows by, and finds wrong ones.

/// How old engines may plan by a comparison.
@usableFromInline enum ComparisonPlanning: Sendable {
    /// As they like.
    case any
    /// Not: it is one of rows, see ``EngineChoice/plannedComparison``.
    case rows
    /// Only where one side is a value, see ``EngineChoice/plannedIdentity``.
    case identity
    /// Not, see ``EngineChoice/plannedDifference``.
    case difference
    /// Only where one side has no column, see ``EngineChoice/plannedRange``.
    case range
}

extension QueryFragment {
    /// Adds a comparison, as an expression that says nothing to the planner of old engines, where they would plan wrongly by it.
    @usableFromInline mutating func append<Left, Right, Value>(
        misplanned comparison: Comparison<Left, Right, Value>
    ) {
        guard !EngineChoice.plannedComparison.isSupported else {
            return comparison.writeComparison(to: &self)
        }
        switch comparison.planning {
        case .any: comparison.writeComparison(to: &self)
        case .rows: append(outOfPlansOf: .plannedComparison) { comparison.writeComparison(to: &$0) }
        case .difference: append(outOfPlansOf: .plannedDifference) { comparison.writeComparison(to: &$0) }
        case .identity: append(identity: comparison.left.queryFragment, comparison.right.queryFragment)
        case .range:
            let (left, right) = (comparison.left.queryFragment, comparison.right.queryFragment)
            append(rangeOf: left, limits: right) { $0.append(left, comparison.symbol, right) }
        }
    }

    private mutating func append(identity left: QueryFragment, _ right: QueryFragment) {
        // By a value that is not NULL, and by the word NULL, they find the right rows; by a parameter that is NULL they don't.
        if right.isNullParameter {
            append(left, " IS ", "NULL")
        } else if right.isParameter || left.isParameter && !left.isNullParameter {
            append(left, " IS ", right)
        } else {
            append(outOfPlansOf: .plannedIdentity) { $0.append(left, " IS ", right) }
        }
    }

    /// Adds a comparison, by which old engines don't plan when there are columns on both sides.
    ///
    /// They may be of one table: whether that is a view that joins others is not known here.
    mutating func append(
        rangeOf operand: QueryFragment, limits: QueryFragment, _ write: (inout QueryFragment) -> Void
    ) {
        guard !EngineChoice.plannedRange.isSupported, operand.hasColumn, limits.hasColumn else {
            return write(&self)
        }
        append(outOfPlansOf: .plannedRange, write)
    }

    /// Whether a column may be in it, other than of the row that a trigger runs for, or of a subquery: these are values.
    private var hasColumn: Bool {
        guard tablesOfColumns.contains(where: { !($0 is any TriggerRow.Type) }) else { return false }
        return !["SELECT", "WITH"].contains(insideOfParentheses?.outerWords.first)
    }

    /// The tables of the columns that are in it.
    var tablesOfColumns: [any Table.Type] {
        var tables: [any Table.Type] = []
        var index = 0
        // The forms of a choice stand behind it, item by item.
        while index < code.count {
            let length = Code.length(code[index])
            if code[index] == Code.tableName || code[index] == Code.columns,
                let table = Self.table(at: code[index + 1..<index + length])
            {
                tables.append(table)
            }
            index += length
        }
        return tables
    }

    /// Adds a test of several columns in the same way.
    @usableFromInline mutating func append<Base>(misplanned test: NullTest<Base>) {
        guard !EngineChoice.plannedIdentity.isSupported else { return test.writeTest(to: &self) }
        append(outOfPlansOf: .plannedIdentity) { test.writeTest(to: &$0) }
    }

    private mutating func append(_ left: QueryFragment, _ symbol: StaticString, _ right: QueryFragment) {
        append(literal: "(")
        append(left)
        append(literal: ")")
        append(literal: symbol)
        append(literal: "(")
        append(right)
        append(literal: ")")
    }

    /// Adds an expression, as one that says nothing to the planner of old engines.
    mutating func append(outOfPlansOf choice: EngineChoice, _ write: (inout QueryFragment) -> Void) {
        append(onlyWithout: choice) { $0.append(literal: "+(") }
        write(&self)
        append(onlyWithout: choice) { $0.append(literal: ")") }
    }

    private var isParameter: Bool { code == [Code.parameter] }

    private var isNullParameter: Bool {
        guard isParameter, let value = bindings.first else { return false }
        return switch value {
        case .null: true
        // SQLite stores it as NULL.
        case .double(let number): number.isNaN
        default: false
        }
    }

    /// The constraint of a left join, by whose own comparisons old engines may plan: they are only asked of the joined table.
    var settlingJoin: QueryFragment { settling(.plannedIdentity) }

    /// The piece in the form of new engines, where that is right on old ones, too; the piece itself, when it has statements in it.
    func settling(_ choice: EngineChoice) -> QueryFragment {
        guard !choice.isSupported, code.contains(Code.choice) else { return self }
        // A statement within it may have a left join of its own.
        guard !hasStatement else { return self }
        var result = self
        var index = 0
        // The forms of a choice stand behind it, item by item.
        while index < code.count {
            if code[index] == Code.choice, code[index + 1] == choice.rawValue {
                result.code[index + 1] = EngineChoice.settled.rawValue
            }
            index += Code.length(code[index])
        }
        return result
    }

    /// Whether there may be a statement within it.
    var hasStatement: Bool {
        let select = Array("SELECT".utf8)
        return code.indices.contains { index in
            // In capitals, as far as they are letters.
            code[index...].lazy.map { $0 & 0xDF }.starts(with: select)
        }
    }
}
