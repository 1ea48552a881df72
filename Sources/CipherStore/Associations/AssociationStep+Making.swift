// The ways from one table to another.

extension AssociationStep {
    /// The way from a table to the one that it refers to.
    static func belongsTo(
        _ destination: Relation, of table: String, key: String?, _ foreignKey: ForeignKey?
    ) -> AssociationStep {
        let name = destination.source.name
        let match = ForeignKeyMatch(origin: table, destination: name, foreignKey: foreignKey)
        return AssociationStep(
            key: key.map { .fixedSingular($0) } ?? .inflected(name),
            condition: .foreignKey(match, originIsLeft: true), relation: destination, isToOne: true)
    }

    /// The way from a table to the one row that refers to it.
    static func hasOne(
        _ destination: Relation, of table: String, key: String?, _ foreignKey: ForeignKey?
    ) -> AssociationStep {
        let name = destination.source.name
        let match = ForeignKeyMatch(origin: name, destination: table, foreignKey: foreignKey)
        return AssociationStep(
            key: key.map { .fixedSingular($0) } ?? .inflected(name),
            condition: .foreignKey(match, originIsLeft: false), relation: destination, isToOne: true)
    }

    /// The way from a table to the rows that refer to it.
    static func hasMany(
        _ destination: Relation, of table: String, key: String?, _ foreignKey: ForeignKey?
    ) -> AssociationStep {
        var step = hasOne(destination, of: table, key: nil, foreignKey)
        if let key { step.key = .fixedPlural(key) }
        step.isToOne = false
        return step
    }

    /// The way to all rows.
    static func join(_ destination: Relation) -> AssociationStep {
        AssociationStep(
            key: .inflected(destination.source.name), condition: .none, relation: destination, isToOne: true)
    }

    /// The way to the rows for which a condition is true.
    static func join<Origin, Destination>(
        _ destination: Relation,
        on condition:
            @escaping @Sendable (
                TableAlias<Origin>, TableAlias<Destination>
            ) -> any SQLExpressible
    ) -> AssociationStep {
        var step = join(destination)
        step.condition = .expression { _, left, right in
            condition(TableAlias(identity: left), TableAlias(identity: right)).sqlExpression
        }
        return step
    }
}
