/// A foreign key that ``TableDefinition/belongsTo(_:inTable:onDelete:onUpdate:deferred:indexed:)``
/// adds, with the columns it takes.
public final class ForeignKeyDefinition {
    private let name: String
    private let table: String?
    private let options: ForeignKeyOptions
    private let isIndexed: Bool
    private var notNullConflict: Database.ConflictResolution?
    private var isUnique = false

    init(name: String, table: String?, options: ForeignKeyOptions, isIndexed: Bool) {
        self.name = name
        self.table = table
        self.options = options
        self.isIndexed = isIndexed
    }

    /// Refuses NULL, so that each row belongs to one of the other table.
    ///
    /// - parameter conflict: What happens when a value is NULL.
    @discardableResult
    public func notNull(onConflict conflict: Database.ConflictResolution = .abort) -> Self {
        notNullConflict = conflict
        return self
    }

    /// Refuses a second row that belongs to the same one of the other table.
    @discardableResult
    public func unique() -> Self {
        isUnique = true
        return self
    }

    /// The columns of the key, its constraint and its index.
    struct Parts {
        var columns: [ColumnDefinition] = []
        var constraint: TableConstraint.ForeignKey?
        var index: (columns: [String], isUnique: Bool)?
    }

    /// Finds the other table and the columns of its key.
    ///
    /// - parameter isInPrimaryKey: Whether the columns get an index as a part of the primary key.
    func parts(_ db: Database, in context: TableContext, isInPrimaryKey: Bool) throws -> Parts {
        let table = try destination(db, in: context)
        let key = try context.key(db, of: table)
        var parts = Parts()
        parts.columns = key.map { column in
            let suffix = column.name.isSameIdentifier(as: "rowid") ? "Id" : column.name.capitalizedFirst
            let definition = ColumnDefinition(name: name + suffix, type: column.type)
            if let notNullConflict { definition.notNull(onConflict: notNullConflict) }
            return definition
        }
        if let column = parts.columns.first, parts.columns.count == 1 {
            column.refer(to: table, column: key[0].name, options)
            if isUnique { column.unique() } else if isIndexed && !isInPrimaryKey { column.indexed() }
            return parts
        }
        let names = parts.columns.map(\.name)
        parts.constraint = TableConstraint.ForeignKey(
            columns: names, table: table, destination: key.map(\.name), options: options)
        if isUnique || (isIndexed && !isInPrimaryKey) { parts.index = (names, isUnique) }
        return parts
    }

    /// The table that the name stands for: as it is, or its plural.
    private func destination(_ db: Database, in context: TableContext) throws -> String {
        if let table { return table }
        if try context.isTable(db, name) { return name }
        let plural = name.pluralized
        guard try context.isTable(db, plural) else { throw DatabaseError.noSuchTable(name) }
        return plural
    }
}

@available(*, unavailable)
extension ForeignKeyDefinition: Sendable {}

extension String {
    /// The name with a capital first letter.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
