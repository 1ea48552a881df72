import Foundation

/// What a connection knows about the table of a record type, and the statements
/// that write such records.
///
/// It is made for the first record of the type, so that those after it are
/// written without a look at the schema and without making any SQL.
final class RecordPlan {
    let tableName: String
    let primaryKey: PrimaryKeyInfo

    /// The column that is an alias of the rowid, or nil when the table has none.
    let rowIDColumn: String?

    /// The name by which SQL asks for the rowid, or nil when there is none: columns may have them all.
    let rowIDName: String?

    /// Whether no value of a record is its key: that is the number of a row, and a column that is not unique has its name.
    let isKeyHidden: Bool

    // A plan is used by the thread of its connection, only, and no access to
    // these outlasts a load or a store.

    /// The columns that the last record set: the next will likely set the same.
    @exclusivity(unchecked) private var layout = ColumnLayout.empty
    @exclusivity(unchecked) private var spareStorage: PersistenceContainer.Storage?

    /// The declared names of the columns.
    private let columnNames: [String]
    /// The key column that gets a UUID when the record has no such column.
    let generatedKeyColumn: String?
    /// How the record type stores UUIDs.
    let uuidStrategy: (String) -> DatabaseUUIDEncodingStrategy

    /// The insertion of the last record.
    @exclusivity(unchecked) var lastInsert: InsertPlan?
    var inserts: [InsertPlan] = []
    var updates: [UpdatePlan] = []
    var deletion: Statement?

    /// What no two rows have in common, once an upsert has asked.
    var knownUniqueKeys: [UniqueKey]?

    init<Record: EncodableRecord & TableRecord>(_ db: Database, _ type: Record.Type) throws {
        let table = type.databaseTableName
        let key = try db.primaryKey(table)
        tableName = table
        primaryKey = key
        let rowIDColumn = key.rowIDColumn
        self.rowIDColumn = rowIDColumn
        let columns = try db.columns(in: table)
        columnNames = columns.map(\.name)
        rowIDName = key.tableHasRowID ? RowIDName.free(of: columnNames) ?? rowIDColumn : nil
        isKeyHidden = try db.isKeyHidden(key, of: table)
        generatedKeyColumn =
            columns.first {
                !key.isRowID && key.columns.count == 1 && $0.name == key.columns[0] && $0.isUUID
            }?.name
        uuidStrategy = { type.databaseUUIDEncodingStrategy(for: $0) }
    }

    /// Whether the key is the number of a row, and a column that is none has its name.
    var hasColumnCalledAsItsKey: Bool {
        primaryKey.isHiddenRowID && !RowIDName.isFree("rowid", of: columnNames)
    }

    // MARK: Encoding

    /// Encodes a record.
    func encode(_ record: some EncodableRecord) throws -> PersistenceContainer {
        var container = takeContainer()
        try record.encode(to: &container)
        if let failure = container.storage.failure { throw failure }
        if container.storage.completedLayout == nil { layout = ColumnLayout(container.columns) }
        return container
    }

    /// Returns an empty container, with the memory of the last one if nobody else has it.
    private func takeContainer() -> PersistenceContainer {
        guard isKnownUniquelyReferenced(&spareStorage), let storage = spareStorage.take() else {
            return PersistenceContainer(PersistenceContainer.Storage(expecting: layout))
        }
        storage.reset(expecting: layout)
        return PersistenceContainer(storage)
    }

    /// Keeps the memory of a container for the next record.
    func giveBack(_ container: PersistenceContainer) {
        spareStorage = container.storage
    }

    /// The declared name of a column.
    func declaredName(of column: String) -> String {
        columnNames.first { $0.isSameName(as: column) } ?? column
    }

    /// The columns by which a row that was written is found.
    func rowColumns() throws -> [String] {
        if let rowIDName { return [rowIDName] }
        return try primaryKey.rowColumns(of: tableName, columns: columnNames)
    }

    /// The values of the primary key, NULL for those that the record does not have.
    func key(of container: PersistenceContainer) -> [DatabaseValue] {
        primaryKey.columns.map { isKeyHidden ? .null : container.value(of: $0) ?? .null }
    }

    /// The primary key as a dictionary, for errors.
    func keyDictionary(of container: PersistenceContainer) -> [String: DatabaseValue] {
        Dictionary(zip(primaryKey.columns, key(of: container)), uniquingKeysWith: { first, _ in first })
    }

    func recordNotFound(_ container: PersistenceContainer) -> RecordError {
        .recordNotFound(databaseTableName: tableName, key: keyDictionary(of: container))
    }
}

extension ColumnInfo {
    /// Whether the column is declared as one that has UUIDs, and makes none by itself.
    fileprivate var isUUID: Bool {
        defaultValueSQL == nil && ["blob", "uuid"].contains(type.foldedIdentifier)
    }
}
