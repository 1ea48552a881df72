import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// Which files of mailboxes were read for statements, so that what is known costs no request.
enum StatementFiles {
    static let schema = """
        CREATE TABLE _sync_statement_file (
            mailbox TEXT NOT NULL,
            path TEXT NOT NULL,
            size INTEGER NOT NULL,
            waits INTEGER NOT NULL,
            held BLOB NOT NULL,
            PRIMARY KEY (mailbox, path)
        ) WITHOUT ROWID;

        """

    /// A file that was read.
    struct Entry: Equatable {
        /// Its folder and name.
        let path: String
        let byteCount: Int
        /// When it was read last, in milliseconds of Unix time, if it is read again: it was damaged, or has statements that wait
        /// for others; 0 otherwise.
        let triedMilliseconds: Int64
        /// The statements in it that are known here.
        let held: [StatementID]
        /// Whether the passphrase of the mailbox has opened it, whatever it holds.
        let isOpened: Bool

        /// Whether it is read again, when what it may wait for has come, or some time has gone by.
        var waits: Bool { triedMilliseconds != 0 }
    }

    /// The files of a mailbox that were read.
    static func load(_ db: Database, mailbox: String) throws -> [String: Entry] {
        var entries: [String: Entry] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT path, size, waits, held FROM _sync_statement_file WHERE mailbox = ?",
            arguments: [mailbox])
        for row in rows {
            let path: String = try row.decode(atIndex: 0)
            let held: Data = try row.decode(atIndex: 3)
            let count = StatementID.byteCount
            let names = stride(from: 0, to: held.count - held.count % count, by: count).compactMap {
                StatementID(Array(held[(held.startIndex + $0)..<(held.startIndex + $0 + count)]))
            }
            entries[path] = Entry(
                path: path, byteCount: try row.decode(atIndex: 1),
                // Other programs may write any number, and times are subtracted.
                triedMilliseconds: max(0, try row.decode(atIndex: 2)), held: names,
                // Of files that held nothing, older programs did not keep it.
                isOpened: !held.isEmpty)
        }
        return entries
    }

    /// Notes a file that was read, or written.
    static func note(_ db: Database, mailbox: String, _ entry: Entry) throws {
        // Older programs read one byte as no name.
        let held: [UInt8] = entry.held.isEmpty && entry.isOpened ? [1] : entry.held.flatMap(\.bytes)
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_statement_file (mailbox, path, size, waits, held)
                VALUES (?, ?, ?, ?, ?)
                """,
            arguments: [
                mailbox, entry.path, entry.byteCount, entry.triedMilliseconds, Data(held),
            ])
    }

    /// Forgets a file that is gone.
    static func remove(_ db: Database, mailbox: String, _ path: String) throws {
        try db.execute(
            sql: "DELETE FROM _sync_statement_file WHERE mailbox = ? AND path = ?",
            arguments: [mailbox, path]
        )
    }

    /// Forgets all files, for a membership that is another one.
    static func removeAll(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM _sync_statement_file")
        try OtherFounding.removeAll(db)
    }
}
