/// Which rows of two relations belong together.
enum RelationCondition: Sendable {
    /// An expression on two sources.
    typealias Expression =
        @Sendable (_ db: Database, _ left: SourceIdentity, _ right: SourceIdentity) throws -> SQLExpression?

    /// All rows with all rows.
    case none
    /// Those with equal columns.
    case foreignKey(ForeignKeyMatch, originIsLeft: Bool)
    /// Those for which an expression is true.
    case expression(Expression)

    /// The condition seen from the other relation.
    var reversed: RelationCondition {
        switch self {
        case .none: .none
        case .foreignKey(let match, let originIsLeft): .foreignKey(match, originIsLeft: !originIsLeft)
        case .expression(let make): .expression { db, left, right in try make(db, right, left) }
        }
    }

    /// Whether the condition may be true when the left row is missing.
    var acceptsMissingRow: Bool {
        if case .foreignKey = self { false } else { true }
    }

    /// The columns that have equal values.
    ///
    /// - throws: A ``DatabaseError``, also when the condition is not about columns.
    func columns(_ db: Database) throws -> [(left: String, right: String)] {
        guard case .foreignKey(let match, let originIsLeft) = self else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    associated rows can be requested by foreign key only: \
                    the first association on the way to them has another condition
                    """)
        }
        return try match.columns(db).map {
            originIsLeft ? (left: $0.origin, right: $0.destination) : (left: $0.destination, right: $0.origin)
        }
    }

    /// The condition of a JOIN, or nil for all rows.
    func expression(
        _ db: Database, _ left: SourceIdentity, _ right: SourceIdentity
    ) throws -> SQLExpression? {
        switch self {
        case .none: nil
        case .expression(let make): try make(db, left, right)
        case .foreignKey:
            try .joined(
                .and,
                columns(db).map { pair in
                    .equality(
                        .equal, .column(pair.right).scoped(to: right), .column(pair.left).scoped(to: left))
                })
        }
    }
}
