import CipherStore
import Foundation
import SyncWire

/// Chooses none of the rows of tables for a remote, and keeps what was chosen before until the rows are wanted again.
///
/// It is kept apart from the choice, which a user may change meanwhile: that choice stays then.
struct RowsSetAside {
    let db: Database
    let environment: SyncEnvironment
    let remote: String

    /// What is kept, in a setting. Tables and columns are numbers, so it survives that they are renamed.
    fileprivate struct Kept: Codable {
        /// The rows of a table that were chosen.
        struct Rows: Codable {
            let table: Int64
            let column: Int
            let values: [Value]
        }

        /// A value by its type. NULL has none of them.
        struct Value: Codable {
            var integer: Int64?
            var text: String?
            var blob: Data?
        }

        /// A text that no row has: rows can't be chosen by no value.
        let nowhere: String
        /// The choices, of tables of which some rows only were chosen.
        var rows: [Rows] = []
    }

    /// Whether something is kept.
    var isKept: Bool {
        get throws { try db.tableExists("_sync_setting", in: "main") && load() != nil }
    }

    /// Chooses none of the rows of tables. Those that are not exchanged with the remote keep theirs, which it does not have.
    ///
    /// - returns: Whether anything else was chosen before.
    /// - throws: ``SyncError``: `noSuchTable`; `unsuitableScope` for a table that has no column to choose by, or a
    ///   choice that another remote has.
    func begin(_ tables: [String]) throws -> Bool {
        guard !tables.isEmpty else { return false }
        let store = ScopeStore(db: db)
        var scope = try store.scope(of: remote)
        let exchanged = scope.tableNames.map { Set($0.map { $0.identifierKey }) }
        var kept = try load() ?? Kept(nowhere: "none of them: \(environment.identifier())")
        var isChanged = false
        for table in try store.resolve(tables) where exchanged?.contains(table.name.identifierKey) != false {
            let chosen = scope.rows.first { $0.table.isSameIdentifier(as: table.name) }
            if let chosen, isNowhere(chosen, kept) { continue }
            let column = try column(of: table, chosen)
            kept.rows.removeAll { $0.table == table.number }
            if let chosen {
                kept.rows.append(
                    Kept.Rows(
                        table: table.number, column: column.number,
                        values: chosen.values.map { Kept.Value($0) }))
            }
            scope = scope.rows(of: table.name, where: column.name, in: [.text(kept.nowhere)])
            isChanged = true
        }
        guard isChanged else { return false }
        try RowChoice(db: db).set(scope, of: remote)
        try save(kept)
        return true
    }

    /// Chooses the rows again that were chosen before. Of a table whose rows were chosen anew meanwhile, these stay chosen.
    func end() throws {
        guard let kept = try load() else { return }
        var scope = try ScopeStore(db: db).scope(of: remote)
        let absent = scope.rows.filter { isNowhere($0, kept) }
        scope.rows.removeAll { isNowhere($0, kept) }
        for table in try SyncedTable.loadAll(db)
        where absent.contains(where: { $0.table.isSameIdentifier(as: table.name) }) {
            // Without the column, nothing says which rows were meant. The rows of a table that is gone come back.
            let columns = table.place == .elsewhere ? table.columns : table.presentColumns
            guard let rows = kept.rows.first(where: { $0.table == table.number }),
                let column = columns.first(where: { $0.number == rows.column })
            else { continue }
            scope = scope.rows(of: table.name, where: column.name, in: rows.values.map(\.value))
        }
        try RowChoice(db: db).set(scope, of: remote)
        try save(nil)
    }

    private func isNowhere(_ rows: SyncScope.Rows, _ kept: Kept) -> Bool {
        rows.values == [.text(kept.nowhere)]
    }

    /// The column by which none of the rows are chosen: that of the choice there is, or one without a policy.
    private func column(of table: SyncedTable, _ chosen: SyncScope.Rows?) throws -> SyncedTable.Column {
        let policies = try PolicyStore.loadAll(db).filter {
            $0.table == table.number && $0.policy.kind != .lastWriter
        }
        let column = table.presentColumns.first { column in
            guard let chosen else { return !policies.contains { $0.column == column.number } }
            return column.name.isSameIdentifier(as: chosen.column)
        }
        guard let column else {
            throw SyncError(
                .unsuitableScope,
                """
                the rows of \(table.name) can't be taken out here: it has no column besides its key and those with a \
                merge policy of their own
                """)
        }
        return column
    }

    // MARK: The setting

    private var name: String { "set aside \(remote)" }

    private func load() throws -> Kept? {
        guard let text = try SyncSetting.text(db, name) else { return nil }
        do {
            return try JSONDecoder().decode(Kept.self, from: Data(text.utf8))
        } catch {
            throw SyncError(.damagedMetadata, "what was chosen of \(remote) before is not readable: \(error)")
        }
    }

    private func save(_ kept: Kept?) throws {
        guard let kept else { return try SyncSetting.set(db, name, nil) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try SyncSetting.set(db, name, String(decoding: encoder.encode(kept), as: UTF8.self))
    }
}

extension RowsSetAside.Kept.Value {
    fileprivate init(_ value: ScopeValue) {
        switch value {
        case .null: self.init()
        case .integer(let number): self.init(integer: number)
        case .text(let text): self.init(text: text)
        case .blob(let bytes): self.init(blob: Data(bytes))
        }
    }

    fileprivate var value: ScopeValue {
        if let integer { return .integer(integer) }
        if let text { return .text(text) }
        if let blob { return .blob(Array(blob)) }
        return .null
    }
}
