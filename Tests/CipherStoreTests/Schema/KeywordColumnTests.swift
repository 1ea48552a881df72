import Foundation
import Testing

@testable import CipherStore

/// Columns that are called like keywords, in texts that use these keywords.
@Suite struct KeywordColumnTests {
    /// A schema in which the columns stand in angle brackets.
    private static let schema = [
        "CREATE TABLE t (<end>, <desc>, <left>, <order>, <from>, a CHECK (<end> IS NOT 'x'))",
        "CREATE TABLE u (k)",
        "CREATE INDEX i ON t (<desc> DESC, <end> COLLATE NOCASE DESC)",
        """
        CREATE VIEW v AS SELECT <end>, <desc>, <left>, <order>, <from>, t.<end> || 1, \
        CASE <end> WHEN 1 THEN <end> ELSE <desc> END AS c \
        FROM t LEFT JOIN u ON k = <left> WHERE <desc> NOT LIKE <end> AND <from> IS NULL \
        ORDER BY <end> DESC, <desc> DESC, <order>
        """,
        """
        CREATE TRIGGER r AFTER UPDATE OF <end>, <left> ON t FOR EACH ROW WHEN NEW.<end> IS NOT NULL \
        BEGIN UPDATE t SET <desc> = OLD.<left> WHERE a = <end>; \
        INSERT OR IGNORE INTO u SELECT <left> FROM t NATURAL LEFT JOIN u ORDER BY <order> DESC; END
        """,
    ]

    /// The columns as they are written, which is in quotes for those that SQLite would not take otherwise.
    private static let columns = [
        "end": "end", "desc": "desc", "left": "left", "order": "\"order\"", "from": "\"from\"",
    ]

    private static func texts(_ columns: [String: String]) -> [String] {
        schema.map { text in
            columns.reduce(text) { $0.replacingOccurrences(of: "<\($1.key)>", with: $1.value) }
        }
    }

    private func open(_ texts: [String]) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { db in
            for text in texts { try db.execute(sql: text) }
        }
        return queue
    }

    private func texts(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master ORDER BY rowid") }
    }

    @Test(arguments: ["end", "desc", "left", "order", "from"])
    func aColumnIsRenamedAndTheKeywordIsNot(_ column: String) throws {
        let queue = try open(Self.texts(Self.columns))
        try queue.write { db in
            try ColumnRenaming(db: db, table: "t", column: column, newName: "z").emulate()
        }
        let expected = Self.texts(Self.columns.merging([column: "\"z\""]) { $1 })
        #expect(try texts(queue) == expected)
        try queue.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1); DELETE FROM t") }
    }

    @Test(arguments: ["end", "desc", "left", "order", "from"])
    func aColumnIsDroppedAlthoughTheKeywordIsUsed(_ column: String) throws {
        let queue = try open([
            "CREATE TABLE t (a, \(column.quotedDatabaseIdentifier))", "CREATE TABLE u (k)",
            "CREATE INDEX i ON t (a DESC)",
            "CREATE VIEW v AS SELECT a FROM t LEFT JOIN u ON k = a ORDER BY a DESC",
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM u WHERE k = NEW.a; END",
        ])
        try queue.write { try ColumnDropping(db: $0, table: "t", column: column).emulate() }
        #expect(try queue.read { try $0.columns(in: "t").map(\.name) } == ["a"])
    }

    @Test func aTableIsRenamedAndTheKeywordIsNot() throws {
        let queue = try open([
            "CREATE TABLE \"left\" (a)", "CREATE TABLE u (k)",
            "CREATE VIEW v AS SELECT \"left\".a FROM \"left\" LEFT JOIN u ON k = \"left\".a",
        ])
        try queue.write { try $0.rename(table: "left", to: "kept") }
        let view = "CREATE VIEW v AS SELECT \"kept\".a FROM \"kept\" LEFT JOIN u ON k = \"kept\".a"
        #expect(try texts(queue).last == view)
    }
}
