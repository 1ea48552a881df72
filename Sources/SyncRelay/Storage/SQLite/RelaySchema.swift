import CipherStore
import Foundation

/// The tables of a storage.
enum RelaySchema {
    /// "CSRL", as SQLite's `application_id`.
    static let applicationID: Int64 = 0x4353_524C
    static let version: Int64 = 1

    /// A body is what a version of a file has: blocks of 256 KiB, whose ids are the body's number times this, and on.
    static let blocksPerBody: Int64 = 1 << 14
    /// The last number of a body whose blocks have ids.
    static let bodyMax: Int64 = (1 << 49) - 1

    private static let sql = """
        CREATE TABLE channel (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            -- Random: a channel that is removed and made again has another epoch.
            birth BLOB NOT NULL,
            readDigest BLOB NOT NULL,
            writeDigest BLOB NOT NULL,
            position INTEGER NOT NULL,
            byteCount INTEGER NOT NULL,
            fileCount INTEGER NOT NULL,
            -- How many removals are remembered, and the position of the last one that was forgotten.
            removalCount INTEGER NOT NULL,
            forgotten INTEGER NOT NULL
        );
        -- What is known of a name: a version, or that the file was removed. Then there is no body. That of an empty file
        -- is 0.
        CREATE TABLE file (
            channel INTEGER NOT NULL,
            folder TEXT NOT NULL,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            byteCount INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL,
            digest BLOB,
            body INTEGER,
            PRIMARY KEY (channel, folder, name)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX filePosition ON file (channel, position);
        CREATE INDEX fileRemoval ON file (channel, position) WHERE body IS NULL;
        CREATE TABLE block (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        -- Bodies that are being written, and that nobody sees.
        CREATE TABLE upload (
            body INTEGER PRIMARY KEY,
            channel INTEGER NOT NULL,
            byteCount INTEGER NOT NULL,
            received INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL
        );
        CREATE INDEX uploadChannel ON upload (channel);
        -- Bodies that nobody sees any more, until their blocks are removed.
        CREATE TABLE discarded (body INTEGER PRIMARY KEY);
        CREATE TABLE invitation (
            id BLOB PRIMARY KEY,
            channel INTEGER NOT NULL,
            sealed BLOB NOT NULL,
            expiry INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX invitationChannel ON invitation (channel);
        CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        """

    /// Opens the file, and makes it when there is none.
    ///
    /// - throws: ``RelayStorageError``.
    static func open(path: String, readerCountMax: Int) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "SyncRelay"
        configuration.foreignKeysEnabled = false
        configuration.observesOtherConnections = false
        configuration.maximumReaderCount = max(1, readerCountMax)
        configuration.persistentReadOnlyConnections = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            // Takes effect in a new file only, before its first page: free pages can go back to the disk.
            try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            // All that is removed is encrypted, by a key that never was here. Zeroing it would double the writes.
            try db.execute(sql: "PRAGMA secure_delete = OFF")
            // The WAL grows by what is written while somebody reads; it needn't stay as long.
            try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // What was answered is on the disk: a pool sets NORMAL, which may lose the last commits with the power.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return pool
        } catch {
            throw explain(error, path)
        }
    }

    /// Makes the tables or checks them, and gives up what was being uploaded when the file was closed.
    ///
    /// - returns: The number of the last body.
    /// - throws: ``RelayStorageError``.
    static func prepare(_ pool: DatabasePool, path: String) throws -> Int64 {
        do {
            return try pool.write { db in
                try makeOrCheck(db, path: path)
                try RelaySpace.abandonUploads(db, before: nil)
                return try lastBody(db)
            }
        } catch {
            throw explain(error, path)
        }
    }

    /// The highest number that a body has, or had when its blocks are still to be removed.
    ///
    /// Numbers of discarded bodies count though they may have no blocks: a new body of such a number would lose its own.
    private static func lastBody(_ db: Database) throws -> Int64 {
        let withBlocks = try Int64.fetchOne(db, sql: "SELECT max(id) FROM block") ?? 0
        let discarded = try Int64.fetchOne(
            db, sql: "SELECT max(body) FROM discarded WHERE body <= \(bodyMax)")
        return max(0, withBlocks / blocksPerBody, discarded ?? 0)
    }

    private static func makeOrCheck(_ db: Database, path: String) throws {
        let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let version = try Int64.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        if application == 0 && version == 0,
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
        {
            try db.execute(sql: sql)
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: "PRAGMA user_version = \(Self.version)")
            return
        }
        guard application == applicationID else {
            throw RelayStorageError(
                .notAStorage, "the file is another program's database, and no storage of a relay", path: path)
        }
        guard version == Self.version else {
            throw RelayStorageError(
                .tooNew,
                "the storage has version \(version), and this program knows \(Self.version); use a newer program",
                path: path)
        }
    }

    private static func explain(_ error: any Error, _ path: String) -> any Error {
        switch error {
        case is RelayStorageError: error
        case let error as DatabaseError where error.resultCode == .SQLITE_NOTADB:
            RelayStorageError(.notAStorage, "the file is encrypted, or no database", path: path)
        case let error as DatabaseError where error.saysDiskIsFull:
            RelayStorageError(.cannotOpen, "the disk is full", path: path)
        case let error as DatabaseError:
            RelayStorageError(
                .cannotOpen, error.storeError?.message ?? error.message ?? "the database can't be used",
                path: path)
        default: RelayStorageError(.cannotOpen, "\(error)", path: path)
        }
    }
}

extension Database {
    /// Runs a statement that is kept for the next time.
    func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first row of a statement that is kept for the next time.
    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try Row.fetchOne(try cachedStatement(sql: sql), arguments: arguments)
    }

    /// The rows of a statement that is kept for the next time.
    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(try cachedStatement(sql: sql), arguments: arguments)
    }
}
