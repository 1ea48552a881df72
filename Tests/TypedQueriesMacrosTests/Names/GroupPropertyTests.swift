import Testing
import TypedQueriesMacros

@Selection struct Writer: Equatable {
    var name = ""
    var names = 0
    var isGenerated = false
}

@Table struct Novel: Equatable {
    let id: Int
    var writer: Writer
}

@Table struct Loan: Equatable {
    let id: Int
    var novelID: Int
    var note = ""
}

/// Properties of groups that are called as something that the library knows of columns.
@Suite struct GroupPropertyTests {
    private func withNovels(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE novels (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL, names INTEGER NOT NULL, isGenerated INTEGER NOT NULL);
            CREATE TABLE loans (id INTEGER PRIMARY KEY, novelID INTEGER NOT NULL, note TEXT NOT NULL);
            INSERT INTO novels VALUES (1, 'Blob', 2, 0), (2, 'Ada', 1, 1);
            INSERT INTO loans VALUES (1, 2, 'a'), (2, 9, 'b');
            """)
        try queue.write { db throws in try body(db) }
    }

    @Test func conditionsSpeakOfTheColumns() throws {
        #expect(
            sql(Novel.where { $0.writer.name.eq("Blob") }.select(\.id)) == """
                SELECT "novels"."id"
                FROM "novels"
                WHERE ("novels"."name") = ('Blob')
                """)
        try withNovels { db throws in
            let byName = try Novel.where { $0.writer.name.eq("Blob") }.select(\.id).fetchAll(db)
            #expect(byName == [1])
            let byNumber = try Novel.where { $0.writer.names.eq(1) }.select(\.id).fetchAll(db)
            #expect(byNumber == [2])
            let byFlag = try Novel.where { $0.writer.isGenerated }.select(\.id).fetchAll(db)
            #expect(byFlag == [2])
        }
    }

    @Test func aDeletionTakesTheRowsOfItsCondition() throws {
        try withNovels { db throws in
            try Novel.where { $0.writer.name.neq("Blob") }.delete().execute(db)
            let left = try Novel.all.select(\.id).fetchAll(db)
            #expect(left == [1])
        }
    }

    @Test func rowsAreOrderedAndSelectedByTheColumns() throws {
        try withNovels { db throws in
            let names = try Novel.order(by: \.writer.name).select { $0.writer.name }.fetchAll(db)
            #expect(names == ["Ada", "Blob"])
            let numbers = try Novel.order(by: \.writer.names).select(\.writer.names).fetchAll(db)
            #expect(numbers == [1, 2])
            let flags = try Novel.order(by: \.id).select(\.writer.isGenerated).fetchAll(db)
            #expect(flags == [false, true])
        }
    }

    @Test func columnsOfALeftJoinAreNullWithoutARow() throws {
        try withNovels { db throws in
            let rows = try Loan.leftJoin(Novel.all) { $0.novelID.eq($1.id) }
                .order { ($0.id, $1.id) }
                .select { ($0.id, $1.writer.name) }.fetchAll(db)
            #expect(rows.map(\.0) == [1, 2])
            #expect(rows.map(\.1) == ["Ada", nil])
        }
    }

    @Test func anAliasHasTheColumns() throws {
        enum Same: AliasName {}
        try withNovels { db throws in
            let rows = try Novel.join(Novel.as(Same.self).all) { $0.writer.name.eq($1.writer.name) }
                .order { ($0.id, $1.id) }
                .select { ($0.id, $1.id) }.fetchAll(db)
            #expect(rows.map(\.0) == [1, 2])
            #expect(rows.map(\.1) == [1, 2])
        }
    }

    @Test func aTriggerReadsTheColumnsOfItsRow() throws {
        try withNovels { db throws in
            try Novel.createTemporaryTrigger(
                "lend",
                after: .insert { new in
                    Loan.insert {
                        ($0.novelID, $0.note)
                    } select: {
                        Values(new.id, new.writer.name)
                    }
                }
            ).execute(db)
            try Novel.insert { Novel(id: 3, writer: Writer(name: "Eve")) }.execute(db)
            let notes = try Loan.where { $0.novelID.eq(3) }.select(\.note).fetchAll(db)
            #expect(notes == ["Eve"])
        }
    }

    @Test func anUpdateWritesTheColumns() throws {
        try withNovels { db throws in
            try Novel.where { $0.writer.names > 1 }.update { $0.writer.name = "Zed" }.execute(db)
            let names = try Novel.order(by: \.id).select { $0.writer.name }.fetchAll(db)
            #expect(names == ["Zed", "Ada"])
        }
    }
}
