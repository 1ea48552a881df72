import Testing
import TypedQueriesMacros

@Table("quotas") struct Quota: Equatable {
    @Column(primaryKey: true) let key: String
    var rowid = 7
    var used = 0
}

@Table("sheets") struct Sheet: Equatable {
    let id: Int
    var rowid: Int
    var title = ""
}

@Table("stickers") struct Sticker: Equatable {
    @Column(primaryKey: true) let key: String
    var rowid = 1
    @Column("_rowid_") var number = 2
    var oid = 3
}

@Table("badges") struct Badge: Equatable {
    let id: Int
    @Column("row_number") var rowid = 0
}

/// Some of the columns of `sheets`.
@Table("sheets") struct SheetTitle: Equatable {
    let id: Int
    var title = ""
}

/// The same rows, chosen by a number that the type can't ask for.
@Table("sheets") struct NumberedSheet: Equatable {
    static let all = Self.where { $0.rowid.gt(0) }

    let id: Int
    var title = ""
    var quota: String?
}

@Table("quotas") struct SheetQuota: Equatable {
    @Column(primaryKey: true) let key: String
    static let sheets = hasMany(NumberedSheet.self, using: ForeignKey(["quota"], to: ["key"]))
}

/// The key of the table is the number itself.
@Table("labels") struct LabelTitle: Equatable {
    var title = ""
}

/// Columns that are called as the number that SQLite gives a row.
@Suite struct RowNumberTests {
    private func withRows(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE quotas (key TEXT PRIMARY KEY NOT NULL, rowid INTEGER NOT NULL, used INTEGER NOT NULL);
            CREATE TABLE sheets (id INTEGER PRIMARY KEY, rowid INTEGER NOT NULL, title TEXT NOT NULL, quota TEXT);
            CREATE TABLE stickers (
                key TEXT PRIMARY KEY NOT NULL, rowid INTEGER NOT NULL, _rowid_ INTEGER NOT NULL, oid INTEGER NOT NULL);
            CREATE TABLE badges (id INTEGER PRIMARY KEY, row_number INTEGER NOT NULL);
            INSERT INTO badges VALUES (1, 30);
            CREATE TABLE labels (rowid INTEGER PRIMARY KEY, title TEXT NOT NULL);
            INSERT INTO labels VALUES (4, 'four'), (5, 'five');
            INSERT INTO quotas VALUES ('a', 7, 0), ('b', 7, 0);
            INSERT INTO sheets (id, rowid, title) VALUES (1, 2, 'first'), (3, 2, 'third');
            """)
        try queue.write { db throws in try body(db) }
    }

    @Test func anUpsertUpdatesOneRow() throws {
        try withRows { db throws in
            try Quota.upsert { Quota(key: "a", rowid: 7, used: 5) }.execute(db)
            let used = try Quota.order(by: \.key).select(\.used).fetchAll(db)
            #expect(used == [5, 0])
        }
    }

    @Test func theRowThatWasChangedIsReturned() throws {
        try withRows { db throws in
            let inserted = try Sheet.insert { Sheet(id: 2, rowid: 9, title: "second") }.returning(\.id)
                .fetchAll(db)
            #expect(inserted == [2])
            let updated = try Sheet.find(1).update { $0.title = "new" }.returning(\.title).fetchAll(db)
            #expect(updated == ["new"])
        }
    }

    @Test func aTriggerTouchesItsRowOnly() throws {
        try withRows { db throws in
            try Sheet.createTemporaryTrigger("touch", after: .update(touch: { $0.title = "touched" }))
                .execute(db)
            try Sheet.find(1).update { $0.title = "x" }.execute(db)
            let titles = try Sheet.order(by: \.id).select(\.title).fetchAll(db)
            #expect(titles == ["touched", "third"])
        }
    }

    @Test func aTriggerThatCannotTellItsRowByNumberIsRefused() throws {
        try withRows { db throws in
            let trigger = Sticker.createTemporaryTrigger("touch", after: .update(touch: { $0.number = 9 }))
            let error = #expect(throws: QueryBindingError.self) { try trigger.execute(db) }
            #expect(error?.description.contains("rowid, _rowid_ and oid") == true)
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM sqlite_temp_master WHERE name = 'touch'")
            #expect(count == 0)
            let touchesByKey = Sticker.createTemporaryTrigger(
                "touch",
                after: .update { _, new in
                    Sticker.where { $0.key.eq(new.key) }.update { $0.number = 9 }
                })
            try touchesByKey.execute(db)
            try Sticker.insert { Sticker(key: "a") }.execute(db)
            try Sticker.insert { Sticker(key: "b") }.execute(db)
            try Sticker.find("a").update { $0.oid = 4 }.execute(db)
            let numbers = try Sticker.order(by: \.key).select(\.number).fetchAll(db)
            #expect(numbers == [9, 2])
        }
    }

    @Test func aColumnThatTheTypeLeavesOutIsNotTakenForTheNumber() throws {
        try withRows { db throws in
            let trigger = SheetTitle.createTrigger("touch", after: .update(touch: { $0.title = "touched" }))
            let error = #expect(throws: DatabaseError.self) { try trigger.execute(db) }
            #expect(error?.message?.contains(#"column "rowid" of the table "sheets""#) == true)
            let deletion = SheetTitle.where { $0.rowid.eq(2) }.delete()
            #expect(throws: DatabaseError.self) { try deletion.execute(db) }
            let count = try Sheet.all.fetchCount(db)
            #expect(count == 2)
        }
    }

    @Test func aCursorRefusesWhatAFetchRefuses() throws {
        try withRows { db throws in
            let numbers = SheetTitle.select { $0.rowid }
            let fetched = #expect(throws: DatabaseError.self) { try numbers.fetchAll(db) }
            let cursor = #expect(throws: DatabaseError.self) { _ = try numbers.fetchCursor(db) }
            #expect(fetched?.message?.contains("hides the number of a row") == true)
            #expect(cursor?.message == fetched?.message)
        }
    }

    @Test func aDefaultScopeOfAssociatedRowsIsRefused() throws {
        try withRows { db throws in
            let quotas = SheetQuota.all.including(all: SheetQuota.sheets)
            let error = #expect(throws: DatabaseError.self) { try quotas.fetchAll(db) }
            #expect(error?.message?.contains("hides the number of a row") == true)
            let unscoped = try SheetQuota.all.including(all: SheetQuota.sheets, unscoped: true).fetchAll(db)
            #expect(unscoped.count == 2)
        }
    }

    @Test func aKeyThatIsCalledAsTheNumberIsTheNumber() throws {
        try withRows { db throws in
            try LabelTitle.createTemporaryTrigger("touch", after: .update(touch: { $0.title = "touched" }))
                .execute(db)
            try LabelTitle.where { $0.rowid.eq(5) }.update { $0.title = "V" }.execute(db)
            let titles = try LabelTitle.order { $0.rowid }.select(\.title).fetchAll(db)
            #expect(titles == ["four", "touched"])
        }
    }

    @Test func aRowWhoseNumberHasNoNameLeftIsReturnedByNewEnginesOnly() throws {
        try withRows { db throws in
            let insert = Sticker.insert { Sticker(key: "a") }.returning(\.key)
            guard !EngineFeatures.current.supportsReturning else {
                let keys = try insert.fetchAll(db)
                #expect(keys == ["a"])
                return
            }
            let error = #expect(throws: DatabaseError.self) { try insert.fetchAll(db) }
            #expect(error?.message?.contains("3.35.0") == true)
            let count = try Sticker.all.fetchCount(db)
            #expect(count == 0)
        }
    }

    @Test func theRowOfATriggerHasTheColumn() throws {
        try withRows { db throws in
            try Quota.createTemporaryTrigger(
                "note",
                after: .insert { new in
                    Sheet.insert {
                        ($0.rowid, $0.title)
                    } select: {
                        Values(new.rowid, new.key)
                    }
                }
            ).execute(db)
            try Quota.insert { Quota(key: "c", rowid: 70) }.execute(db)
            let numbers = try Sheet.where { $0.title.eq("c") }.select(\.rowid).fetchAll(db)
            #expect(numbers == [70])
        }
    }

    @Test func theRowThatCouldNotBeInsertedHasTheColumn() throws {
        try withRows { db throws in
            try Quota.insert {
                Quota(key: "b", rowid: 70)
            } onConflict: {
                $0.key
            } doUpdate: {
                $0.used = $1.rowid
            }.execute(db)
            let used = try Quota.find("b").select(\.used).fetchAll(db)
            #expect(used == [70])
        }
    }

    @Test func aliasesAndOptionalsHaveTheColumn() throws {
        enum Same: AliasName {}
        try withRows { db throws in
            let same = try Quota.join(Quota.as(Same.self).all) { $0.key.eq($1.key) }
                .select { ($0.key, $1.rowid) }.fetchAll(db)
            #expect(same.map(\.1) == [7, 7])
            let renamed = try Badge.join(Badge.as(Same.self).all) { $0.id.eq($1.id) }
                .select { ($0.rowid, $1.rowid) }.fetchAll(db)
            #expect(renamed.map(\.1) == [30])
            try Quota.insert { Quota(key: "first", rowid: 70) }.execute(db)
            let joined = try Sheet.leftJoin(Quota.all) { $0.title.eq($1.key) }
                .order { ($0.id, $1.used) }.select { ($0.id, $1.rowid) }.fetchAll(db)
            #expect(joined.map(\.1) == [70, nil])
        }
    }

    @Test func theNumberOfARowIsNullInALeftJoinWithoutIt() throws {
        try withRows { db throws in
            let joined = try Sheet.leftJoin(LabelTitle.all) { $0.id.eq($1.rowid) }
                .order { ($0.id, $1.title) }.select { ($0.id, $1.rowid) }.fetchAll(db)
            #expect(joined.map(\.1) == [nil, nil])
        }
    }
}
