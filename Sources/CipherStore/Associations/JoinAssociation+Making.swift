// Associations by any condition, to and from common table expressions.

extension TableRecord {
    /// Returns an association to the rows of a common table expression for which a condition is true.
    ///
    /// - parameters:
    ///     - cte: The common table expression.
    ///     - condition: The condition on a row of each side.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<Self>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(.join(cte.all().relation, on: condition))
    }

    /// Returns an association to all rows of a common table expression.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(.join(cte.all().relation))
    }
}

extension Table {
    /// Returns an association to the rows of a common table expression for which a condition is true.
    ///
    /// - parameters:
    ///     - cte: The common table expression.
    ///     - condition: The condition on a row of each side.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(cte.all().relation, on: condition))
    }

    /// Returns an association to all rows of a common table expression.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(cte.all().relation))
    }

    /// Returns an association to the rows of a record type for which a condition is true.
    ///
    /// - parameters:
    ///     - destination: The record type.
    ///     - condition: The condition on a row of each side.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.all().relation, on: condition))
    }

    /// Returns an association to all rows of a record type.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.all().relation))
    }

    /// Returns an association to the rows of a table for which a condition is true.
    ///
    /// - parameters:
    ///     - destination: The table.
    ///     - condition: The condition on a row of each side.
    public func association<Destination>(
        to destination: Table<Destination>,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.request.relation, on: condition))
    }

    /// Returns an association to all rows of a table.
    public func association<Destination>(
        to destination: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.request.relation))
    }
}

extension CommonTableExpression {
    /// Returns an association to the rows of a common table expression for which a condition is true.
    ///
    /// - parameters:
    ///     - cte: The common table expression.
    ///     - condition: The condition on a row of each side.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(cte.all().relation, on: condition))
    }

    /// Returns an association to all rows of a common table expression.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(cte.all().relation))
    }

    /// Returns an association to the rows of a record type for which a condition is true.
    ///
    /// - parameters:
    ///     - destination: The record type.
    ///     - condition: The condition on a row of each side.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.all().relation, on: condition))
    }

    /// Returns an association to all rows of a record type.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.all().relation))
    }

    /// Returns an association to the rows of a table for which a condition is true.
    ///
    /// - parameters:
    ///     - destination: The table.
    ///     - condition: The condition on a row of each side.
    public func association<Destination>(
        to destination: Table<Destination>,
        on condition:
            @escaping @Sendable (
                _ left: TableAlias<RowDecoder>, _ right: TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.request.relation, on: condition))
    }

    /// Returns an association to all rows of a table.
    public func association<Destination>(
        to destination: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(.join(destination.request.relation))
    }
}
