/// A part of a database: tables, columns of them, and rows of them.
///
/// A region tells which changes concern somebody who reads it:
///
/// ```swift
/// let region = try Player.filter(key: 1).databaseRegion(db)   // player(id,name)[1]
/// region.isModified(byEventsOfKind: .insert(tableName: "team"))   // false
/// ```
///
/// Names are compared without case. A region holds only what there is to read:
/// it has no table without columns or rows.
public struct DatabaseRegion: Sendable {
    /// What a region holds of one table.
    struct TableRegion: Sendable {
        /// The name of the table, as it was first spelled.
        var name: String
        /// The columns by folded name, or nil for all of them.
        var columns: [String: String]?
        /// The rows, or nil for all of them.
        var rowIDs: Set<Int64>?
        /// The folded name of the column that is the rowid, where there are rows.
        var rowIDColumn: String?

        var isEmpty: Bool { columns?.isEmpty == true || rowIDs?.isEmpty == true }
    }

    /// The tables by folded name, or nil for the full database.
    private(set) var tables: [String: TableRegion]?

    private init(tables: [String: TableRegion]?) { self.tables = tables }

    /// Makes the empty region.
    public init() { tables = [:] }

    /// The region of all tables.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// Makes the region of a table, with all its columns and rows.
    public init(table: String) {
        self.init(TableRegion(name: table))
    }

    /// Makes the region of some columns of a table.
    package init(table: String, columns: Set<String>) {
        self.init(
            TableRegion(
                name: table,
                columns: Dictionary(columns.map { ($0.foldedIdentifier, $0) }, uniquingKeysWith: { $1 })))
    }

    /// Makes the region of some rows of a table.
    package init(table: String, rowIds: Set<Int64>) {
        self.init(TableRegion(name: table, rowIDs: rowIds))
    }

    private init(_ table: TableRegion) {
        tables = table.isEmpty ? [:] : [table.name.foldedIdentifier: table]
    }

    /// Whether nothing can modify the region.
    public var isEmpty: Bool { tables?.isEmpty == true }

    /// Whether the region is the full database.
    public var isFullDatabase: Bool { tables == nil }

    // MARK: Combining

    /// Returns the region of everything that is in one or the other region.
    ///
    /// The rows and the columns of a table are joined separately, so that the
    /// result can be larger than the two.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables, let others = other.tables else { return .fullDatabase }
        return DatabaseRegion(tables: tables.merging(others) { $0.union($1) })
    }

    /// Adds another region.
    public mutating func formUnion(_ other: DatabaseRegion) {
        self = union(other)
    }

    /// Returns the region of everything that is in both regions.
    public func intersection(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables else { return other }
        guard let others = other.tables else { return self }
        var common: [String: TableRegion] = [:]
        for (key, table) in tables {
            guard let table = others[key].map({ table.intersection($0) }), !table.isEmpty else { continue }
            common[key] = table
        }
        return DatabaseRegion(tables: common)
    }

    /// Returns the region with some rows only of one of its tables.
    ///
    /// - parameter column: The column that is the rowid, if it has another name.
    func restricted(toRowIDs rowIDs: Set<Int64>, in column: String?, of table: String) -> DatabaseRegion {
        let key = table.foldedIdentifier
        guard let region = tables?[key] else { return self }
        let restricted = region.intersection(
            TableRegion(name: region.name, rowIDs: rowIDs, rowIDColumn: column?.foldedIdentifier))
        var result = self
        result.tables?[key] = restricted.isEmpty ? nil : restricted
        return result
    }

    /// Returns the region without a table.
    func removing(table: String) -> DatabaseRegion {
        var result = self
        result.tables?[table.foldedIdentifier] = nil
        return result
    }

    /// Adds a column of a table, or the whole table for an empty name.
    mutating func insert(column: String, of table: String) {
        guard tables != nil else { return }
        let columns = column.isEmpty ? nil : [column.foldedIdentifier: column]
        let region = TableRegion(name: table, columns: columns)
        tables?.merge([table.foldedIdentifier: region]) { $0.union($1) }
    }

    // MARK: Changes

    /// Whether the region holds something of a table.
    func contains(table: String) -> Bool { tables?.keys.contains(table.foldedIdentifier) ?? true }

    /// Whether the region holds something of a column.
    func contains(_ column: String, of table: String) -> Bool {
        guard let tables else { return true }
        guard let region = tables[table.foldedIdentifier] else { return false }
        return region.columns?.keys.contains(column.foldedIdentifier) ?? true
    }

    /// Returns whether changes of a kind can modify the region.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard let tables else { return true }
        guard let table = tables[eventKind.tableName.foldedIdentifier] else { return false }
        guard case .update(_, let names) = eventKind, let columns = table.columns else { return true }
        // By that name, a rowid is updated that is a column with another name as well.
        return names.contains { columns[$0.foldedIdentifier] != nil || Self.isRowID($0) }
    }

    /// Whether changes of a kind can give rows of the region another rowid.
    ///
    /// Their events tell the new rowid only, so that all of them can modify the region.
    func isMoved(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard case .update(_, let names) = eventKind,
            let table = tables?[eventKind.tableName.foldedIdentifier], table.rowIDs != nil
        else { return false }
        return names.contains { Self.isRowID($0) || $0.foldedIdentifier == table.rowIDColumn }
    }

    /// Whether a name is what SQLite calls a rowid that is updated by a name like `_rowid_`.
    private static func isRowID(_ column: String) -> Bool { column.foldedIdentifier == "rowid" }

    /// Returns whether a change can modify the region.
    ///
    /// The event does not tell which columns it changes: ask first whether its
    /// kind modifies the region, as ``TransactionObserver/observes(eventsOfKind:)`` does.
    /// An update that moves a row from one rowid to another is an event of the new one.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard let tables else { return true }
        // The event of an observed table is mostly spelled like the only table there is.
        if tables.count == 1, let table = tables.values.first, table.name == event.tableName {
            return table.rowIDs?.contains(event.rowID) ?? true
        }
        guard let table = tables[event.tableName.foldedIdentifier] else { return false }
        return table.rowIDs?.contains(event.rowID) ?? true
    }
}

extension DatabaseRegion.TableRegion {
    fileprivate func union(_ other: Self) -> Self {
        var result = self
        result.columns = columns.flatMap { own in other.columns.map { own.merging($0) { old, _ in old } } }
        result.rowIDs = rowIDs.flatMap { own in other.rowIDs.map { own.union($0) } }
        result.rowIDColumn = rowIDColumn ?? other.rowIDColumn
        return result
    }

    fileprivate func intersection(_ other: Self) -> Self {
        var result = self
        if let others = other.columns {
            result.columns = columns.map { own in own.filter { others[$0.key] != nil } } ?? others
        }
        if let others = other.rowIDs { result.rowIDs = rowIDs.map { $0.intersection(others) } ?? others }
        result.rowIDColumn = rowIDColumn ?? other.rowIDColumn
        return result
    }
}

extension DatabaseRegion: Equatable {
    /// Returns whether two regions hold the same, however its names are spelled.
    public static func == (left: DatabaseRegion, right: DatabaseRegion) -> Bool {
        guard let lefts = left.tables, let rights = right.tables else {
            return left.isFullDatabase && right.isFullDatabase
        }
        guard lefts.count == rights.count else { return false }
        return lefts.allSatisfy { key, table in
            guard let other = rights[key] else { return false }
            return table.rowIDs == other.rowIDs && table.columns?.keys == other.columns?.keys
        }
    }
}

extension DatabaseRegion: CustomStringConvertible {
    /// A text for logs, such as `player(id,name)[1,2],team(*)`.
    public var description: String {
        guard let tables else { return "full database" }
        if tables.isEmpty { return "empty" }
        return tables.values.sorted { $0.name < $1.name }.map { table in
            let columns = table.columns?.values.sorted().joined(separator: ",") ?? "*"
            let rows = table.rowIDs.map { "[\($0.sorted().map(String.init).joined(separator: ","))]" }
            return "\(table.name)(\(columns))\(rows ?? "")"
        }.joined(separator: ",")
    }
}
