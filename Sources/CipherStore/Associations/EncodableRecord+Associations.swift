extension EncodableRecord {
    /// Returns a request for the rows that are associated to this record.
    ///
    /// ```swift
    /// extension Author {
    ///     var books: QueryInterfaceRequest<Book> { request(for: Author.books) }
    /// }
    /// let novels = try author.books.filter { $0.kind == "novel" }.fetchAll(db)
    /// ```
    ///
    /// A record whose columns are NULL has no associated rows.
    public func request<A: Association>(for association: A) -> QueryInterfaceRequest<A.RowDecoder>
    where A.OriginRowDecoder == Self {
        let steps = association.path.steps
        let condition = steps[0].condition
        // The record is encoded now: it may be a class, or changed later.
        let record = Result { try PersistenceContainer(self).dictionary }
        let values = record.map { dictionary in
            Dictionary(
                dictionary.map { ($0.key.foldedIdentifier, $0.value) },
                uniquingKeysWith: { first, _ in first })
        }
        let relation = Relation.reaching(steps.map { ($0.condition, $0.relation) }) { first in
            first.filters.append(
                SQLExpression(
                    .deferred { db in
                        let values = try values.get()
                        let pairs = try condition.columns(db).map {
                            ($0.right, values[$0.left.foldedIdentifier] ?? .null)
                        }
                        if pairs.contains(where: \.1.isNull) { return false.sqlExpression }
                        return .joined(.and, pairs.map { .equality(.equal, .column($0), .value($1)) })
                    }))
        }
        return QueryInterfaceRequest(relation: relation.relation)
    }
}
