// The associations of a record type.

extension TableRecord {
    /// Returns an association to the row that a foreign key of this table refers to.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(
            .belongsTo(destination.all().relation, of: databaseTableName, key: key, foreignKey))
    }

    /// Returns an association to the row that a foreign key of this table refers to.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(
            .belongsTo(destination.request.relation, of: databaseTableName, key: key, foreignKey))
    }

    /// Returns an association to the one row whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(.hasOne(destination.all().relation, of: databaseTableName, key: key, foreignKey))
    }

    /// Returns an association to the one row whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(.hasOne(destination.request.relation, of: databaseTableName, key: key, foreignKey))
    }

    /// Returns an association to the rows whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(.hasMany(destination.all().relation, of: databaseTableName, key: key, foreignKey))
    }

    /// Returns an association to the rows whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public static func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(
            .hasMany(destination.request.relation, of: databaseTableName, key: key, foreignKey))
    }
}

extension TableRecord {
    /// Returns an association by way of another table.
    ///
    /// - parameters:
    ///     - destination: The record type that `target` leads to.
    ///     - pivot: An association of this table.
    ///     - target: An association of the table that `pivot` leads to.
    ///     - key: The name of its rows; by default, that of `target`.
    public static func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasOneThroughAssociation<Self, Target.RowDecoder>(
            path: AssociationPath(steps: pivot.path.steps + target.path.steps))
        return key.map(association.forKey) ?? association
    }

    /// Returns an association by way of another table.
    ///
    /// - parameters:
    ///     - destination: The table that `target` leads to.
    ///     - pivot: An association of this table.
    ///     - target: An association of the table that `pivot` leads to.
    ///     - key: The name of its rows; by default, that of `target`.
    public static func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Table<Target.RowDecoder>, through pivot: Pivot, using target: Target,
        key: String? = nil
    ) -> HasOneThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasOneThroughAssociation<Self, Target.RowDecoder>(
            path: AssociationPath(steps: pivot.path.steps + target.path.steps))
        return key.map(association.forKey) ?? association
    }

    /// Returns an association by way of another table.
    ///
    /// - parameters:
    ///     - destination: The record type that `target` leads to.
    ///     - pivot: An association of this table.
    ///     - target: An association of the table that `pivot` leads to.
    ///     - key: The name of its rows; by default, that of `target`.
    public static func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasManyThroughAssociation<Self, Target.RowDecoder>(
            path: AssociationPath(steps: pivot.path.steps + target.path.steps))
        return key.map(association.forKey) ?? association
    }

    /// Returns an association by way of another table.
    ///
    /// - parameters:
    ///     - destination: The table that `target` leads to.
    ///     - pivot: An association of this table.
    ///     - target: An association of the table that `pivot` leads to.
    ///     - key: The name of its rows; by default, that of `target`.
    public static func hasMany<Pivot: Association, Target: Association>(
        _ destination: Table<Target.RowDecoder>, through pivot: Pivot, using target: Target,
        key: String? = nil
    ) -> HasManyThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasManyThroughAssociation<Self, Target.RowDecoder>(
            path: AssociationPath(steps: pivot.path.steps + target.path.steps))
        return key.map(association.forKey) ?? association
    }
}
