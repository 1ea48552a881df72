import CipherStore
import Foundation
import SyncEngine
import TypedQueries
import TypedQueriesMacros

/// What synchronization knows of a row: which one it is, when it was changed last, and whether it was deleted.
///
/// ```swift
/// let recent = try SyncMetadata
///     .where { $0.recordType.eq(Reminder.tableName) && !$0.isDeleted }
///     .order { $0.userModificationTime.desc() }
///     .limit(10)
///     .fetchAll(db)
/// let lists = try RemindersList
///     .join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }
///     .select { ($0.title, $1.userModificationTime) }
///     .fetchAll(db)
/// ```
///
/// It is there for the rows of synchronized tables, from the moment they are written. Of a row that another replica
/// has changed, the time is that of the other replica's clock. It can be read only.
@Selection("syncMetadata") public struct SyncMetadata: Hashable, Sendable, Identifiable {
    /// Which row it is.
    @Selection public struct ID: Hashable, Sendable {
        /// The key of the row: a UUID in lower case, or a text that is none as it is.
        public let recordPrimaryKey: String
        /// The name of its table.
        public let recordType: String

        /// Makes the identity of a row.
        ///
        /// - parameters:
        ///     - recordPrimaryKey: The key of the row, with the letters of a UUID in any case.
        ///     - recordType: The name of its table.
        public init(recordPrimaryKey: String, recordType: String) {
            self.recordPrimaryKey = RowKnowledge.normalizedKey(recordPrimaryKey)
            self.recordType = recordType
        }
    }

    /// Which row it is.
    public let id: ID

    /// Whether the row was deleted.
    public let isDeleted: Bool

    /// When the row, or one of its columns, was changed last.
    ///
    /// It is compared with `#bind(date, as: Date.UnixMillisecondsRepresentation.self)`.
    @Column(as: Date.UnixMillisecondsRepresentation.self) public let userModificationTime: Date

    /// The key of the row: a UUID in lower case, or a text that is none as it is.
    public var recordPrimaryKey: String { id.recordPrimaryKey }

    /// The name of the row's table.
    public var recordType: String { id.recordType }
}

extension SyncMetadata {
    /// The rows' log and state, as a table.
    public static var tableFragment: QueryFragment { "(\(raw: RowKnowledge.sql))" }

    /// The name by which statements call it.
    public static var tableAlias: String? { tableName }

    /// The metadata of a row, by the table's name and the row's key.
    public static func find(_ id: ID) -> Where<SyncMetadata> {
        Self.where {
            $0.id.recordType.eq(id.recordType) && $0.id.recordPrimaryKey.eq(id.recordPrimaryKey)
        }
    }
}

extension Database {
    /// Does nothing: what ``SyncMetadata`` reads is in the file of the rows, on each of its connections.
    ///
    /// It is there so that code that attaches another file for it, as SQLiteData needs it, goes on to compile.
    ///
    /// - throws: Nothing.
    public func attachMetadatabase() throws {}
}

extension SyncMetadata.TableColumns {
    /// The key of the row: a UUID in lower case, or a text that is none as it is.
    public var recordPrimaryKey: TableColumn<SyncMetadata, String> { id.recordPrimaryKey }

    /// The name of the row's table.
    public var recordType: TableColumn<SyncMetadata, String> { id.recordType }
}

extension PrimaryKeyedTableDefinition where PrimaryKey: QueryBindable {
    /// The row as synchronization knows it, to be compared with the `id` of ``SyncMetadata``.
    public var syncMetadataID: SyncMetadataID<QueryValue, PrimaryKey> { SyncMetadataID(key: primaryKey) }
}

extension PrimaryKeyedTable where PrimaryKey: QueryBindable {
    /// The row as synchronization knows it: `SyncMetadata.find(list.syncMetadataID)`.
    public var syncMetadataID: SyncMetadata.ID {
        SyncMetadata.ID(
            recordPrimaryKey: keyBindings.first?.syncMetadataKey ?? "", recordType: Self.tableName)
    }
}

extension QueryBinding {
    /// The value as the text of a key, as `RowKnowledge.keyText(_:)` makes it of the column; nil of what is no key.
    ///
    /// Numbers with a fraction are none: how they are written depends on the version of SQLite.
    fileprivate var syncMetadataKey: String? {
        guard let value = try? databaseValue() else { return nil }
        switch value.storage {
        case .string(let text): return text
        case .int64(let number): return "\(number)"
        case .blob(let bytes) where bytes.count == 16:
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
        default: return nil
        }
    }
}

/// A row as synchronization knows it: its key as text, and the name of its table.
public struct SyncMetadataID<Root: TypedQueries.Table, Key: QueryRepresentable>: QueryExpression, Sendable {
    /// The type of its values.
    public typealias QueryValue = SyncMetadata.ID

    let key: TableColumn<Root, Key>

    /// Adds the two values.
    public func write(to fragment: inout QueryFragment) {
        let table = (Root.tableAlias ?? Root.tableName).quotedDatabaseIdentifier
        let column = key.queryColumnName.quotedDatabaseIdentifier
        fragment.append(sql: RowKnowledge.keyText("\(table).\(column)"))
        fragment.append(sql: ", ")
        fragment.append(binding: .text(Root.tableName))
    }

    /// The two values.
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }
}
