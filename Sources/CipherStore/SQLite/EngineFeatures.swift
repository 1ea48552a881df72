import CSQLCipher
import Foundation

/// What the SQLCipher library that this process runs on can do.
///
/// The answers come from the library itself, at run time: the same binary runs
/// on SQLCipher 3.4.1 (SQLite 3.15.2) and on 4.x. Nothing is inferred from the
/// version that the headers had when the package was built, nor from the
/// absence of an error, because SQLite ignores a PRAGMA that it does not know.
public struct EngineFeatures: Sendable {
    /// The version of SQLCipher, such as `"3.4.1"` or `"4.6.1 community"`, or
    /// nil when the linked library is not SQLCipher.
    public let cipherVersion: String?

    /// The version of SQLite, as in `sqlite3_libversion_number()`.
    public let sqliteVersionNumber: Int

    /// Whether files of the SQLCipher 4 format can be read and written.
    public let supportsFormat4: Bool

    /// Whether `INSERT … ON CONFLICT DO UPDATE` is available.
    public let supportsUpsert: Bool

    /// Whether `RETURNING` clauses are available.
    public let supportsReturning: Bool

    /// Whether the JSON functions are available.
    public let supportsJSON: Bool

    /// Whether FTS5 tables are available.
    public let supportsFTS5: Bool

    /// Whether `PRAGMA trusted_schema` and the defensive mode are available.
    public let supportsTrustedSchema: Bool

    /// Whether `PRAGMA table_xinfo` is available.
    public let supportsTableXInfo: Bool

    /// Whether `STRICT` tables are available.
    public let supportsStrictTables: Bool

    /// Whether generated columns are available.
    public let supportsGeneratedColumns: Bool

    /// Whether `ALTER TABLE … RENAME COLUMN` is available, and `RENAME TO`
    /// follows the table's name into views and triggers.
    public let supportsRenameColumn: Bool

    /// Whether `ALTER TABLE … DROP COLUMN` is available.
    public let supportsDropColumn: Bool

    /// Whether the authorizer is asked about tables of which no column is read.
    public let authorizesTablesWithoutColumns: Bool

    /// Whether a statement tells how often SQLite has prepared it again.
    let countsPreparations: Bool

    /// Whether each page that a statement changes is encrypted for the statement journal, if it has one.
    let encryptsStatementJournals: Bool

    /// Whether `sqlcipher_export` calls the tracer of its connection after it has removed it, which ends the process.
    let exportLosesTracer: Bool

    /// Whether a commit can be lost after a crash, with what follows it in the WAL: when pages were written to the WAL
    /// before the transaction ended, and a part of it was rolled back. SQLite 3.11 to 3.50.1 leave frames there
    /// without a checksum (<https://sqlite.org/forum/forumpost/b490f726db>).
    let losesCommitsAfterPartialRollback: Bool

    /// The features of the library that this process runs on.
    public static let current = probe()

    private static func probe() -> EngineFeatures {
        // The first connection initializes SQLite, which takes no log from then on.
        _ = ErrorLog.isInstalled
        let version = Int(sqlite3_libversion_number())
        var scratch: SQLiteConnection?
        defer { sqlite3_close_v2(scratch) }
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard sqlite3_open_v2(":memory:", &scratch, flags, nil) == SQLITE_OK, let scratch else {
            return EngineFeatures(cipherVersion: nil, sqliteVersionNumber: version, scratch: nil)
        }
        return EngineFeatures(
            cipherVersion: SQLiteHandle.text(scratch, "PRAGMA cipher_version"),
            sqliteVersionNumber: version, scratch: scratch)
    }

    private init(cipherVersion: String?, sqliteVersionNumber: Int, scratch: SQLiteConnection?) {
        self.cipherVersion = cipherVersion.flatMap { $0.isEmpty ? nil : $0 }
        self.sqliteVersionNumber = sqliteVersionNumber
        let major = self.cipherVersion.flatMap { Int($0.prefix(while: { $0 != "." })) } ?? 0
        losesCommitsAfterPartialRollback = (3_011_000..<3_050_002).contains(sqliteVersionNumber)
        supportsFormat4 = major >= 4
        encryptsStatementJournals = major < 4
        exportLosesTracer = major == 3
        supportsUpsert = sqliteVersionNumber >= 3_024_000
        supportsReturning = sqliteVersionNumber >= 3_035_000
        supportsTrustedSchema = sqliteVersionNumber >= 3_031_000
        supportsTableXInfo = sqliteVersionNumber >= 3_026_000
        supportsStrictTables = sqliteVersionNumber >= 3_037_000
        supportsGeneratedColumns = sqliteVersionNumber >= 3_031_000
        supportsRenameColumn = sqliteVersionNumber >= 3_026_000
        supportsDropColumn = sqliteVersionNumber >= 3_035_000
        authorizesTablesWithoutColumns = sqliteVersionNumber >= 3_019_000
        countsPreparations = sqliteVersionNumber >= 3_020_000
        supportsJSON = scratch.map { Self.prepares($0, "SELECT json('1')") } ?? false
        supportsFTS5 = sqlite3_compileoption_used("ENABLE_FTS5") != 0
        if let scratch, major == 3 {
            // SQLCipher 3 attaches files with its own default of 1024 bytes only, and ours have
            // the 4096 of newer versions. The setting is the process's, so it is made once, here.
            _ = SQLiteHandle.execute(
                scratch, "PRAGMA cipher_default_page_size = \(CipherSettings.defaultPageSize)")
        }
        if let scratch, major >= 4 {
            // From 4.6 on the library writes to stderr, for each wrong key too.
            // The setting is the process's, so it is made once, here.
            _ = SQLiteHandle.execute(scratch, "PRAGMA cipher_log_level = NONE")
        }
    }

    private static func prepares(_ handle: SQLiteConnection, _ sql: String) -> Bool {
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        return sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    }

    /// Throws unless the linked library encrypts.
    ///
    /// A program that links the system's SQLite by accident must not go on and
    /// write plaintext.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_MISUSE`.
    func requireCipher() throws {
        guard cipherVersion != nil else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the linked SQLite library is not SQLCipher; link libsqlcipher, and no libsqlite3")
        }
    }
}
