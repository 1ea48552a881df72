import CipherStore
import Foundation
import SyncEngine

/// What synchronization knows of a row: which one it is, when it was changed last, and whether it was deleted.
///
/// ```swift
/// let recent = try await database.read { db in
///     try SyncMetadata.all()
///         .filter(Column("recordType") == "reminders" && Column("isDeleted") == false)
///         .order(Column("userModificationTime").desc)
///         .limit(10)
///         .fetchAll(db)
/// }
/// ```
///
/// It is there for the rows of synchronized tables, from the moment they are written. Of a row that another replica
/// has changed, the time is that of the other replica's clock.
public struct SyncMetadata: FetchableRecord, Hashable, Sendable, Identifiable {
    /// Which row it is.
    public struct ID: Hashable, Sendable {
        /// The key of the row: a UUID, in lower case.
        public let recordPrimaryKey: String
        /// The name of its table.
        public let recordType: String

        /// Makes the identity of a row.
        public init(recordPrimaryKey: String, recordType: String) {
            self.recordPrimaryKey = recordPrimaryKey
            self.recordType = recordType
        }
    }

    /// Which row it is.
    public let id: ID

    /// Whether the row was deleted.
    public let isDeleted: Bool

    /// When the row, or one of its columns, was changed last.
    public let userModificationTime: Date

    /// The key of the row: a UUID, in lower case.
    public var recordPrimaryKey: String { id.recordPrimaryKey }

    /// The name of the row's table.
    public var recordType: String { id.recordType }

    /// Reads a row of ``all()``.
    ///
    /// - throws: An error when a column is missing.
    public init(row: Row) throws {
        id = ID(recordPrimaryKey: row["recordPrimaryKey"], recordType: row["recordType"])
        isDeleted = row["isDeleted"]
        let milliseconds: Int64 = row["userModificationTime"]
        userModificationTime = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// A request of the metadata of all rows. Its columns are `recordPrimaryKey` and `recordType`, which are texts,
    /// `isDeleted`, and `userModificationTime` in milliseconds since 1970.
    public static func all() -> QueryInterfaceRequest<SyncMetadata> {
        let table = CommonTableExpression<SyncMetadata>(named: "syncMetadata", sql: RowKnowledge.sql)
        return table.all().with(table)
    }

    /// The metadata of a row, by the table's name and the row's key.
    public static func find(_ id: ID) -> QueryInterfaceRequest<SyncMetadata> {
        all().filter(
            Column("recordType") == id.recordType
                && Column("recordPrimaryKey") == id.recordPrimaryKey.lowercased())
    }
}
