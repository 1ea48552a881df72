import CipherStore

/// The schema that the metadata were last brought up to.
///
/// Looking at each tracked table at each synchronization costs as much as there are tables. So the settings keep what
/// changes with every change of the schema, whichever program makes it, and a transaction that is rolled back puts both
/// back.
struct SchemaMark {
    private static let setting = "schema.seen"

    let db: Database

    /// SQLite counts the changes of a schema (https://www.sqlite.org/fileformat2.html#schema_cookie). A copy that another
    /// program made begins to count anew, so the objects are told apart as well: by how many there are, and where. Triggers of
    /// an older program are looked at as well.
    private func current() throws -> String {
        let cookie = try Row.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version"))
        let objects = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT count(*), max(rowid), total(rootpage) FROM main.sqlite_master"))
        let values = [cookie, objects].flatMap { $0?.databaseValues ?? [] }
        return (values.map(\.description) + ["\(CaptureTriggers.version)"]).joined(separator: " ")
    }

    /// Whether neither the schema nor what the metadata say of tables and columns has changed since it was noted.
    func isCurrent() throws -> Bool { try SyncSetting.text(db, Self.setting) == current() }

    /// Notes that the metadata are up to the schema as it is now, in the open transaction.
    func note() throws {
        let mark = try current()
        if try SyncSetting.text(db, Self.setting) != mark { try SyncSetting.set(db, Self.setting, mark) }
    }

    /// Notes that what the metadata say of tables or columns changes.
    func forget() throws { try SyncSetting.set(db, Self.setting, nil) }
}
