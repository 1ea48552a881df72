// Requests with values that are computed from associated rows.

extension DerivableRequest {
    /// Returns a request that selects a value for each row.
    ///
    /// ```swift
    /// struct AuthorInfo: Decodable, FetchableRecord {
    ///     var author: Author
    ///     var bookCount: Int
    /// }
    /// let request = Author.all().annotated(with: Author.books.count).asRequest(of: AuthorInfo.self)
    /// ```
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> Self {
        annotated(with: aggregates)
    }

    /// Returns a request that selects values for each row.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> Self {
        with { relation in
            for aggregate in aggregates {
                let value = aggregate.prepare(&relation)
                relation.selection.append(
                    SQLSelection(aggregate.key.map { .named(value, $0) } ?? .expression(value)))
                relation.groupByPrimaryKey()
            }
        }
    }

    /// Returns a request for the rows that satisfy a condition on associated rows.
    ///
    /// ```swift
    /// let request = Author.all().having(Author.books.count >= 20)
    /// ```
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> Self {
        with { relation in
            let condition = predicate.prepare(&relation)
            relation.groupFilters.append(condition)
            relation.groupByPrimaryKey()
        }
    }
}

extension Relation {
    /// Makes one group of each row, unless there are groups.
    fileprivate mutating func groupByPrimaryKey() {
        guard grouping.isEmpty else { return }
        guard let table = source.tableName else {
            grouping = [.expression(.fastPrimaryKey)]
            return
        }
        // Each column by itself: SQLite groups by no row value.
        grouping = [.deferred { db in try db.fastPrimaryKeyColumns(of: table).map(SQLExpression.column) }]
    }
}

extension TableRecord {
    /// Returns a request that selects a value for each row.
    public static func annotated(with aggregates: AssociationAggregate<Self>...) -> QueryInterfaceRequest<
        Self
    > {
        all().annotated(with: aggregates)
    }

    /// Returns a request that selects values for each row.
    public static func annotated(with aggregates: [AssociationAggregate<Self>]) -> QueryInterfaceRequest<Self>
    {
        all().annotated(with: aggregates)
    }

    /// Returns a request for the rows that satisfy a condition on associated rows.
    public static func having(_ predicate: AssociationAggregate<Self>) -> QueryInterfaceRequest<Self> {
        all().having(predicate)
    }
}

extension Table {
    /// Returns a request that selects a value for each row.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> QueryInterfaceRequest<
        RowDecoder
    > {
        request.annotated(with: aggregates)
    }

    /// Returns a request that selects values for each row.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> QueryInterfaceRequest<
        RowDecoder
    > {
        request.annotated(with: aggregates)
    }

    /// Returns a request for the rows that satisfy a condition on associated rows.
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        request.having(predicate)
    }
}
