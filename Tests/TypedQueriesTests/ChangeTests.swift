import Testing
import TypedQueries

@Suite struct ChangeTests {
    @Test func draftsGetTheirKeys() throws {
        let insert = Reminder.insert { Reminder.Draft(title: "Eggs", listID: 2) }
        #expect(
            sql(insert)
                == #"INSERT INTO "reminders" ("id", "title", "isCompleted", "priority", "list_id", "tags", "createdAt", "updatedAt") "#
                + #"VALUES (NULL, 'Eggs', 0, NULL, 2, '[]', 0, NULL)"#)
        try withStore { (db) throws in
            try insert.execute(db)
            #expect(try Reminder.find(4).fetchOne(db)?.title == "Eggs")
            #expect(try insert.returning(\.id).fetchOne(db) == 5)
            let both = try Reminder.insert {
                Reminder.Draft(title: "A", listID: 1)
                Reminder.Draft(title: "B", listID: 1)
            }.returning { ($0.id, $0.title) }.fetchAll(db)
            #expect(both.map(\.0) == [6, 7])
            #expect(both.map(\.1) == ["A", "B"])
        }
    }

    @Test func rowsAndColumnsAreInserted() throws {
        try withStore { (db) throws in
            let row = RemindersList(id: 7, title: "New", position: 4)
            #expect(try RemindersList.insert { row }.returning(\.self).fetchAll(db) == [row])
            let insert = RemindersList.insert {
                ($0.title, $0.position)
            } values: {
                ("X", 8)
                ("Y", 9)
            }
            #expect(
                sql(insert)
                    == #"INSERT INTO "remindersLists" ("title", "position") VALUES ('X', 8), ('Y', 9)"#)
            try insert.execute(db)
            try RemindersList.insert {
                $0.title
            } values: {
                "Z"
            }.execute(db)
            #expect(
                try RemindersList.where { $0.id.gt(7) }.order(by: \.id).select(\.position).fetchAll(db) == [
                    8, 9, 0,
                ])
            let select = RemindersList.insert {
                ($0.title, $0.position)
            } select: {
                Reminder.select { ($0.title, $0.id) }
            }
            #expect(try select.returning(\.title).fetchAll(db) == ["Milk", "Bread", "Report"])
            #expect(RemindersList.insert { [RemindersList]() }.query.isEmpty)
        }
    }

    @Test func upsertsUpdateTheRowInTheWay() throws {
        let upsert = RemindersList.upsert { RemindersList.Draft(id: 1, title: "House", position: 5) }
        #expect(
            sql(upsert)
                == #"INSERT INTO "remindersLists" ("id", "title", "position") VALUES (1, 'House', 5) ON CONFLICT ("id") "#
                + #"DO UPDATE SET "title" = "excluded"."title", "position" = "excluded"."position""#)
        try withStore { (db) throws in
            #expect(
                try upsert.returning(\.self).fetchAll(db)
                    == [RemindersList(id: 1, title: "House", position: 5)])
            try RemindersList.insert {
                RemindersList.Draft(title: "Work", position: 50)
            } onConflict: {
                $0.title
            } doUpdate: {
                $0.position = $0.position + $1.position
            }.execute(db)
            #expect(try RemindersList.find(2).fetchOne(db)?.position == 52)
            let skipped = RemindersList.insert {
                RemindersList.Draft(title: "Work", position: 1)
            } onConflict: {
                $0.title
            } doUpdate: {
                $0.position = 0
            } where: {
                $0.id.gt(100)
            }
            #expect(try skipped.returning(\.id).fetchAll(db).isEmpty)
            #expect(try RemindersList.find(2).fetchOne(db)?.position == 52)
            try RemindersList.insert { RemindersList.Draft(title: "Work") }.onConflictDoNothing().execute(db)
            #expect(try RemindersList.all.fetchCount(db) == 3)
        }
    }

    @Test func upsertsUseCommonTables() throws {
        let value = SQLQueryExpression<Int>(Counter.select(\.value).queryFragment)
        try withStore { (db) throws in
            let values = With {
                Reminder.where { $0.id.eq(3) }.select { Counter.Columns(value: $0.id) }
            } query: {
                RemindersList.insert {
                    ($0.title, $0.position)
                } values: {
                    (SQLQueryExpression<String>("'Work'"), value)
                    (SQLQueryExpression<String>("'Play'"), value)
                } onConflict: {
                    $0.title
                } doUpdate: {
                    $0.position = $1.position
                }
            }
            try values.execute(db)
            let positions = try RemindersList.order(by: \.id).select(\.position).fetchAll(db)
            #expect(positions == [1, 3, 3, 3])
            let updates = With {
                Reminder.where { $0.id.eq(1) }.select { Counter.Columns(value: $0.id) }
            } query: {
                RemindersList.insert {
                    ($0.title, $0.position)
                } select: {
                    RemindersList.where { $0.id.eq(2) }.select { ($0.title, $0.position) }
                } onConflict: {
                    $0.title
                } doUpdate: {
                    $0.position = $1.position + value
                }
            }
            try updates.execute(db)
            let position = try RemindersList.find(2).fetchOne(db)?.position
            #expect(position == 4)
        }
    }

    @Test func rowsAreUpdated() throws {
        let update = Reminder.where { $0.id.eq(1) }.update {
            $0.title = "Oat milk"
            $0.priority = nil
            $0.isCompleted.toggle()
            $0.listID += 1
            $0.stamps.updatedAt = 99
        }
        #expect(
            sql(update)
                == #"UPDATE "reminders" SET "title" = 'Oat milk', "priority" = NULL, "isCompleted" = NOT ("reminders"."isCompleted"), "#
                + #""list_id" = ("reminders"."list_id") + (1), "updatedAt" = 99 WHERE ("reminders"."id") = (1)"#
        )
        try withStore { (db) throws in
            let rows = try update.returning(\.self).fetchAll(db)
            #expect(rows.count == 1)
            var row = try #require(rows.first)
            #expect(
                row
                    == Reminder(
                        id: 1, title: "Oat milk", isCompleted: true, listID: 2, tags: ["food"],
                        stamps: Stamps(createdAt: 10, updatedAt: 99)))
            row.tags = []
            try Reminder.update(row).execute(db)
            #expect(try Reminder.find(1).fetchOne(db) == row)
            try Reminder.find(1).update { $0.stamps = Stamps(createdAt: 1, updatedAt: nil) }.execute(db)
            #expect(try Reminder.find(1).fetchOne(db)?.stamps == Stamps(createdAt: 1))
        }
    }

    @Test func updatesTakeValuesOfOtherTables() throws {
        try withStore { (db) throws in
            try Reminder.update(from: RemindersList.all) {
                $0.listID.eq($1.id)
            } set: {
                $0.title = $1.title
            }.execute(db)
            #expect(try Reminder.order(by: \.id).select(\.title).fetchAll(db) == ["Home", "Home", "Work"])
        }
    }

    @Test func updatesTakeTheRowsThatAStatementGives() throws {
        let titles = Reminder.order(by: \.id).select(\.title)
        try withStore { (db) throws in
            try Reminder.update(from: RemindersList.group(by: \.title).having { $0.position.gt(1) }) {
                $0.listID.eq($1.id)
            } set: {
                $0.title = $1.title
            }.execute(db)
            #expect(try titles.fetchAll(db) == ["Milk", "Bread", "Work"])
            let lists = With {
                Reminder.where(\.isCompleted).select { Counter.Columns(value: $0.listID) }
            } query: {
                RemindersList.where { $0.id.in(Counter.select(\.value)) }
            }
            try Reminder.update(from: lists) {
                $0.listID.eq($1.id)
            } set: {
                $0.title = $1.title
            }.execute(db)
            #expect(try titles.fetchAll(db) == ["Home", "Home", "Work"])
            try Reminder.update(from: RemindersList.order { $0.id.desc() }.limit(1)) {
                $0.listID.lt($1.id)
            } set: {
                $0.title = $1.title
            }.execute(db)
            #expect(try titles.fetchAll(db) == ["Empty", "Empty", "Empty"])
        }
    }

    @Test func updatesTakeValuesOfOtherTablesIntoGroups() throws {
        try withStore { (db) throws in
            try Reminder.update(from: RemindersList.all) {
                $0.listID.eq($1.id)
            } set: {
                $0.stamps.createdAt = $1.position
                $0.stamps.updatedAt = SQLQueryExpression<Int?>("\($1.position) + 1")
            }.execute(db)
            #expect(
                try Reminder.order(by: \.id).fetchAll(db).map(\.stamps) == [
                    Stamps(createdAt: 1, updatedAt: 2), Stamps(createdAt: 1, updatedAt: 2),
                    Stamps(createdAt: 2, updatedAt: 3),
                ])
        }
    }

    @Test func rowsAreDeleted() throws {
        let delete = Reminder.where(\.isCompleted).delete()
        #expect(sql(delete) == #"DELETE FROM "reminders" WHERE "reminders"."isCompleted""#)
        try withStore { (db) throws in
            #expect(try delete.returning(\.title).fetchAll(db) == ["Bread"])
            #expect(try Reminder.all.fetchCount(db) == 2)
            let row = try Reminder.find(db, key: 1)
            try Reminder.delete(row).execute(db)
            #expect(try Reminder.all.select(\.id).fetchAll(db) == [3])
            try Reminder.delete().execute(db)
            #expect(try Reminder.all.fetchCount(db) == 0)
        }
    }

    /// Both tables have a column of that name.
    @Test func whatIsReturnedAsksOtherTablesByColumnsOfTheRow() throws {
        try withStore { (db) throws in
            let row = RemindersList(id: 7, title: "New", position: 4)
            let inserted = RemindersList.insert { row }.returning { list in
                Reminder.where { $0.listID.eq(list.id) }.count()
            }
            #expect(try inserted.fetchAll(db) == [0])
            let updated = RemindersList.find(1).update { $0.position = 9 }.returning { list in
                Reminder.where { $0.listID.eq(list.id) }.count()
            }
            #expect(try updated.fetchAll(db) == [2])
            let deleted = Reminder.find(3).delete().returning { reminder in
                RemindersList.where { $0.id.eq(reminder.id) }.select(\.title)
            }
            #expect(try deleted.fetchAll(db) == ["Empty"])
        }
    }

    @Test func aChangeUnderAnotherNameReturnsRows() throws {
        enum Other: AliasName {}
        try withStore { (db) throws in
            let deleted = Reminder.as(Other.self).where { $0.id.eq(2) }.delete()
            #expect(try deleted.returning(\.title).fetchAll(db) == ["Bread"])
            let updated = RemindersList.as(Other.self).where { $0.id.eq(1) }.update { $0.position += 8 }
            let counts = updated.returning { list in Reminder.where { $0.listID.eq(list.id) }.count() }
            #expect(try counts.fetchAll(db) == [1])
        }
    }

    @Test func seedsAreInserted() throws {
        try withStore { (db) throws in
            try db.seed {
                RemindersList(id: 10, title: "Ten")
                RemindersList(id: 11, title: "Eleven")
                Reminder.Draft(title: "In ten", listID: 10)
            }
            #expect(try RemindersList.where { $0.id.gte(10) }.fetchCount(db) == 2)
            #expect(try Reminder.where { $0.listID.eq(10) }.fetchCount(db) == 1)
        }
    }
}
