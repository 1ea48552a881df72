/// The primary key of a table or, by a ``DatabaseSchemaSource``, of a view.
///
/// ```swift
/// let columns = try db.primaryKey("country").columns
/// ```
public struct PrimaryKeyInfo: Sendable {
    private enum Form {
        /// The table declares no key: its rows are found by rowid.
        case hiddenRowID
        /// A single column that is an alias of the rowid.
        case rowID(ColumnInfo)
        /// One or more other columns.
        case columns([String], infos: [ColumnInfo]?, tableHasRowID: Bool)
    }

    private let form: Form

    static let hiddenRowID = PrimaryKeyInfo(form: .hiddenRowID)

    static func rowID(_ column: ColumnInfo) -> PrimaryKeyInfo {
        PrimaryKeyInfo(form: .rowID(column))
    }

    static func columns(_ names: [String], infos: [ColumnInfo]?, tableHasRowID: Bool) -> PrimaryKeyInfo {
        PrimaryKeyInfo(form: .columns(names, infos: infos, tableHasRowID: tableHasRowID))
    }

    /// The columns of the key, in order; `rowid` for a table that declares no key.
    public var columns: [String] {
        switch form {
        case .hiddenRowID: ["rowid"]
        case .rowID(let column): [column.name]
        case .columns(let names, _, _): names
        }
    }

    /// The columns of the key, in order, or nil for a table that declares no key.
    public var columnInfos: [ColumnInfo]? {
        switch form {
        case .hiddenRowID: nil
        case .rowID(let column): [column]
        case .columns(_, let infos, _): infos
        }
    }

    /// The column that is an alias of the rowid, if there is one.
    public var rowIDColumn: String? {
        if case .rowID(let column) = form { column.name } else { nil }
    }

    /// Whether the key is the rowid, hidden or as a column.
    public var isRowID: Bool {
        switch form {
        case .hiddenRowID, .rowID: true
        case .columns: false
        }
    }

    /// Whether the key is the rowid, and no column.
    var isHiddenRowID: Bool {
        if case .hiddenRowID = form { true } else { false }
    }

    /// Whether rows of the table have a rowid.
    public var tableHasRowID: Bool {
        switch form {
        case .hiddenRowID, .rowID: true
        case .columns(_, _, let tableHasRowID): tableHasRowID
        }
    }
}
