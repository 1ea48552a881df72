/// A list of migrations, each of which changes a database once.
///
/// ```swift
/// var migrator = DatabaseMigrator()
///
/// migrator.registerMigration("Create authors") { db in
///     try db.create(table: "author") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text).notNull()
///     }
/// }
///
/// migrator.registerMigration("Add birth dates") { db in
///     try db.alter(table: "author") { t in
///         t.add(column: "birthDate", .date)
///     }
/// }
///
/// try migrator.migrate(dbQueue)
/// ```
///
/// Migrations run in the order in which they were registered, each in a
/// transaction of its own: when one fails, or the process is killed in it, the
/// database is as the migration before left it. The names of those that ran are
/// in the table `grdb_migrations`, so that a file that GRDB migrated goes on as it is.
///
/// A migration runs without the connection's ``Database/schemaSource``.
public struct DatabaseMigrator: Sendable {
    /// When the foreign keys of a migration are checked.
    public enum ForeignKeyChecks: Sendable {
        /// At the end of the migration, for the whole database. Until then foreign
        /// keys are off, which lets a migration make a table anew.
        ///
        /// In a store that is synchronized, a migration fails only for violations that were not there before it.
        case deferred
        /// At each statement, as everywhere else.
        case immediate
    }

    /// Whether the whole database is erased before the migrations run, if
    /// migrations that ran already give another schema now.
    ///
    /// It is for the time of development only: **all data is lost**. See
    /// ``hasSchemaChanges(_:)`` for what is compared.
    public var eraseDatabaseOnSchemaChange = false

    private var defersForeignKeyChecks = true
    var registered: [Migration] = []

    /// Makes a migrator without migrations.
    public init() {}

    /// Returns a migrator that does not check foreign keys at the end of the
    /// migrations that are registered from now on, unless they ask for
    /// ``ForeignKeyChecks/immediate`` ones.
    ///
    /// Checks take time in a large database. Without them, a migration can leave
    /// rows that refer to nothing.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.defersForeignKeyChecks = false
        return migrator
    }

    // MARK: Registering

    /// Registers a migration.
    ///
    /// - parameters:
    ///     - identifier: A name that no other migration has. Never change it, nor
    ///       what the migration does, once an app that has it was given away.
    ///     - foreignKeyChecks: When foreign keys are checked.
    ///     - migrate: The changes.
    /// - precondition: No migration of that name is registered.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (_ db: Database) throws -> Void
    ) {
        registerMigration(identifier, foreignKeyChecks: foreignKeyChecks, merging: []) { db, _ in
            try migrate(db)
        }
    }

    /// Registers a migration that stands for several older ones.
    ///
    /// It runs when it has not been applied itself, and it is told which of the
    /// older ones were applied. From then on their names are forgotten.
    ///
    /// ```swift
    /// migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
    ///     if !applied.contains("v1") { … }
    ///     if !applied.contains("v2") { … }
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - identifier: The name of the migration, which can be that of the last one it stands for.
    ///     - foreignKeyChecks: When foreign keys are checked.
    ///     - mergedIdentifiers: The names of the migrations that it stands for; by default, none.
    ///     - migrate: The changes. Its second argument names the merged
    ///       migrations that were applied.
    /// - precondition: No migration of that name is registered.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        merging mergedIdentifiers: Set<String> = [],
        migrate: @escaping @Sendable (_ db: Database, _ appliedIdentifiers: Set<String>) throws -> Void
    ) {
        precondition(
            !registered.contains { $0.identifier == identifier },
            "a migration named \"\(identifier)\" is registered already")
        let checks: Migration.Checks
        switch foreignKeyChecks {
        case .deferred: checks = defersForeignKeyChecks ? .atEnd : .none
        case .immediate: checks = .atEachStatement
        }
        registered.append(
            Migration(
                identifier: identifier, mergedIdentifiers: mergedIdentifiers.subtracting([identifier]),
                checks: checks, migrate: migrate))
    }

    // MARK: Migrating

    /// Runs the migrations that did not run yet, and waits for their end.
    ///
    /// - throws: What a migration throws. Those before it stay applied.
    public func migrate(_ writer: any DatabaseWriter) throws {
        try writer.barrierWriteWithoutTransaction { try run($0, upTo: registered.last?.identifier) }
    }

    /// Runs the migrations that did not run yet, up to one of them, and waits for their end.
    ///
    /// - parameters:
    ///     - writer: The database.
    ///     - targetIdentifier: The name of the last migration to run.
    /// - throws: What a migration throws; a ``DatabaseError`` of code
    ///   `SQLITE_MISUSE` when there is no such migration, or a later one was applied.
    public func migrate(_ writer: any DatabaseWriter, upTo targetIdentifier: String) throws {
        try writer.barrierWriteWithoutTransaction { try run($0, upTo: targetIdentifier) }
    }

    /// Runs the migrations that did not run yet, and does not wait for their end.
    ///
    /// - parameters:
    ///     - writer: The database.
    ///     - completion: A function that is given the connection, outside of any
    ///       transaction, or the error of the migration that failed.
    public func asyncMigrate(
        _ writer: any DatabaseWriter,
        completion: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.asyncBarrierWriteWithoutTransaction { result in
            completion(
                result.flatMap { db in
                    Result { try run(db, upTo: registered.last?.identifier) }.map { db }
                })
        }
    }

    private func run(_ db: Database, upTo target: String?) throws {
        // Whoever waited for this access may have seen an older schema.
        db.clearSchemaCache()
        if eraseDatabaseOnSchemaChange, try hasSchemaChanges(db) {
            // Another process may have seen the same, and have erased and migrated it by now.
            try db.eraseContent { try hasSchemaChanges(db) }
        }
        guard let target else { return }
        try MigrationRun(migrations: registered).migrate(db, upTo: target)
    }

    // MARK: Looking

    /// The names of the migrations, in the order in which they run.
    public var migrations: [String] { registered.map(\.identifier) }

    /// Returns the names of the registered migrations that were applied, in
    /// the order in which they are registered.
    ///
    /// - throws: A ``DatabaseError``.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return migrations.filter(applied.contains)
    }

    /// Returns all names of applied migrations, those that another version of
    /// the app registered included.
    ///
    /// - throws: A ``DatabaseError``.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        try MigrationRun.appliedIdentifiers(db)
    }

    /// Returns the names of the registered migrations that were applied, up to
    /// the first that was not.
    ///
    /// - throws: A ``DatabaseError``.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return Array(migrations.prefix(while: applied.contains))
    }

    /// Returns whether all registered migrations were applied, and no others: an app that knows an older schema
    /// only is not to work on a newer one. ``hasBeenSuperseded(_:)`` tells why not.
    ///
    /// - throws: A ``DatabaseError``.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        guard try completedMigrations(db).count == registered.count else { return false }
        return try !hasBeenSuperseded(db)
    }

    /// Returns whether a newer version of the app used the database: migrations were
    /// applied that are not registered.
    ///
    /// A newer version may also have merged the first registered migrations into a later
    /// one. Then that one was applied and those before it were forgotten, so a database where
    /// a registered migration was applied and none of those before it counts as superseded.
    /// A database between migrations that this migrator merges does not.
    ///
    /// - throws: A ``DatabaseError``.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard applied.isSubset(of: knownIdentifiers) else { return true }
        guard let first = registered.first, !applied.isEmpty else { return false }
        return !applied.contains(first.identifier) && applied.isDisjoint(with: first.mergedIdentifiers)
    }

    private var knownIdentifiers: Set<String> {
        registered.reduce(into: []) { $0.formUnion($1.mergedIdentifiers.union([$1.identifier])) }
    }

    /// Returns whether the migrations that were applied give another schema now,
    /// or are not registered any more.
    ///
    /// They run in a new, temporary database, which is set up as this one. Tables
    /// of SQLite and of the library are not compared. A database that is between
    /// migrations which were merged since counts as unchanged, because its schema
    /// can't be made anew.
    ///
    /// - throws: A ``DatabaseError``, or what a migration throws.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard applied.isSubset(of: knownIdentifiers) else { return true }
        let isBetween = registered.contains {
            !applied.contains($0.identifier) && !applied.isDisjoint(with: $0.mergedIdentifiers)
        }
        guard !isBetween, let last = registered.last(where: { applied.contains($0.identifier) }) else {
            return false
        }
        return try db.withEmptyCopy { fresh in
            try MigrationRun(migrations: registered).migrate(fresh, upTo: last.identifier)
            return try SchemaText(db) != SchemaText(fresh)
        }
    }
}
