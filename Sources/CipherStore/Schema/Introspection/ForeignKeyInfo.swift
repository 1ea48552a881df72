/// A foreign key of a table.
///
/// ```swift
/// for key in try db.foreignKeys(on: "book") { print(key.destinationTable) }
/// ```
public struct ForeignKeyInfo: Sendable {
    /// The number of the key in its table, which `PRAGMA foreign_key_list` gives it.
    public let id: Int

    /// The table that the key refers to.
    public let destinationTable: String

    /// The columns of the key, with those they refer to.
    public let mapping: [(origin: String, destination: String)]

    /// The columns of the key.
    public var originColumns: [String] { mapping.map(\.origin) }

    /// The columns that the key refers to.
    public var destinationColumns: [String] { mapping.map(\.destination) }
}

/// A row that refers to a row that is not there.
///
/// ```swift
/// let violations = try db.foreignKeyViolations()
/// while let violation = try violations.next() { print(violation) }
/// ```
public struct ForeignKeyViolation: Sendable {
    /// The table of the row.
    public let originTable: String

    /// The rowid of the row, or nil in a table without rowids.
    public let originRowID: Int64?

    /// The table that the row refers to.
    public let destinationTable: String

    /// The number of the foreign key, see ``ForeignKeyInfo/id``.
    public let foreignKeyId: Int

    /// The schema where the violation was found, if it is known.
    let schemaID: DatabaseSchemaID?

    /// Reads a row of `PRAGMA foreign_key_check`.
    ///
    /// Old libraries give a number for a table without rowids, too.
    init(row: Row, schemaID: DatabaseSchemaID?, _ db: Database) throws {
        originTable = try row.decode(atIndex: 0)
        let hasRowID = try db.primaryKey(originTable, in: schemaID?.name).tableHasRowID
        originRowID = hasRowID ? try row.decodeIfPresent(atIndex: 1) : nil
        destinationTable = try row.decode(atIndex: 2)
        foreignKeyId = try row.decode(atIndex: 3)
        self.schemaID = schemaID
    }

    /// Describes the violation, with the row where it can be found.
    ///
    /// The text holds values of the row.
    ///
    /// - throws: A ``DatabaseError``.
    public func failureDescription(_ db: Database) throws -> String {
        let keys = try db.foreignKeys(on: originTable, in: schemaID?.name)
        var text = "FOREIGN KEY constraint violation - from \(originTable)"
        if let key = keys.first(where: { $0.id == foreignKeyId }) {
            text += "(\(key.originColumns.joined(separator: ", ")))"
            text += " to \(destinationTable)(\(key.destinationColumns.joined(separator: ", ")))"
        } else {
            text += " to \(destinationTable)"
        }
        if let row = try originRow(db) { text += ", in \(row)" }
        return text
    }

    private func originRow(_ db: Database) throws -> Row? {
        guard let originRowID else { return nil }
        let table = try db.findTableOrView(originTable, in: schemaID?.name)
        return try Row.fetchOne(
            db, sql: "SELECT * FROM \(table.quoted) WHERE rowid = ?", arguments: [originRowID])
    }

    /// Makes the error that ``Database/checkForeignKeys(in:in:)`` throws for the violation.
    ///
    /// Its message is the ``failureDescription(_:)``, or the shorter ``description`` when the
    /// database can't be asked for more.
    public func databaseError(_ db: Database) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
            message: (try? failureDescription(db)) ?? description)
    }
}

extension ForeignKeyViolation: CustomStringConvertible {
    /// The tables and the rowid.
    public var description: String {
        let row = originRowID.map { " row \($0)" } ?? ""
        return "FOREIGN KEY constraint violation from \(originTable)\(row) to \(destinationTable)"
    }
}

/// A cursor of foreign key violations.
public final class ForeignKeyViolationCursor: Cursor {
    private let rows: RowCursor
    private let schemaID: DatabaseSchemaID?
    private unowned let db: Database

    init(rows: RowCursor, schemaID: DatabaseSchemaID?, _ db: Database) {
        self.rows = rows
        self.schemaID = schemaID
        self.db = db
    }

    /// Returns the next violation, or nil at the end.
    public func next() throws -> ForeignKeyViolation? {
        try rows.next().map { try ForeignKeyViolation(row: $0, schemaID: schemaID, db) }
    }
}
