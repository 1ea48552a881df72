// The associations of a table.

extension Table {
    /// Returns an association to the row that a foreign key of this table refers to.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(.belongsTo(destination.all().relation, of: tableName, key: key, foreignKey))
    }

    /// Returns an association to the row that a foreign key of this table refers to.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<RowDecoder, Destination> {
        BelongsToAssociation(.belongsTo(destination.request.relation, of: tableName, key: key, foreignKey))
    }

    /// Returns an association to the one row whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(.hasOne(destination.all().relation, of: tableName, key: key, foreignKey))
    }

    /// Returns an association to the one row whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<RowDecoder, Destination> {
        HasOneAssociation(.hasOne(destination.request.relation, of: tableName, key: key, foreignKey))
    }

    /// Returns an association to the rows whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other record type.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(.hasMany(destination.all().relation, of: tableName, key: key, foreignKey))
    }

    /// Returns an association to the rows whose foreign key refers to this table.
    ///
    /// - parameters:
    ///     - destination: The other table.
    ///     - key: The name of its rows; by default, that of the table.
    ///     - foreignKey: The columns, when the schema does not tell them.
    public func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<RowDecoder, Destination> {
        HasManyAssociation(.hasMany(destination.request.relation, of: tableName, key: key, foreignKey))
    }
}

extension Table {
    /// Returns an association by way of another table.
    ///
    /// - parameters:
    ///     - destination: The record type that `target` leads to.
    ///     - pivot: An association of this table.
    ///     - target: An association of the table that `pivot` leads to.
    ///     - key: The name of its rows; by default, that of `target`.
    public func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasOneThroughAssociation<RowDecoder, Target.RowDecoder>(
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
    public func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Table<Target.RowDecoder>, through pivot: Pivot, using target: Target,
        key: String? = nil
    ) -> HasOneThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasOneThroughAssociation<RowDecoder, Target.RowDecoder>(
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
    public func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasManyThroughAssociation<RowDecoder, Target.RowDecoder>(
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
    public func hasMany<Pivot: Association, Target: Association>(
        _ destination: Table<Target.RowDecoder>, through pivot: Pivot, using target: Target,
        key: String? = nil
    ) -> HasManyThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        let association = HasManyThroughAssociation<RowDecoder, Target.RowDecoder>(
            path: AssociationPath(steps: pivot.path.steps + target.path.steps))
        return key.map(association.forKey) ?? association
    }
}
