/// An UPDATE statement.
public struct Update<Root: Table, Returning>: WritableStatement {
    /// What is returned of each row.
    public typealias QueryValue = Returning
    /// The table.
    public typealias From = Root
    /// A change gives no rows but those it returns.
    public typealias Joins = NoRows

    var policy: ConflictPolicy?
    var assignments: QueryFragment
    var source = QueryFragment()
    var conditions = FragmentList()
    var isNone = false
    var returned = QueryFragment()

    init(_ policy: ConflictPolicy?, _ assignments: QueryFragment) {
        self.policy = policy
        self.assignments = assignments
    }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }

    /// Adds a condition.
    public func `where`(
        @QueryFragmentBuilder<Bool> _ predicate: (Root.TableColumns) -> FragmentList
    ) -> Self {
        var result = self
        result.conditions.append(predicate(Root.columns))
        return result
    }

    /// Adds the condition that a column is true.
    public func `where`(_ keyPath: KeyPath<Root.TableColumns, some QueryExpression<Bool>>) -> Self {
        var result = self
        result.conditions.append(Root.columns[keyPath: keyPath].queryFragment)
        return result
    }

    /// Adds the statement, or nothing when nothing is assigned.
    public func writeStatement(to fragment: inout QueryFragment) {
        guard !assignments.isEmpty, !isNone else { return }
        fragment.append(changeOf: Root.self) { writeChange(to: &$0) }
    }

    private func writeChange(to fragment: inout QueryFragment) {
        fragment.beginPart(.updateTarget)
        if let policy { fragment.append(sql: policy.update) } else { fragment.append(literal: "UPDATE ") }
        fragment.append(sourceOf: Root.self)
        fragment.append(literal: "\nSET ")
        fragment.append(assignments)
        if !source.isEmpty {
            fragment.append(literal: "\nFROM ")
            fragment.append(source)
        }
        if !conditions.isEmpty {
            fragment.beginPart(.glue)
            fragment.append(literal: "\nWHERE ")
            fragment.beginPart(.changeCondition)
            conditions.writeConjunction(to: &fragment)
        }
        if !returned.isEmpty { fragment.writeReturning(returned) }
    }
}

/// A DELETE statement.
public struct Delete<Root: Table, Returning>: WritableStatement {
    /// What is returned of each row.
    public typealias QueryValue = Returning
    /// The table.
    public typealias From = Root
    /// A change gives no rows but those it returns.
    public typealias Joins = NoRows

    var conditions: FragmentList
    var isNone = false
    var returned = QueryFragment()

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }

    /// Adds a condition.
    public func `where`(
        @QueryFragmentBuilder<Bool> _ predicate: (Root.TableColumns) -> FragmentList
    ) -> Self {
        var result = self
        result.conditions.append(predicate(Root.columns))
        return result
    }

    /// Adds the condition that a column is true.
    public func `where`(_ keyPath: KeyPath<Root.TableColumns, some QueryExpression<Bool>>) -> Self {
        var result = self
        result.conditions.append(Root.columns[keyPath: keyPath].queryFragment)
        return result
    }

    /// Adds the statement.
    public func writeStatement(to fragment: inout QueryFragment) {
        guard !isNone else { return }
        fragment.append(changeOf: Root.self) { writeChange(to: &$0) }
    }

    private func writeChange(to fragment: inout QueryFragment) {
        fragment.beginPart(.deleteTarget)
        fragment.append(literal: "DELETE FROM ")
        fragment.append(sourceOf: Root.self)
        if !conditions.isEmpty {
            fragment.beginPart(.glue)
            fragment.append(literal: "\nWHERE ")
            fragment.beginPart(.changeCondition)
            conditions.write(asConditionsOfDeletionFrom: Root.self, to: &fragment)
        }
        if !returned.isEmpty { fragment.writeReturning(returned) }
    }
}

extension Update where Root: PrimaryKeyedTable {
    /// Adds that the key is a value.
    public func find(_ key: Root.PrimaryKey.QueryOutput) -> Self {
        var result = self
        result.conditions.append(Where<Root>(scope: .unscoped).find(key).conditions)
        return result
    }

    /// Adds that the key is one of several.
    public func find(_ keys: some Sequence<Root.PrimaryKey.QueryOutput>) -> Self {
        var result = self
        result.conditions.append(Where<Root>(scope: .unscoped).find(keys).conditions)
        return result
    }
}

extension Delete where Root: PrimaryKeyedTable {
    /// Adds that the key is a value.
    public func find(_ key: Root.PrimaryKey.QueryOutput) -> Self {
        var result = self
        result.conditions.append(Where<Root>(scope: .unscoped).find(key).conditions)
        return result
    }

    /// Adds that the key is one of several.
    public func find(_ keys: some Sequence<Root.PrimaryKey.QueryOutput>) -> Self {
        var result = self
        result.conditions.append(Where<Root>(scope: .unscoped).find(keys).conditions)
        return result
    }
}

extension QueryFragment {
    /// Adds what is returned.
    mutating func writeReturning(_ columns: QueryFragment) {
        beginPart(.glue)
        // The emulation leaves it out with the rest of this part.
        if Self.marksParts { require(.returning) }
        append(literal: "\nRETURNING ")
        beginPart(.returning)
        append(columns)
    }

    /// Notes that a part begins, for engines on which changes are emulated by their parts.
    @inlinable
    mutating func beginPart(_ part: FragmentPart) {
        if Self.marksParts { begin(part) }
    }

    /// Whether the engine lacks what the parts are for.
    @usableFromInline static let marksParts = !EngineFeatures.current.supportsReturning
}
