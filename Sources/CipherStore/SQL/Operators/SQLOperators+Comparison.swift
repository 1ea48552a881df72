// Comparisons. Each operator comes three times: with a value on the right, with
// a value on the left, and with expressions on both sides, so that Swift never
// has to choose between the first two.

extension SQLSpecificExpressible {
    /// `a = b`, or `a IS NULL` for nil.
    public static func == (left: Self, right: (any SQLExpressible)?) -> SQLExpression {
        .equality(.equal, left.sqlExpression, right?.sqlExpression ?? .null)
    }

    /// `a = b`, or `b IS NULL` for nil.
    public static func == (left: (any SQLExpressible)?, right: Self) -> SQLExpression {
        .equality(.equal, left?.sqlExpression ?? .null, right.sqlExpression)
    }

    /// `a = b`
    public static func == (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .equality(.equal, left.sqlExpression, right.sqlExpression)
    }

    /// `a = 1` or `a = 0`
    public static func == (left: Self, right: Bool) -> SQLExpression {
        .equality(.equal, left.sqlExpression, right)
    }

    /// `a = 1` or `a = 0`
    public static func == (left: Bool, right: Self) -> SQLExpression {
        .equality(.equal, right.sqlExpression, left)
    }

    /// `a <> b`, or `a IS NOT NULL` for nil.
    public static func != (left: Self, right: (any SQLExpressible)?) -> SQLExpression {
        .equality(.notEqual, left.sqlExpression, right?.sqlExpression ?? .null)
    }

    /// `a <> b`, or `b IS NOT NULL` for nil.
    public static func != (left: (any SQLExpressible)?, right: Self) -> SQLExpression {
        .equality(.notEqual, left?.sqlExpression ?? .null, right.sqlExpression)
    }

    /// `a <> b`
    public static func != (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .equality(.notEqual, left.sqlExpression, right.sqlExpression)
    }

    /// `a <> 1` or `a <> 0`
    public static func != (left: Self, right: Bool) -> SQLExpression {
        .equality(.notEqual, left.sqlExpression, right)
    }

    /// `a <> 1` or `a <> 0`
    public static func != (left: Bool, right: Self) -> SQLExpression {
        .equality(.notEqual, right.sqlExpression, left)
    }

    /// `a IS b`, which is true for two NULLs as well.
    public static func === (left: Self, right: (any SQLExpressible)?) -> SQLExpression {
        .equality(.same, left.sqlExpression, right?.sqlExpression ?? .null)
    }

    /// `a IS b`, which is true for two NULLs as well.
    public static func === (left: (any SQLExpressible)?, right: Self) -> SQLExpression {
        .equality(.same, left?.sqlExpression ?? .null, right.sqlExpression)
    }

    /// `a IS b`, which is true for two NULLs as well.
    public static func === (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .equality(.same, left.sqlExpression, right.sqlExpression)
    }

    /// `a IS NOT b`, which is false for two NULLs.
    public static func !== (left: Self, right: (any SQLExpressible)?) -> SQLExpression {
        .equality(.notSame, left.sqlExpression, right?.sqlExpression ?? .null)
    }

    /// `a IS NOT b`, which is false for two NULLs.
    public static func !== (left: (any SQLExpressible)?, right: Self) -> SQLExpression {
        .equality(.notSame, left?.sqlExpression ?? .null, right.sqlExpression)
    }

    /// `a IS NOT b`, which is false for two NULLs.
    public static func !== (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .equality(.notSame, left.sqlExpression, right.sqlExpression)
    }

    /// `a < b`
    public static func < (left: Self, right: some SQLExpressible) -> SQLExpression {
        .comparison("<", left.sqlExpression, right.sqlExpression)
    }

    /// `a < b`
    public static func < (left: some SQLExpressible, right: Self) -> SQLExpression {
        .comparison("<", left.sqlExpression, right.sqlExpression)
    }

    /// `a < b`
    public static func < (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .comparison("<", left.sqlExpression, right.sqlExpression)
    }

    /// `a <= b`
    public static func <= (left: Self, right: some SQLExpressible) -> SQLExpression {
        .comparison("<=", left.sqlExpression, right.sqlExpression)
    }

    /// `a <= b`
    public static func <= (left: some SQLExpressible, right: Self) -> SQLExpression {
        .comparison("<=", left.sqlExpression, right.sqlExpression)
    }

    /// `a <= b`
    public static func <= (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .comparison("<=", left.sqlExpression, right.sqlExpression)
    }

    /// `a > b`
    public static func > (left: Self, right: some SQLExpressible) -> SQLExpression {
        .comparison(">", left.sqlExpression, right.sqlExpression)
    }

    /// `a > b`
    public static func > (left: some SQLExpressible, right: Self) -> SQLExpression {
        .comparison(">", left.sqlExpression, right.sqlExpression)
    }

    /// `a > b`
    public static func > (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(">", left.sqlExpression, right.sqlExpression)
    }

    /// `a >= b`
    public static func >= (left: Self, right: some SQLExpressible) -> SQLExpression {
        .comparison(">=", left.sqlExpression, right.sqlExpression)
    }

    /// `a >= b`
    public static func >= (left: some SQLExpressible, right: Self) -> SQLExpression {
        .comparison(">=", left.sqlExpression, right.sqlExpression)
    }

    /// `a >= b`
    public static func >= (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(">=", left.sqlExpression, right.sqlExpression)
    }
}

// MARK: - LIKE and COLLATE

extension SQLSpecificExpressible {
    /// `name LIKE '%foo'`
    ///
    /// - parameters:
    ///     - pattern: The pattern, where `%` is any text and `_` any character.
    ///     - escape: The character that makes the next `%` or `_` plain.
    public func like(
        _ pattern: some SQLExpressible, escape: (any SQLExpressible)? = nil
    ) -> SQLExpression {
        .compare(sqlExpression, pattern.sqlExpression) {
            SQLExpression(.like($0, pattern: $1, escape: escape?.sqlExpression, isNegated: false))
        }
    }

    /// `content MATCH 'pattern'`
    ///
    /// Searches a column of a full-text table; the column that has the name of
    /// the table stands for all of them:
    ///
    /// ```swift
    /// let pattern = FTS3Pattern(matchingAllTokensIn: "tea pot")
    /// try Document.filter { $0.title.match(pattern) }.fetchAll(db)
    /// ```
    ///
    /// - parameter pattern: The pattern; nothing matches nil.
    public func match(_ pattern: FTS3Pattern?) -> SQLExpression {
        SQLExpression(.infix("MATCH", sqlExpression, pattern.sqlExpression))
    }

    /// `content MATCH 'pattern'`, for an ``FTS5`` table.
    ///
    /// - parameter pattern: The pattern; nothing matches nil.
    @_disfavoredOverload
    public func match(_ pattern: FTS5Pattern?) -> SQLExpression {
        SQLExpression(.infix("MATCH", sqlExpression, pattern.sqlExpression))
    }

    /// `name COLLATE NOCASE`
    ///
    /// A comparison with a collated column is collated:
    ///
    /// ```swift
    /// // SELECT * FROM player WHERE email = 'a@example.com' COLLATE NOCASE
    /// Player.filter { $0.email.collating(.nocase) == "a@example.com" }
    /// ```
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        sqlExpression.collated(collation.rawValue)
    }
}
