import SyncEngine
import SyncWire

/// What a server says of a device when it opens a session.
struct DeviceTerms: Equatable {
    /// What it may exchange; nil for everything.
    var scope: Message.Scope?
    /// Whether its changes are refused.
    var isReadOnly: Bool
}

/// Adapts what a store exchanges with a server to what the server says that it may.
///
/// Who never chose anything follows the server. A choice of the user's own stays, as far as it is within what the
/// server allows: a device of the rows a and b that chose a goes on with a when c is added, and gets b when a is taken away.
struct ScopeAdoption {
    let book: RemoteBook
    let remote: Remote

    private var synchronizer: Synchronizer { book.synchronizer }

    /// Adapts the choice, if something else is said than the last time.
    ///
    /// - parameter definitions: Fetches how the tables are made that the device may exchange: those that it had not
    ///   heard of are made.
    /// - throws: ``SyncError``: `noSuchTable` when none of the tables is here, or all are but not tracked;
    ///   `unsuitableScope` when rows can't be chosen so here.
    func adopt(_ terms: DeviceTerms, definitions: () throws -> [SharedTable]) throws {
        guard terms != remote.terms else { return }
        if terms.scope != remote.terms.scope {
            let former = try own(remote.terms.scope) { [] }
            let isNew = former.tableNames != nil && terms.scope?.tables == nil
            let allowed = try own(terms.scope, makingAll: isNew, of: definitions)
            let url = remote.address.url
            let present = try synchronizer.scope(ofRemote: url)
            let adapted = Self.adapt(present, from: former, to: allowed)
            if !Self.isEqual(adapted, present) { try synchronizer.setScope(adapted, ofRemote: url) }
        }
        var saved = remote
        saved.terms = terms
        try book.save(saved)
    }

    /// What a server's scope is by the names of this store.
    ///
    /// - parameters:
    ///     - isAlways: Whether all tables of the server are made that are not here, and not those of the scope only.
    ///     - definitions: Fetches how tables are made.
    private func own(
        _ scope: Message.Scope?, makingAll isAlways: Bool = false, of definitions: () throws -> [SharedTable]
    ) throws -> SyncScope {
        let names = scope?.names ?? AccessNames(tables: nil, rows: [])
        let (found, missing) = try synchronizer.ownScope(names)
        guard isAlways || !missing.isEmpty else { return found }
        try synchronizer.make(
            try definitions().filter { table in
                isAlways || missing.contains { $0.contains(table.name) }
            })
        return try synchronizer.ownScope(names).found
    }

    // MARK: The rule

    /// The choice of a store after what it may exchange was changed.
    static func adapt(_ present: SyncScope, from former: SyncScope, to allowed: SyncScope) -> SyncScope {
        var adapted = SyncScope.everything
        let tables = isEqual(present.tableNames, former.tableNames) ? nil : present.tableNames
        if let tables, let all = allowed.tableNames {
            let kept = tables.filter { name in all.contains { isEqual($0, name) } }
            adapted = .tables(kept.isEmpty ? all : kept)
        } else if let names = tables ?? allowed.tableNames {
            adapted = .tables(names)
        }
        let named = Dictionary(
            (present.rows + allowed.rows).map { ($0.table.identifierKey, $0.table) },
            uniquingKeysWith: { first, _ in first })
        for name in named.sorted(by: { $0.key < $1.key }).map(\.value) {
            func rows(_ scope: SyncScope) -> SyncScope.Rows? { scope.rows.first { isEqual($0.table, name) } }
            let isChosen = adapted.tableNames.map { $0.contains { isEqual($0, name) } } ?? true
            guard isChosen, let rows = adapt(rows(present), from: rows(former), to: rows(allowed)) else {
                continue
            }
            adapted = adapted.rows(of: rows.table, where: rows.column, in: rows.values)
        }
        return adapted
    }

    private static func adapt(
        _ present: SyncScope.Rows?, from former: SyncScope.Rows?, to allowed: SyncScope.Rows?
    ) -> SyncScope.Rows? {
        guard !isEqual(present, former), let present else { return allowed }
        guard let allowed else { return present }
        guard isEqual(present.column, allowed.column) else { return allowed }
        let kept = present.values.filter(allowed.values.contains)
        let scope = SyncScope.rows(of: allowed.table, where: allowed.column, in: kept)
        return kept.isEmpty ? allowed : scope.rows.first
    }

    private static func isEqual(_ name: String, _ other: String) -> Bool {
        name.isSameIdentifier(as: other)
    }

    private static func isEqual(_ names: [String]?, _ others: [String]?) -> Bool {
        names.map { Set($0.map { $0.identifierKey }) } == others.map { Set($0.map { $0.identifierKey }) }
    }

    private static func isEqual(_ rows: SyncScope.Rows?, _ other: SyncScope.Rows?) -> Bool {
        guard let rows, let other else { return rows == nil && other == nil }
        return isEqual(rows.table, other.table) && isEqual(rows.column, other.column)
            && rows.values == other.values
    }

    private static func isEqual(_ scope: SyncScope, _ other: SyncScope) -> Bool {
        isEqual(scope.tableNames, other.tableNames) && scope.rows.count == other.rows.count
            && scope.rows.allSatisfy { rows in
                isEqual(rows, other.rows.first { isEqual($0.table, rows.table) })
            }
    }
}
