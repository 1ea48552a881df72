/// The columns by which the rows of one table refer to those of another.
///
/// An association needs it where the schema does not say, or names several
/// foreign keys between two tables:
///
/// ```swift
/// struct Book: TableRecord {
///     static let authorKey = ForeignKey(["authorId"])
///     static let translatorKey = ForeignKey(["translatorId"])
///     static let author = belongsTo(Person.self, key: "author", using: authorKey)
///     static let translator = belongsTo(Person.self, key: "translator", using: translatorKey)
/// }
///
/// struct Person: TableRecord {
///     static let writtenBooks = hasMany(Book.self, key: "writtenBooks", using: Book.authorKey)
/// }
/// ```
public struct ForeignKey: Equatable, Sendable {
    let originColumns: [String]
    let destinationColumns: [String]?

    /// Makes a foreign key.
    ///
    /// - parameters:
    ///     - originColumns: The columns that refer to the other table.
    ///     - destinationColumns: The columns that they refer to. When nil, those
    ///       of the schema's foreign key, or the primary key of the other table.
    public init(_ originColumns: [String], to destinationColumns: [String]? = nil) {
        self.originColumns = originColumns
        self.destinationColumns = destinationColumns
    }

    /// Makes a foreign key.
    ///
    /// - parameters:
    ///     - originColumns: The columns that refer to the other table.
    ///     - destinationColumns: The columns that they refer to. When nil, those
    ///       of the schema's foreign key, or the primary key of the other table.
    public init(_ originColumns: [any ColumnExpression], to destinationColumns: [any ColumnExpression]? = nil)
    {
        self.init(originColumns.map(\.name), to: destinationColumns?.map(\.name))
    }

    /// Makes a foreign key.
    ///
    /// - parameters:
    ///     - originColumns: The columns that refer to the other table.
    ///     - destinationColumns: The columns that they refer to. When nil, those
    ///       of the schema's foreign key, or the primary key of the other table.
    public init(_ originColumns: [Column], to destinationColumns: [Column]? = nil) {
        self.init(originColumns.map(\.name), to: destinationColumns?.map(\.name))
    }
}

/// A foreign key between two tables, which only the connection may know.
struct ForeignKeyMatch: Sendable {
    /// The table with the columns that refer to the other one.
    let origin: String
    let destination: String

    /// The columns, or nil for those that the schema tells.
    let foreignKey: ForeignKey?

    typealias Columns = [(origin: String, destination: String)]

    /// The columns that have equal values.
    ///
    /// - throws: A ``DatabaseError`` when there is no such foreign key, or
    ///   several.
    func columns(_ db: Database) throws -> Columns {
        guard let foreignKey else { return try onlyKeyOfSchema(db) }
        let origins = foreignKey.originColumns
        if let destinations = foreignKey.destinationColumns {
            return try paired(origins, destinations)
        }
        let folded = origins.map(\.foldedIdentifier)
        for key in try keysOfSchema(db) where Set(key.originColumns.map(\.foldedIdentifier)) == Set(folded) {
            return key.mapping
        }
        return try paired(origins, db.primaryKey(destination).columns)
    }

    private func keysOfSchema(_ db: Database) throws -> [ForeignKeyInfo] {
        try db.foreignKeys(on: origin).filter {
            $0.destinationTable.foldedIdentifier == destination.foldedIdentifier
        }
    }

    private func onlyKeyOfSchema(_ db: Database) throws -> Columns {
        let keys = try keysOfSchema(db)
        if keys.count == 1 { return keys[0].mapping }
        let problem =
            keys.isEmpty
            ? "could not infer a foreign key from \(origin) to \(destination): the table has none"
            : "ambiguous foreign key from \(origin) to \(destination): the table has \(keys.count)"
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "\(problem). Tell the association its columns, with `using: ForeignKey([…])`")
    }

    private func paired(_ origins: [String], _ destinations: [String]) throws -> Columns {
        guard origins.count == destinations.count else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    a foreign key from \(origin)(\(origins.joined(separator: ", "))) can't refer to \
                    \(destination)(\(destinations.joined(separator: ", "))). Tell the association the columns of both \
                    tables, with `using: ForeignKey([…], to: […])`
                    """)
        }
        return zip(origins, destinations).map { (origin: $0, destination: $1) }
    }
}
