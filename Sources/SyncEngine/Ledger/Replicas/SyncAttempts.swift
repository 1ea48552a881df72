import CipherStore

/// What became of the synchronizations with each remote: nothing that fails is forgotten before one succeeds.
enum SyncAttempts {
    /// A table with rowids: of others, no observation of the database hears.
    static let schema = """
        CREATE TABLE _sync_attempt (
            name TEXT PRIMARY KEY,
            at INTEGER NOT NULL,
            done INTEGER,
            failures INTEGER NOT NULL,
            error TEXT,
            skew INTEGER NOT NULL
        );

        """

    /// The longest text of an error that is kept.
    private static let errorLengthMax = 2000

    /// - parameter refusal: Why the remote did not take what was changed here, if it did not.
    static func record(
        _ db: Database, success name: String, at: Int64, skew: Int64, refusal: SyncError? = nil
    ) throws {
        let refusal = refusal.map { String($0.message.prefix(errorLengthMax)) }
        try db.execute(
            sql:
                "INSERT OR REPLACE INTO _sync_attempt (name, at, done, failures, error, skew) VALUES (?1, ?2, ?2, 0, ?4, ?3)",
            arguments: [name, at, skew, refusal])
    }

    static func record(_ db: Database, failure error: any Error, name: String, at: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_attempt (name, at, done, failures, error, skew)
                VALUES (?1, ?2, (SELECT done FROM _sync_attempt WHERE name = ?1),
                    1 + coalesce((SELECT failures FROM _sync_attempt WHERE name = ?1), 0), ?3,
                    coalesce((SELECT skew FROM _sync_attempt WHERE name = ?1), 0))
                """, arguments: [name, at, String(text(of: error).prefix(errorLengthMax))])
    }

    /// What happened. The SQL of an error is ours, and says nothing to who reads a status.
    private static func text(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        if let storeError = error.storeError { return "\(storeError)" }
        return [error.file, error.message ?? error.resultCode.description].compactMap { $0 }.joined(
            separator: ": ")
    }

    /// Forgets a remote. What a copy keeps of the remotes of the original is nobody's to forget.
    ///
    /// - returns: Whether it was known.
    static func forget(_ db: Database, name: String) throws -> Bool {
        guard name != UnnamedRemote.name, try db.tableExists("_sync_attempt", in: "main") else {
            return false
        }
        try db.execute(sql: "DELETE FROM _sync_attempt WHERE name = ?", arguments: [name])
        return db.changesCount > 0
    }

    /// Forgets all of them in a copy of the store.
    ///
    /// - parameter hasMetWhole: Whether all tables were ever exchanged with one of them, which stays known.
    static func forgetNames(_ db: Database, hasMetWhole: Bool) throws {
        try db.execute(sql: "DELETE FROM main._sync_attempt")
        if hasMetWhole { try record(db, success: UnnamedRemote.name, at: 0, skew: 0) }
    }

    static func load(_ db: Database) throws -> [SyncStatus.Remote] {
        // A store of an older program that nobody has written to yet.
        guard try db.tableExists("_sync_attempt", in: "main") else { return [] }
        let scopes = ScopeStore(db: db)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT name, at, done, failures, error, skew FROM _sync_attempt WHERE name <> ?
                ORDER BY at DESC, name
                """, arguments: [UnnamedRemote.name]
        ).map { row in
            let name: String = try row.decode(atIndex: 0)
            return SyncStatus.Remote(
                name: name, lastAttemptMilliseconds: try row.decode(atIndex: 1),
                lastSuccessMilliseconds: try row.decodeIfPresent(atIndex: 2),
                failureCount: try row.decode(atIndex: 3),
                lastError: try row.decodeIfPresent(atIndex: 4),
                clockAheadMilliseconds: try row.decode(atIndex: 5), scope: try scopes.scope(of: name))
        }
    }
}
