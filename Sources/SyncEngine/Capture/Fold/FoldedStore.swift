import CipherStore
import SyncWire

/// A store whose log is folded, in the transaction that is open: each local write has a version.
///
/// What compares, sends, merges or renumbers versions takes this value instead of a database, so that nobody comes there
/// with writes that have none. Only the functions here make one. It says nothing of the next transaction, in which
/// anybody may have written, so it must not leave the one that it was made in. Whoever appends to the log makes another
/// one afterwards.
struct FoldedStore {
    let db: Database
    let environment: SyncEnvironment
    /// The metadata as the fold left them.
    let metadata: StoreMetadata
    /// What the fold did.
    let summary: Fold.Summary
    /// Whether the tracking had to be brought up to another schema.
    let hasNewSchema: Bool

    private init(
        _ db: Database, _ environment: SyncEnvironment, _ summary: Fold.Summary, hasNewSchema: Bool = false
    ) throws {
        assert(db.isInsideTransaction, "a log is folded in a transaction")
        self.db = db
        self.environment = environment
        self.summary = summary
        self.hasNewSchema = hasNewSchema
        metadata = try StoreMetadata.require(db)
    }

    /// Upgrades the metadata, gives a copy an identity of its own, and folds the log.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    @discardableResult
    static func fold(_ db: Database, _ environment: SyncEnvironment) throws -> FoldedStore {
        try FoldedStore(db, environment, Fold(db: db, environment: environment).run())
    }

    /// Brings the tracking up to the schema first, which another program may have changed, and then folds the log.
    ///
    /// - parameter droppedTables: The tables that were dropped in the open transaction, see ``TableTracking/droppedTables``.
    /// - throws: ``SyncError``, also for a table that can't be tracked any more; `DatabaseError`.
    @discardableResult
    static func refresh(
        _ db: Database, _ environment: SyncEnvironment, droppedTables: Set<Int64> = []
    ) throws -> FoldedStore {
        let hasNewSchema = try TableTracking(
            db: db, environment: environment, droppedTables: droppedTables
        ).refresh()
        let summary = try Fold(db: db, environment: environment).run()
        return try FoldedStore(db, environment, summary, hasNewSchema: hasNewSchema)
    }

    /// The store of a snapshot, in which nothing can be folded any more.
    ///
    /// - returns: nil when writes wait for their versions.
    /// - throws: ``SyncError`` when it has no metadata, or those of a newer program; `DatabaseError`.
    static func ifFolded(_ db: Database, _ environment: SyncEnvironment) throws -> FoldedStore? {
        let store = try FoldedStore(db, environment, Fold.Summary())
        return try isFolded(db) ? store : nil
    }

    /// Whether the log has nothing that has no version yet.
    static func isFolded(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT coalesce((SELECT max(seq) FROM _sync_log), 0) <= folded FROM _sync_state")
            == true
    }

    /// What a copy of the file needs: log entries that are in both would get two numbers, and
    /// what they add to counters would be added twice.
    static func preparation(_ environment: SyncEnvironment) -> StorePreparation {
        StorePreparation {
            try fold($0, environment)
        } isPrepared: { db in
            let metadata = try StoreMetadata.require(db)
            return try metadata.format == MetadataSchema.version && isFolded(db)
        }
    }

    /// The metadata as they are now, after what was written since the fold.
    func currentMetadata() throws -> StoreMetadata { try StoreMetadata.require(db) }
}
