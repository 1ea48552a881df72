import Foundation
import Testing

@testable import CipherStore

/// What the observers of schema changes are told of.
@Suite struct SchemaChangeReportingTests {
    private final class Recorder: SchemaChangeObserver {
        var events: [String] = []
        var refuses = false

        func databaseWillMigrate(_ db: Database, identifier: String) { events.append("will \(identifier)") }
        func databaseDidMigrate(_ db: Database, identifier: String) { events.append("did \(identifier)") }
        func database(_ db: Database, willAlter table: String, by change: TableChange) {
            events.append("will \(table) \(change)")
        }
        func database(_ db: Database, didAlter table: String, by change: TableChange) throws {
            events.append("did \(table) \(change)")
            // Its own changes are not reported.
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS own (a); DROP TABLE own")
            if refuses { throw DatabaseError(resultCode: .SQLITE_ABORT, message: "refused") }
        }
    }

    private func changes(_ sql: String) throws -> [String] {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id, \"column\", b); CREATE TABLE \"a b\" (id); CREATE VIEW v AS SELECT 1"
            )
            let recorder = Recorder()
            db.add(schemaChangeObserver: recorder)
            try db.execute(sql: sql)
            return recorder.events.filter { $0.hasPrefix("did") }
        }
    }

    @Test(
        arguments: [
            ("DROP TABLE t", "did t drop"),
            ("/* c */ drop table if exists main.[t] -- end", "did t drop"),
            ("DROP TABLE \"A b\"", "did a b drop"),
            ("ALTER TABLE t RENAME TO u", "did t rename(to: \"u\")"),
            ("ALTER TABLE main.t ADD c TEXT DEFAULT 'to'", "did t addColumn(Optional(\"c\"))"),
            ("ALTER TABLE t ADD COLUMN c", "did t addColumn(Optional(\"c\"))"),
            ("CREATE TRIGGER r AFTER UPDATE OF b ON T BEGIN SELECT 1; END", "did t addTrigger"),
            (
                "create trigger if not exists main.\"on\" after insert on [a b] begin select 1; end",
                "did a b addTrigger"
            ),
        ]) func statementsOfTheAppAreReported(_ sql: String, _ event: String) throws
    {
        #expect(try changes(sql) == [event])
    }

    @Test(
        arguments: [
            "DROP TABLE IF EXISTS missing", "DROP VIEW v", "CREATE TABLE u (a)", "CREATE INDEX i ON t (b)",
            "CREATE TEMP TABLE t (a); DROP TABLE t; CREATE TEMP TABLE t (a); DROP TABLE temp.t",
            "SELECT 'DROP TABLE t'", "ANALYZE",
            "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END",
            "CREATE TEMP TABLE u (a); CREATE TRIGGER temp.r AFTER INSERT ON u BEGIN SELECT 1; END",
            "CREATE TRIGGER r INSTEAD OF DELETE ON v BEGIN SELECT 1; END",
            "CREATE TRIGGER _sync_r AFTER INSERT ON t BEGIN SELECT 1; END",
        ]) func otherStatementsAreNot(_ sql: String) throws
    {
        #expect(try changes(sql).isEmpty)
    }

    @Test func columnsThatAreRenamedAndDroppedAreReported() throws {
        #expect(
            SchemaStatement(sql: "ALTER TABLE t RENAME COLUMN a TO b")?.change == .renameColumn("a", to: "b"))
        #expect(
            SchemaStatement(sql: "ALTER TABLE t RENAME column TO b")?.change
                == .renameColumn("column", to: "b"))
        #expect(
            SchemaStatement(sql: "ALTER TABLE t RENAME \"to\" TO b")?.change == .renameColumn("to", to: "b"))
        #expect(SchemaStatement(sql: "ALTER TABLE t DROP COLUMN a")?.change == .dropColumn("a"))
        #expect(SchemaStatement(sql: "ALTER TABLE t DROP a")?.change == .dropColumn("a"))
        for sql in [
            "ALTER TABLE", "DROP TABLE", "ALTER TABLE t", "ALTER TABLE t RENAME",
            "ALTER TABLE other.t DROP a", "DROP TABLE temp.", "CREATE TRIGGER",
            "CREATE TRIGGER r AFTER INSERT ON",
        ] {
            #expect(SchemaStatement(sql: sql) == nil)
        }
    }

    @Test func anObserverThatThrowsUndoesTheChange() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            let recorder = Recorder()
            recorder.refuses = true
            db.add(schemaChangeObserver: recorder)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DROP TABLE t") }
            #expect(throws: DatabaseError.self) { try db.alter(table: "t") { $0.add(column: "b") } }
            let columns = try db.columns(in: "t").map(\.name)
            #expect(columns == ["a"])
            #expect(!db.isInsideTransaction)
            // The next change is reported again.
            recorder.refuses = false
            try db.drop(table: "t")
            #expect(recorder.events.last == "did t drop")
        }
    }
}
