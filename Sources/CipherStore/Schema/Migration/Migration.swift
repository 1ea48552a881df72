/// A registered migration.
struct Migration: Sendable {
    /// When foreign keys are checked.
    enum Checks: Sendable {
        case atEnd
        case atEachStatement
        case none
    }

    let identifier: String

    /// The names of the migrations that this one stands for, itself left out.
    let mergedIdentifiers: Set<String>

    let checks: Checks
    let migrate: @Sendable (Database, Set<String>) throws -> Void
}

/// Runs migrations on a connection.
struct MigrationRun {
    let migrations: [Migration]

    /// The names in the table of applied migrations.
    static func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        guard try db.tableExists("grdb_migrations", in: "main") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM main.grdb_migrations")
    }

    /// Runs what was not applied, up to a migration.
    func migrate(_ db: Database, upTo target: String) throws {
        guard let index = migrations.firstIndex(where: { $0.identifier == target }) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "no migration named \"\(target)\" is registered")
        }
        let applied = try Self.appliedIdentifiers(db)
        if let later = migrations[(index + 1)...].first(where: { applied.contains($0.identifier) }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the database is migrated beyond \"\(target)\": \"\(later.identifier)\" was applied")
        }
        try db.withSchemaSource(nil) {
            for migration in migrations[...index] where migration.isPending(applied) {
                try run(migration, db)
            }
        }
    }

    private func run(_ migration: Migration, _ db: Database) throws {
        guard migration.checks != .atEachStatement,
            try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true
        else { return try apply(migration, db, checksForeignKeys: false) }
        try db.withSetting("foreign_keys", isOn: false) {
            try apply(migration, db, checksForeignKeys: migration.checks == .atEnd)
        }
    }

    private func apply(_ migration: Migration, _ db: Database, checksForeignKeys: Bool) throws {
        try db.inTransaction(.immediate) {
            // Another process may have migrated while this one waited for the lock.
            db.clearSchemaCache()
            try db.execute(
                sql: "CREATE TABLE IF NOT EXISTS main.grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            let applied = try Self.appliedIdentifiers(db)
            if !applied.contains(migration.identifier) {
                let foreignKeys = checksForeignKeys ? try MigrationForeignKeys(before: db) : nil
                try change(migration, db, applied)
                try foreignKeys?.check(db)
            }
            for identifier in migration.mergedIdentifiers.intersection(applied) {
                try db.execute(
                    sql: "DELETE FROM main.grdb_migrations WHERE identifier = ?", arguments: [identifier])
            }
            return .commit
        }
    }

    private func change(_ migration: Migration, _ db: Database, _ applied: Set<String>) throws {
        let identifier = migration.identifier
        for observer in try db.schemaObservers() {
            try observer.databaseWillMigrate(db, identifier: identifier)
        }
        try migration.migrate(db, migration.mergedIdentifiers.intersection(applied))
        // A migration that ended its transaction can't be undone any more.
        guard db.isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "migration \"\(identifier)\" ended the transaction that it runs in")
        }
        for observer in try db.schemaObservers() {
            try observer.databaseDidMigrate(db, identifier: identifier)
        }
        try db.execute(
            sql: "INSERT INTO main.grdb_migrations (identifier) VALUES (?)", arguments: [identifier])
    }
}

extension Migration {
    /// Whether it has to run, or names that it stands for have to be forgotten.
    func isPending(_ applied: Set<String>) -> Bool {
        !applied.contains(identifier) || !applied.isDisjoint(with: mergedIdentifiers)
    }
}
