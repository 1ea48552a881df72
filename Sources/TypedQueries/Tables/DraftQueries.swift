// Queries and properties of a table, where drafts of it are read.

/// The columns of a draft. What an extension of the table's columns adds, they have too.
@dynamicMemberLookup
public protocol DraftDefinition: TableDefinition where QueryValue: TableDraft {}

extension DraftDefinition {
    /// An expression of the table's columns, such as a property of an extension.
    @_disfavoredOverload
    public subscript<Value, Expression: QueryExpression<Value>>(
        dynamicMember keyPath: KeyPath<QueryValue.PrimaryTable.TableColumns, Expression>
    ) -> SQLQueryExpression<Value> {
        let expression = QueryValue.PrimaryTable.columns[keyPath: keyPath].queryFragment
        return SQLQueryExpression(expression.retargeted(QueryValue.PrimaryTable.self, to: QueryValue.self))
    }
}

extension TableDraft {
    /// The rows of a static member of the table's type that is a query, as drafts.
    @_disfavoredOverload
    public static subscript(
        dynamicMember keyPath: KeyPath<PrimaryTable.Type, Where<PrimaryTable>>
    ) -> Where<Self> {
        Where<Self>().drafts(PrimaryTable.self[keyPath: keyPath])
    }
}

extension Where where From: TableDraft {
    /// Adds the conditions of a static member of the table's type that is a query.
    @_disfavoredOverload
    public subscript(
        dynamicMember keyPath: KeyPath<From.PrimaryTable.Type, Where<From.PrimaryTable>>
    ) -> Where<From> {
        drafts(From.PrimaryTable.self[keyPath: keyPath])
    }

    /// Adds that the key is a value.
    public func find(_ key: From.PrimaryTable.PrimaryKey.QueryOutput) -> Self {
        drafts(Where<From.PrimaryTable>(scope: .unscoped).find(key))
    }

    /// Adds the conditions of a query of the table.
    func drafts(_ query: Where<From.PrimaryTable>) -> Self {
        var result = self
        result.conditions.append(
            query.combinedConditions.mapped { $0.retargeted(From.PrimaryTable.self, to: From.self) })
        if query.scope == .none { result.scope = .none }
        return result
    }
}

extension Select where From: TableDraft {
    /// Adds the conditions of a static member of the table's type that is a query.
    @_disfavoredOverload
    public subscript(
        dynamicMember keyPath: KeyPath<From.PrimaryTable.Type, Where<From.PrimaryTable>>
    ) -> Self {
        and(Where(scope: .unscoped).drafts(From.PrimaryTable.self[keyPath: keyPath]))
    }

    /// Adds that the key is a value.
    public func find(_ key: From.PrimaryTable.PrimaryKey.QueryOutput) -> Self {
        and(Where(scope: .unscoped).find(key))
    }
}
