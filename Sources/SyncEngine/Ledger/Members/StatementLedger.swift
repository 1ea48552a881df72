import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// The statements about members that a store knows, and which of them founded the membership.
///
/// Copies of the file keep them: they are signed, and say nothing that a member may not know.
enum StatementLedger {
    static let schema = """
        CREATE TABLE _sync_statement (
            id INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            content BLOB NOT NULL,
            at INTEGER NOT NULL
        );

        """

    private static let foundingSetting = "membership.founding"

    /// The name of the founding statement; nil in a store without members.
    static func founding(_ db: Database) throws -> StatementID? {
        guard try db.tableExists("_sync_statement", in: "main"),
            let data = try SyncSetting.data(db, foundingSetting)
        else { return nil }
        guard let id = StatementID(Array(data)) else {
            throw SyncError(
                .damagedMetadata, "the setting \(foundingSetting) is no name of a statement")
        }
        return id
    }

    /// Notes which statement founded the membership. Statements of another one are forgotten.
    static func setFounding(_ db: Database, _ founding: StatementID) throws {
        if try self.founding(db) != founding { try removeAll(db) }
        try SyncSetting.set(db, foundingSetting, Data(founding.bytes))
    }

    /// The statements. They were checked when they came, or when the file was made of another one.
    static func loadAll(_ db: Database) throws -> [SignedStatement] {
        try db.rows("SELECT content FROM _sync_statement ORDER BY id") { row in
            let content: Data = try row.decodeStrictly(atIndex: 0)
            do { return try SignedStatement(kept: Array(content)) } catch let error as MembershipError {
                throw SyncError(.damagedMetadata, "a statement about members is damaged: \(error.message)")
            }
        }
    }

    /// When each came to be known here, in milliseconds of Unix time.
    static func times(_ db: Database) throws -> [StatementID: Int64] {
        var times: [StatementID: Int64] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT name, at FROM _sync_statement") {
            let name: Data = try row.decode(atIndex: 0)
            if let id = StatementID(Array(name)) { times[id] = try row.decode(atIndex: 1) }
        }
        return times
    }

    /// Removes what passes for statements in a file that somebody else may have written: each has to be signed by the device
    /// that it names, be of the database, and stand under its own name. No more stay than a database may have.
    ///
    /// - parameter store: The database.
    static func removeForged(_ db: Database, of store: StoreID) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_statement
                WHERE typeof(name) <> 'blob' OR typeof(content) <> 'blob' OR length(content) > ?
                """, arguments: [MembershipLimits.statementByteCountMax])
        var (count, byteCount) = (0, 0)
        var forged: [Int64] = []
        let cursor = try Row.fetchCursor(db, sql: "SELECT id, name, content FROM _sync_statement ORDER BY id")
        while let row = try cursor.next() {
            let (name, content): (Data, Data) = (try row.decode(atIndex: 1), try row.decode(atIndex: 2))
            guard let statement = try? SignedStatement(bytes: Array(content)),
                Data(statement.id.bytes) == name, statement.statement.store == store,
                count < MembershipLimits.statementCountMax,
                byteCount <= MembershipLimits.totalByteCountMax - content.count
            else {
                forged.append(try row.decode(atIndex: 0))
                continue
            }
            count += 1
            byteCount += content.count
        }
        for id in forged {
            try db.execute(sql: "DELETE FROM _sync_statement WHERE id = ?", arguments: [id])
        }
    }

    /// Forgets all statements.
    static func removeAll(_ db: Database) throws { try db.execute(sql: "DELETE FROM _sync_statement") }

    /// Keeps statements and no others. Those that were kept already have been known for as long as before.
    static func replaceAll(
        _ db: Database, with statements: [SignedStatement], at milliseconds: Int64
    ) throws {
        let known = try self.times(db)
        try removeAll(db)
        for statement in statements {
            try add(db, [statement], at: known[statement.id] ?? milliseconds)
        }
    }

    /// Keeps statements. Those that are kept already stay as they are.
    static func add(_ db: Database, _ statements: [SignedStatement], at milliseconds: Int64) throws {
        for statement in statements {
            try db.execute(
                sql: "INSERT OR IGNORE INTO _sync_statement (name, content, at) VALUES (?, ?, ?)",
                arguments: [Data(statement.id.bytes), Data(statement.bytes), milliseconds])
        }
    }
}
