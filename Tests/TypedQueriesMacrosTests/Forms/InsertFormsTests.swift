import Testing
import TypedQueriesMacros

@Table struct Label: Equatable {
    let id: Int
    var title = ""
    var uses = 0
    var isOld = false
}

@Table struct LabelUse: Equatable {
    let labelID: Int
    let place: Int
    var amount = 1
}

@Suite struct InsertFormsTests {
    private func withLabels(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE labels (
                id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL DEFAULT 0,
                isOld INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE labelUses (
                labelID INTEGER NOT NULL, place INTEGER NOT NULL, amount INTEGER NOT NULL, UNIQUE (labelID, place));
            """)
        try queue.write { db throws in
            try Label.insert {
                Label(id: 1, title: "home", uses: 3)
                Label(id: 2, title: "work", isOld: true)
            }.execute(db)
            try LabelUse.insert { LabelUse(labelID: 1, place: 1) }.execute(db)
            try body(db)
        }
    }

    @Test func rowsAreInsertedIntoAllColumns() throws {
        try withLabels { db throws in
            let insert = Label.insert {
                $0
            } values: {
                Label(id: 9, title: "x")
            }
            #expect(
                sql(insert)
                    == #"INSERT INTO "labels"\#n("id", "title", "uses", "isOld")\#nVALUES\#n(9, 'x', 0, 0)"#)
            #expect(try insert.returning(\.id).fetchAll(db) == [9])
        }
    }

    @Test func anEmptyListIsNotRun() throws {
        try withLabels { db throws in
            #expect(Label.insert { [] }.query.isEmpty)
            #expect(Label.insert(\.title) { [] }.query.isEmpty)
            try Label.insert { [] }.execute(db)
            #expect(try Label.insert { [] }.returning(\.id).fetchAll(db) == [])
            #expect(try Label.all.fetchCount(db) == 2)
        }
    }

    @Test func aTargetHasSeveralColumns() throws {
        let insert = LabelUse.insert {
            LabelUse(labelID: 1, place: 1)
        } onConflict: {
            ($0.labelID, $0.place)
        }
        #expect(sql(insert).contains(#"ON CONFLICT ("labelID", "place")"#))
        try withLabels { db throws in
            #expect(try insert.returning(\.self).fetchAll(db) == [])
            try LabelUse.insert {
                LabelUse(labelID: 1, place: 1, amount: 5)
            } onConflict: {
                ($0.labelID, $0.place)
            } doUpdate: {
                $0.amount += $1.amount
            } where: {
                $0.amount.lt(100)
            }.execute(db)
            try LabelUse.insert {
                ($0.labelID, $0.place, $0.amount)
            } values: {
                (1, 1, 4)
            } onConflict: {
                ($0.labelID, $0.place)
            } doUpdate: {
                $0.amount -= 1
            }.execute(db)
            #expect(try LabelUse.all.fetchAll(db) == [LabelUse(labelID: 1, place: 1, amount: 5)])
        }
    }

    @Test func theRowsOfAStatementUpdateThoseInTheWay() throws {
        try withLabels { db throws in
            let titles = Label.where { $0.id > 0 }
            try Label.insert {
                ($0.title, $0.uses)
            } select: {
                titles.select { ($0.title, $0.uses + 10) }
            } onConflict: {
                $0.title
            } doUpdate: {
                $0.uses = $1.uses
            }.execute(db)
            #expect(try Label.order(by: \.id).select(\.uses).fetchAll(db) == [13, 10])
            let copies = Label.insert {
                $0.title
            } select: {
                titles.select { $0.title + "!" }
            } onConflict: {
                $0.title
            } doUpdate: {
                $0.title += "?"
            }
            #expect(try copies.returning(\.title).fetchAll(db).sorted() == ["home!", "work!"])
            #expect(try copies.returning(\.title).fetchAll(db).count == 4)
            #expect(try Label.where { $0.title.hasSuffix("!?") }.fetchCount(db) == 2)
        }
    }

    @Test func theRowInTheWayIsUpdatedWhateverKeyTheyShare() throws {
        try withLabels { db throws in
            let insert = Label.insert {
                Label(id: 1, title: "garden", uses: 5)
                Label(id: 9, title: "work", uses: 6)
                Label(id: 3, title: "new")
            } onConflictDoUpdate: {
                $0.uses += $1.uses
            }
            #expect(sql(insert).contains("ON CONFLICT DO UPDATE SET"))
            try insert.execute(db)
            #expect(try Label.order(by: \.id).select(\.id).fetchAll(db) == [1, 2, 3])
            #expect(try Label.order(by: \.id).select(\.uses).fetchAll(db) == [8, 6, 0])
            let title = Label.insert {
                $0.title
            } values: {
                "home"
            } onConflictDoUpdate: {
                $0.title += "!"
            }
            #expect(try title.returning(\.title).fetchAll(db) == ["home!"])
            try LabelUse.insert {
                LabelUse(labelID: 1, place: 1, amount: 4)
            } onConflictDoUpdate: {
                $0.amount = $1.amount
            } where: {
                $0.amount.lt(9)
            }.execute(db)
            #expect(try LabelUse.all.fetchAll(db).map(\.amount) == [4])
        }
    }

    @Test func theConditionOfAPartialIndexComesFirst() throws {
        let insert = Label.insert {
            Label.Draft(title: "home")
        } onConflict: {
            $0.title
        } where: {
            !$0.isOld
        } doUpdate: {
            $0.uses = $1.uses
        } where: {
            $0.uses > 1
        }
        #expect(
            sql(insert).hasSuffix(
                """
                ON CONFLICT ("title")
                WHERE NOT ("isOld")
                DO UPDATE SET "uses" = "excluded"."uses"
                WHERE ("labels"."uses") > (1)
                """))
    }

    @Test func aConditionWithoutAnUpdateMakesNoDifference() throws {
        try withLabels { db throws in
            let insert = Label.insert {
                Label.Draft(title: "new")
            } where: {
                $0.isOld
            }
            #expect(!sql(insert).contains("CONFLICT"))
            #expect(try insert.returning(\.id).fetchAll(db) == [3])
        }
    }

    @Test func expressionsAreInsertedAsARow() throws {
        try withLabels { db throws in
            let insert = Label.insert { Label.Columns(id: 7, title: "up".upper(), uses: #sql("40 + 2")) }
            #expect(sql(insert).hasSuffix("(7, upper('up'), 40 + 2, 0)"))
            try insert.execute(db)
            #expect(try Label.find(7).fetchOne(db) == Label(id: 7, title: "UP", uses: 42))
        }
    }
}
