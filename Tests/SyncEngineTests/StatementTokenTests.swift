import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// The metadata's statements, compared by what they mean.
@Suite struct StatementTokenTests {
    @Test(arguments: [
        ("CREATE TABLE t (a INTEGER)", "create  table\n\"t\"(\n a integer -- a comment, ') here\n)"),
        ("CREATE TABLE t (a INTEGER)", "CREATE TABLE [T] (/* what ' it\n is */ `a` INTEGER)"),
        (
            "CREATE TRIGGER g BEGIN SELECT RAISE(ABORT, 'it''s'); END",
            "create trigger g begin select raise(abort,'it''s');end"
        ),
        ("a < > b", "a<>b"),
    ]) func textsOfOneStatementAreEqual(one: String, other: String) {
        #expect(StatementTokens.tokens(of: one) == StatementTokens.tokens(of: other))
    }

    @Test(arguments: [
        ("CREATE TABLE t (a INTEGER)", "CREATE TABLE t (a TEXT)"),
        ("SELECT 'A b'", "SELECT 'a b'"),
        ("SELECT 'a  b'", "SELECT 'a b'"),
        ("SELECT '-- a'", "SELECT '-- b'"),
        ("WHEN 0", "WHEN 1"),
        ("SELECT 'a'", "SELECT a"),
        ("SELECT 'it''s'", "SELECT 'it' 's'"),
        ("a b", "ab"),
    ]) func otherStatementsAreNot(one: String, other: String) {
        #expect(StatementTokens.tokens(of: one) != StatementTokens.tokens(of: other))
    }

    @Test(arguments: ["'", "/*", "\"", "[", "--", "/", "'a''"])
    func whatHasNoEndEndsWithTheText(sql: String) {
        _ = StatementTokens.tokens(of: sql)
    }

    @Test func aStoreOfThePublishedSchemaIsSound() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let contract = try String(
            contentsOf: root.appendingPathComponent("Schemas/metadata/v3.sql"), encoding: .utf8)
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: contract)
            try db.execute(
                sql: """
                    INSERT INTO _sync_replica (sid, rid) VALUES (1, x'01010101010101010101010101010101');
                    INSERT INTO _sync_state (id, format, store, self)
                    VALUES (1, 3, x'02020202020202020202020202020202', 1);
                    """)
        }
        #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
    }
}
