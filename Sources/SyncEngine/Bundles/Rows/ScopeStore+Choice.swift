import CipherStore

/// How the choice of a remote is made.
extension ScopeStore {
    /// Chooses what is exchanged with a remote.
    func set(_ scope: SyncScope, of remote: String) throws {
        let numbers = try scope.tableNames.map { try resolve($0).map(\.number) } ?? []
        try db.execute(sql: "DELETE FROM _sync_scope WHERE remote = ?", arguments: [remote])
        for number in Set(numbers).sorted() {
            try db.execute(
                sql: "INSERT INTO _sync_scope (remote, tbl) VALUES (?, ?)", arguments: [remote, number])
        }
        try RowChoice(db: db).set(scope, of: remote)
    }
}
