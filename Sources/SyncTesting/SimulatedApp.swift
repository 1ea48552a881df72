import CipherStore
import SyncEngine

/// The device on which an edit is made.
public struct SimulatedDevice: Sendable {
    /// Its number, from 0.
    public let number: Int
    /// The version of the app that it runs, from 0.
    public let version: Int
}

/// An app as the simulator sees it: a schema, and a way to edit its tables.
///
/// ```swift
/// let app = SimulatedApp(tables: ["note", "tag"]) { database, _ in
///     try AppMigrations.migrator.migrate(database)
/// } edit: { db, random, _ in
///     let id = random.element(of: noteIDs)!
///     try db.execute(sql: "UPDATE note SET stars = stars + 1 WHERE id = ?", arguments: [id])
///     return "a star for \(id)"
/// }
/// ```
public struct SimulatedApp: Sendable {
    /// Brings a database to a version of the app, from whichever older one it has.
    public typealias Migration = @Sendable (_ database: any DatabaseWriter, _ version: Int) throws -> Void

    /// Makes one random edit, within a transaction.
    ///
    /// A `DatabaseError` of a constraint that it throws is taken as a user's mistake: the edits
    /// before it stay. Draw all choices from the generator, and order what you select, or the run
    /// can't be replayed. It returns what it did, for the trace.
    public typealias Edit =
        @Sendable (
            _ db: Database, _ random: inout SimulationRandom, _ device: SimulatedDevice
        ) throws -> String

    /// The tables that are synchronized.
    public let tables: [String]
    /// The columns that count, by table: what replicas add to them is summed up.
    public let counters: [String: Set<String>]
    /// How many versions of the app there are. Replicas migrate one by one, at random moments.
    public let versionCount: Int
    /// The table of which replicas hold some rows only, when they may.
    struct RowScope: Sendable {
        let table: String
        let column: String
        /// The values of the column.
        let values: [ScopeValue]
    }

    let migrate: Migration
    let edit: Edit
    /// Whether each edit is one statement, so that the log can be compared with it exactly.
    let hasSingleStatements: Bool
    /// Whether edits mean the same without recursive triggers.
    let allowsPlainTriggers: Bool
    let rowScope: RowScope?

    /// Describes an app.
    ///
    /// - parameters:
    ///     - tables: The tables that are synchronized; each has one UUID column as its key.
    ///     - counters: The columns that count, by table. They are in the first version of the schema.
    ///     - versionCount: How many versions of the schema there are.
    ///     - migrate: Brings a database to a version, from 0 to `versionCount - 1`.
    ///     - edit: Makes one random edit.
    public init(
        tables: [String], counters: [String: Set<String>] = [:], versionCount: Int = 1,
        migrate: @escaping Migration, edit: @escaping Edit
    ) {
        self.init(
            tables: tables, counters: counters, versionCount: versionCount, hasSingleStatements: false,
            allowsPlainTriggers: false,
            migrate: migrate, edit: edit)
    }

    init(
        tables: [String], counters: [String: Set<String>], versionCount: Int, hasSingleStatements: Bool,
        allowsPlainTriggers: Bool, rowScope: RowScope? = nil,
        migrate: @escaping Migration, edit: @escaping Edit
    ) {
        self.tables = tables
        self.counters = Dictionary(
            counters.map { ($0.identifierKey, Set($1.map { $0.identifierKey })) }, uniquingKeysWith: { $1 })
        self.versionCount = max(1, versionCount)
        self.hasSingleStatements = hasSingleStatements
        self.allowsPlainTriggers = allowsPlainTriggers
        self.rowScope = rowScope
        self.migrate = migrate
        self.edit = edit
    }

    /// What makes the counters count.
    var policies: [ColumnPolicy] {
        counters.sorted { $0.key < $1.key }.flatMap { table, columns in
            columns.sorted().map { .counter(table, $0) }
        }
    }
}
