import Testing
import TypedQueries

/// Changes that old engines run by other statements, in places where there is no other statement.
@Suite struct EmulatedChangeTests {
    @Test func anUpsertInATriggerNeedsAnEngineThatKnowsIt() throws {
        let trigger = Reminder.createTrigger(
            "kept",
            after: .delete { _ in
                RemindersList.insert {
                    ($0.id, $0.title)
                } values: {
                    (1, "kept")
                } onConflict: {
                    $0.id
                } doUpdate: {
                    $0.title = $1.title
                }
            })
        try withStore { (db) throws in
            guard EngineFeatures.current.supportsUpsert else {
                let error = #expect(throws: DatabaseError.self) { try trigger.execute(db) }
                #expect(error?.message?.contains("ON CONFLICT in a trigger") == true)
                #expect(error?.message?.contains("3.24.0") == true)
                return
            }
            try trigger.execute(db)
            try Reminder.find(3).delete().execute(db)
            let title = try RemindersList.find(1).fetchOne(db)?.title
            #expect(title == "kept")
        }
    }

    @Test func aDeletionThatATriggerIgnoresReturnsNoRow() throws {
        try withStore { (db) throws in
            try db.execute(
                sql: """
                    CREATE TRIGGER kept BEFORE DELETE ON reminders WHEN OLD.isCompleted BEGIN
                        UPDATE reminders SET title = 'gone' WHERE id = OLD.id;
                        SELECT RAISE(IGNORE);
                    END
                    """)
            let others = try Reminder.where { !$0.isCompleted }.delete().returning(\.id).fetchAll(db)
            #expect(others.sorted() == [1, 3])
            let change = Reminder.delete().returning(\.id)
            guard EngineFeatures.current.supportsReturning else {
                let error = #expect(throws: DatabaseError.self) { _ = try change.fetchAll(db) }
                #expect(error?.message?.contains("3.35.0") == true)
                let title = try Reminder.find(2).fetchOne(db)?.title
                #expect(title == "Bread")
                return
            }
            let rows = try change.fetchAll(db)
            #expect(rows.isEmpty)
        }
    }

    @Test func rowsWithoutNumbersAreReturnedWhenTheyAreDeletedOnly() throws {
        try withStore { (db) throws in
            try db.execute(
                sql: """
                    DROP TABLE reminders;
                    DROP TABLE remindersLists;
                    CREATE TABLE remindersLists (
                        id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) WITHOUT ROWID;
                    INSERT INTO remindersLists VALUES (1, 'Home', 1), (2, 'Work', 2);
                    """)
            let deleted = try RemindersList.find(2).delete().returning(\.id).fetchAll(db)
            #expect(deleted == [2])
            let change = RemindersList.find(1).update { $0.position = 9 }.returning(\.position)
            guard EngineFeatures.current.supportsReturning else {
                let error = #expect(throws: DatabaseError.self) { _ = try change.fetchAll(db) }
                #expect(error?.message?.contains("WITHOUT ROWID") == true)
                #expect(error?.message?.contains("3.35.0") == true)
                return
            }
            let positions = try change.fetchAll(db)
            #expect(positions == [9])
        }
    }

    @Test func thePlanAndTheRegionOfAReturningChangeNameTheVersion() throws {
        let change = RemindersList.find(1).update { $0.position = 9 }.returning(\.id)
        try withStore { (db) throws in
            guard EngineFeatures.current.supportsReturning else {
                let plan = #expect(throws: DatabaseError.self) { _ = try change.queryPlan(db) }
                #expect(plan?.message?.contains("3.35.0") == true)
                let region = #expect(throws: DatabaseError.self) { _ = try change.databaseRegion(db) }
                #expect(region?.message?.contains("3.35.0") == true)
                let convertible = change.regionConvertible
                let other = #expect(throws: DatabaseError.self) { _ = try convertible.databaseRegion(db) }
                #expect(other?.message?.contains("3.35.0") == true)
                return
            }
            let plan = try change.queryPlan(db)
            #expect(plan.usesIndex())
            _ = try change.databaseRegion(db)
        }
    }

    @Test func thePlanOfAnUpsertNamesTheVersion() throws {
        let upsert = RemindersList.upsert { RemindersList.Draft(id: 1, title: "House") }
        try withStore { (db) throws in
            guard EngineFeatures.current.supportsUpsert else {
                let error = #expect(throws: DatabaseError.self) { _ = try upsert.queryPlan(db) }
                #expect(error?.message?.contains("3.24.0") == true)
                return
            }
            let plan = try upsert.queryPlan(db)
            #expect(plan.scannedTables.isEmpty)
        }
    }

    @Test func whatAViewMakesOfAChangeIsReturnedByNewEnginesOnly() throws {
        let row = RemindersList(id: 7, title: "New", position: 4)
        let insert = RemindersList.insert { row }.returning(\.title)
        let update = RemindersList.find(1).update { $0.position = 9 }.returning(\.position)
        let delete = RemindersList.find(3).delete().returning(\.title)
        try withStore { (db) throws in
            try db.execute(
                sql: """
                    ALTER TABLE remindersLists RENAME TO stored;
                    CREATE VIEW remindersLists AS SELECT id, title, position FROM stored;
                    CREATE TRIGGER inserted INSTEAD OF INSERT ON remindersLists BEGIN
                        INSERT INTO stored VALUES (new.id, new.title, new.position);
                    END;
                    CREATE TRIGGER updated INSTEAD OF UPDATE ON remindersLists BEGIN
                        UPDATE stored SET position = new.position WHERE id = old.id;
                    END;
                    CREATE TRIGGER deleted INSTEAD OF DELETE ON remindersLists BEGIN
                        DELETE FROM stored WHERE id = old.id;
                    END;
                    """)
            if EngineFeatures.current.supportsReturning {
                let titles = try insert.fetchAll(db)
                #expect(titles == ["New"])
                let positions = try update.fetchAll(db)
                #expect(positions == [9])
            } else {
                let refused = #expect(throws: DatabaseError.self) { _ = try insert.fetchAll(db) }
                #expect(refused?.message?.contains("3.35.0") == true)
                #expect(throws: DatabaseError.self) { _ = try update.fetchAll(db) }
                let count = try RemindersList.all.fetchCount(db)
                #expect(count == 3)
            }
            let deleted = try delete.fetchAll(db)
            #expect(deleted == ["Empty"])
        }
    }

    @Test func anUpsertThatChangesAKeyIsReturnedByNewEnginesOnly() throws {
        let upsert = RemindersList.insert {
            RemindersList(id: 9, title: "Empty", position: 4)
        } onConflict: {
            $0.title
        } doUpdate: {
            $0.id = $1.id
        }
        try withStore { (db) throws in
            guard EngineFeatures.current.supportsReturning else {
                let error = #expect(throws: DatabaseError.self) {
                    _ = try upsert.returning(\.id).fetchAll(db)
                }
                #expect(error?.message?.contains("3.35.0") == true)
                let old = try RemindersList.where { $0.title.eq("Empty") }.select(\.id).fetchAll(db)
                #expect(old == [3])
                try upsert.execute(db)
                let new = try RemindersList.where { $0.title.eq("Empty") }.select(\.id).fetchAll(db)
                #expect(new == [9])
                return
            }
            let ids = try upsert.returning(\.id).fetchAll(db)
            #expect(ids == [9])
        }
    }

    @Test func whatWasInsertedBeforeAFailureStays() throws {
        let rows = [
            RemindersList(id: 7, title: "New", position: 4), RemindersList(id: 8, title: "Home", position: 5),
            RemindersList(id: 10, title: "Later", position: 6),
        ]
        let insert = RemindersList.insert(or: .fail) { rows }.returning(\.id)
        let upsert = RemindersList.insert(or: .fail) {
            rows
        } onConflict: {
            $0.id
        } doUpdate: {
            $0.position = $1.position
        }
        try withStore { (db) throws in
            let error = #expect(throws: DatabaseError.self) { _ = try insert.fetchAll(db) }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            let inserted = try RemindersList.order(by: \.id).select(\.id).fetchAll(db)
            #expect(inserted == [1, 2, 3, 7])
            try RemindersList.find(7).delete().execute(db)
            #expect(throws: DatabaseError.self) { try upsert.execute(db) }
            let upserted = try RemindersList.order(by: \.id).select(\.id).fetchAll(db)
            #expect(upserted == [1, 2, 3, 7])
        }
    }

    @Test func allRowsOfAChangeAreCounted() throws {
        let rows = [
            RemindersList(id: 7, title: "New", position: 4),
            RemindersList(id: 8, title: "Newer", position: 5),
            RemindersList(id: 1, title: "House", position: 6),
        ]
        let upsert = RemindersList.insert {
            rows
        } onConflict: {
            $0.id
        } doUpdate: {
            $0.position = $1.position
        }
        let ignored = RemindersList.insert(or: .ignore) {
            [RemindersList(id: 9, title: "Last", position: 7)] + rows
        }
        try withStore { (db) throws in
            try upsert.execute(db)
            #expect(db.changesCount == 3)
            try RemindersList.find(7).delete().execute(db)
            #expect(db.changesCount == 1)
            let ids = try ignored.returning(\.id).fetchAll(db)
            #expect(ids == [9, 7])
            #expect(db.changesCount == 2)
            try RemindersList.insert { rows }.onConflictDoNothing().execute(db)
            #expect(db.changesCount == 0)
            let update = RemindersList.update { $0.position = 9 }.returning(\.position)
            let positions = try update.fetchAll(db)
            #expect(positions == [9, 9, 9, 9, 9, 9])
            #expect(db.changesCount == 6)
        }
    }

    @Test func nothingStaysOfAnInsertWithoutAPolicy() throws {
        let insert = RemindersList.insert {
            RemindersList(id: 7, title: "New", position: 4)
            RemindersList(id: 8, title: "Home", position: 5)
        }
        try withStore { (db) throws in
            #expect(throws: DatabaseError.self) { _ = try insert.returning(\.id).fetchAll(db) }
            let ids = try RemindersList.order(by: \.id).select(\.id).fetchAll(db)
            #expect(ids == [1, 2, 3])
        }
    }
}
