// Comparisons by `IS`, which old engines find wrong rows by: see `EngineFeatures.misplansIdentity`.

extension SQLExpression {
    /// Whether the expression is an `IS` by which an engine may find rows where both sides are NULL.
    ///
    /// By the word NULL, and by a value that is not NULL, all engines find the right rows.
    var isPlannedIdentity: Bool {
        switch node {
        case .equality(.same, let left, let right): !right.isNull && !left.isStored && !right.isStored
        // With a collation behind it, NULL is no longer the word alone.
        case .collated(let expression, _): expression.isPlannedIdentity || expression.isNullTest
        case .aliased(_, let expression), .detached(let expression): expression.isPlannedIdentity
        default: false
        }
    }

    private var isNullTest: Bool {
        switch node {
        case .equality(.same, _, let right): right.isNull
        case .collated(let expression, _), .aliased(_, let expression), .detached(let expression):
            expression.isNullTest
        default: false
        }
    }

    /// Whether the expression is a value that SQLite does not take for NULL.
    private var isStored: Bool {
        switch node {
        case .value(let value):
            if case .double(let number) = value.content { !number.isNaN } else { !value.isNull }
        case .rowValue(let expressions) where expressions.count == 1: expressions[0].isStored
        default: false
        }
    }
}
