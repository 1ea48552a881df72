import CipherStore
import Testing

private struct Page: TableRecord {}

private struct Note: TableRecord {}

/// Conditions with MATCH beside rows that an optional association does not find: SQLite can look for a pattern by an index
/// only, so that the condition must not be hidden from its planner.
@Suite struct MatchPlanTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE page USING fts4(body);
                    INSERT INTO page (body) VALUES ('cats here'), ('dogs'), ('fish'), ('cats and dogs');
                    CREATE TABLE note (id INTEGER PRIMARY KEY, pageId INTEGER, level INTEGER);
                    CREATE INDEX byPage ON note (pageId, level);
                    CREATE INDEX byLevel ON note (level, pageId);
                    INSERT INTO note VALUES (1, 1, 1), (2, 3, 5), (3, 4, 2);
                    """)
        }
        return queue
    }

    private var notes: JoinAssociation<Page, Note> {
        Table<Page>("page").association(to: Note.self) { page, note in
            note[Column("pageId")] == page[Column.rowID]
        }
    }

    private var pages: QueryInterfaceRequest<Page> {
        Page.select(Column.rowID).joining(optional: notes).order(Column.rowID)
    }

    private func ids(_ request: QueryInterfaceRequest<Page>) throws -> [Int] {
        try makeQueue().read { try Int.fetchAll($0, request) }
    }

    @Test func aPatternWithAlternativesIsNoConditionWithSome() throws {
        #expect(try ids(pages.filter(sql: "page MATCH 'cats OR dogs'")) == [1, 2, 4])
        #expect(try ids(pages.filter(sql: "page.body MATCH ?", arguments: ["cats OR fish"])) == [1, 3, 4])
    }

    @Test func alternativesMayStandBesideAPattern() throws {
        let raw = pages.filter(
            sql: "page MATCH ? AND (note.level = ? OR note.pageId = 4)", arguments: ["cats", 1])
        #expect(try ids(raw) == [1, 4])
        let reversed = pages.filter(
            sql: "(note.level = ? or note.pageId = ?) and page match ?", arguments: [1, 3, "cats OR fish"])
        #expect(try ids(reversed) == [1, 3])
        let isMatch = Column("body").match(try FTS3Pattern(rawPattern: "cats"))
        let literal = pages.filter(
            literal: "(note.level = \(1) OR note.level = \(2)) AND \(isMatch) AND (1 OR 0)")
        #expect(try ids(literal) == [1, 4])
    }

    @Test func theAlternativesBesideAPatternAreNotMetByRowsThatAreAbsent() throws {
        let request = pages.filter(
            sql: "page MATCH 'cats OR dogs OR fish' AND (note.level = 1 OR note.pageId = 3)")
        #expect(try ids(request) == [1, 3])
    }

    @Test func aPatternOfAQueryInAnAlternativeIsNotThatOfTheCondition() throws {
        let request = pages.filter(
            sql: """
                note.level = 5 OR page.rowid IN (SELECT rowid FROM page WHERE page MATCH 'cats OR dogs')
                """)
        #expect(try ids(request) == [1, 2, 3, 4])
    }

    @Test func patternsOfTheQueryInterfaceMayHaveAlternativesBesideThem() throws {
        let note = TableAlias<Note>()
        let request = Page.select(Column.rowID).joining(optional: notes.aliased(note)).order(Column.rowID)
            .matching(try FTS3Pattern(rawPattern: "cats OR fish"))
            .filter(note[Column("level")] == 1 || note[Column("pageId")] == 3)
        #expect(try ids(request) == [1, 3])
    }
}
