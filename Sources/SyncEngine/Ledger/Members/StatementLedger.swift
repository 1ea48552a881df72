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

    /// What is another one after each statement that a store has said or heard: the founding one and the newest. nil in a store
    /// without members.
    static func position(_ db: Database) throws -> MembershipPosition? {
        guard let founding = try founding(db) else { return nil }
        let last = try db.rows(
            "SELECT name, id FROM _sync_statement ORDER BY id DESC LIMIT 1"
        ) { row -> (StatementID, Int64) in (try name(in: row, at: 0), try row.decodeStrictly(atIndex: 1)) }
        return MembershipPosition(founding: founding, last: last.first?.0, number: last.first?.1 ?? 0)
    }

    /// Notes which statement founded the membership. Statements of another one are forgotten.
    static func setFounding(_ db: Database, _ founding: StatementID) throws {
        if try self.founding(db) != founding { try removeAll(db) }
        try SyncSetting.set(db, foundingSetting, Data(founding.bytes))
    }

    /// What the statements say. They were checked when they came, or when the file was made of another one.
    ///
    /// - parameter known: What this process knows of files. Only statements that are new to it are read.
    /// - throws: ``SyncError`` of code `damagedMetadata`, `MembershipError`.
    static func state(
        _ db: Database, _ store: StoreID, founding: StatementID, _ known: KnownMemberships = .shared
    ) throws -> MembershipState {
        let path = try KnownMemberships.path(db)
        let names = try self.names(db)
        var state = path.flatMap { known.state(of: $0, store, founding: founding, within: names) }
        if let before = state, before.statements.count < names.count {
            let fresh = names.filter { before.statements[$0] == nil }
            state = try before.adding(fresh.sorted().map { try load(db, $0) })
        }
        let all = try state ?? MembershipState(store: store, founding: founding, statements: loadAll(db))
        if let path { known.keep(all, of: path) }
        return all
    }

    private static func names(_ db: Database) throws -> Set<StatementID> {
        // By the index of names: what is said is not read.
        Set(try db.rows("SELECT name FROM _sync_statement ORDER BY name") { try name(in: $0, at: 0) })
    }

    private static func name(in row: Row, at index: Int) throws -> StatementID {
        let name: Data = try row.decodeStrictly(atIndex: index)
        guard let id = StatementID(Array(name)) else {
            throw SyncError(.damagedMetadata, "a statement about members has a name that is none")
        }
        return id
    }

    private static func load(_ db: Database, _ name: StatementID) throws -> SignedStatement {
        let found = try db.rows(
            "SELECT content, name FROM _sync_statement WHERE name = ?", [Data(name.bytes)], statement)
        guard let statement = found.first else {
            throw SyncError(.damagedMetadata, "a statement about members is in an index and not in its table")
        }
        return statement
    }

    private static func loadAll(_ db: Database) throws -> [SignedStatement] {
        try db.rows("SELECT content, name FROM _sync_statement ORDER BY id", [], statement)
    }

    private static func statement(_ row: Row) throws -> SignedStatement {
        let content: Data = try row.decodeStrictly(atIndex: 0)
        do {
            let statement = try SignedStatement(kept: Array(content))
            guard try statement.id == name(in: row, at: 1) else {
                throw SyncError(.damagedMetadata, "a statement about members stands under another name")
            }
            return statement
        } catch let error as MembershipError {
            throw SyncError(.damagedMetadata, "a statement about members is damaged: \(error.message)")
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

/// How far a store is in what was said about members.
package struct MembershipPosition: Equatable, Sendable {
    /// The statement that founded the membership.
    let founding: StatementID
    /// The one that was said or heard last.
    let last: StatementID?
    /// Its number in the store.
    let number: Int64
}
