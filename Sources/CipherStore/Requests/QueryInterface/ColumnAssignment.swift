/// A value for a column, in an update of many rows.
///
/// ```swift
/// // UPDATE player SET score = score + 10, team = 'red'
/// try Player.updateAll(db) { [$0.score += 10, $0.team.set(to: "red")] }
/// ```
public struct ColumnAssignment: Sendable {
    let column: String

    /// The value, or nil to leave the column as it is, where SQL would overwrite it.
    let value: SQLExpression?

    init(_ column: some ColumnExpression, _ value: SQLExpression?) {
        self.column = column.name
        self.value = value
    }

    /// Writes `column = value`.
    func write(to writer: SQLWriter) throws {
        guard let value else { return }
        writer.appendQuoted(column)
        writer.append(" = ")
        try value.write(to: writer)
    }
}

extension ColumnExpression {
    /// Assigns a value; nil is NULL.
    ///
    /// ```swift
    /// try Player.updateAll(db) { $0.score.set(to: 0) }
    /// ```
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(self, value?.sqlExpression ?? .null)
    }

    /// Leaves the column as it is, in an upsert that would overwrite it.
    public var noOverwrite: ColumnAssignment { ColumnAssignment(self, nil) }

    /// Adds to the column: `score = score + 1`.
    public static func += (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column + value)
    }

    /// Subtracts from the column: `score = score - 1`.
    public static func -= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column - value)
    }

    /// Multiplies the column: `score = score * 2`.
    public static func *= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column * value)
    }

    /// Divides the column: `score = score / 2`.
    public static func /= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column / value)
    }

    /// Keeps the bits of the column that a value has as well: `flags = flags & 1`.
    public static func &= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column & value)
    }

    /// Sets bits of the column: `flags = flags | 1`.
    public static func |= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column | value)
    }

    /// Shifts the bits of the column to the left: `flags = flags << 1`.
    public static func <<= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column << value)
    }

    /// Shifts the bits of the column to the right: `flags = flags >> 1`.
    public static func >>= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column >> value)
    }
}
