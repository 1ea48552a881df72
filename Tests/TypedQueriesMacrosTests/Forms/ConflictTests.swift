import Testing
import TypedQueriesMacros

@Table struct Slot: Equatable {
    let id: Int
    var list = 1
    var position = 5
    var title = ""
    @Column(#"a "note" here"#) var note = ""
}

@Table struct Account: Equatable {
    let id: Int
    var email = ""
    var name = ""
    var isDeleted = false
}

/// What becomes of rows in the way, on engines that know upserts and on others.
@Suite struct ConflictTests {
    private func withRows(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            """
            CREATE TABLE slots (
                id INTEGER PRIMARY KEY, list INTEGER NOT NULL, position INTEGER NOT NULL DEFAULT 0,
                title TEXT NOT NULL DEFAULT 'none', "a ""note"" here" TEXT NOT NULL DEFAULT '' UNIQUE,
                UNIQUE (list, position));
            CREATE TABLE accounts (
                id INTEGER PRIMARY KEY, email TEXT NOT NULL, name TEXT NOT NULL, isDeleted INTEGER NOT NULL DEFAULT 0);
            CREATE UNIQUE INDEX activeEmails ON accounts (email) WHERE NOT isDeleted;
            CREATE TABLE audit (name TEXT UNIQUE);
            """)
        try queue.write { db throws in
            try Slot.insert { Slot(id: 1, title: "keep", note: "a") }.execute(db)
            try Account.insert {
                Account(id: 1, email: "x", name: "old", isDeleted: true)
                Account(id: 2, email: "y", name: "why")
            }.execute(db)
            try body(db)
        }
    }

    /// The row that would be inserted has the default there, which nobody has.
    @Test func aColumnOfTheTargetThatIsNotInsertedHasItsDefault() throws {
        try withRows { db throws in
            func insert() throws {
                try Slot.insert {
                    ($0.list, $0.title, $0.note)
                } values: {
                    (1, "new", "b")
                } onConflict: {
                    ($0.list, $0.position)
                } doUpdate: {
                    $0.title = $1.title + "!"
                }.execute(db)
            }
            try insert()
            #expect(try Slot.order(by: \.id).select(\.title).fetchAll(db) == ["keep", "new"])
            #expect(try Slot.find(2).fetchOne(db)?.position == 0)
            try insert()
            #expect(try Slot.order(by: \.id).select(\.title).fetchAll(db) == ["keep", "new!"])
        }
    }

    @Test func aKeyThatSQLiteChoosesIsInNobodysWay() throws {
        try withRows { db throws in
            try Slot.insert {
                ($0.list, $0.position, $0.title, $0.note)
            } values: {
                (2, 1, "new", "b")
            } onConflict: {
                $0.id
            } doUpdate: {
                $0.title = $1.title
            }.execute(db)
            #expect(try Slot.order(by: \.id).select(\.title).fetchAll(db) == ["keep", "new"])
        }
    }

    @Test func namesWithQuotesAreNames() throws {
        try withRows { db throws in
            for note in ["a", "b"] {
                try Slot.insert {
                    Slot(id: 7, list: 3, title: "new", note: note)
                } onConflict: {
                    $0.note
                } doUpdate: {
                    $0.title = $1.title + $1.note
                }.execute(db)
            }
            let titles = try Slot.order(by: \.id).select { ($0.id, $0.title) }.fetchAll(db)
            #expect(titles.map(\.0) == [1, 7] && titles.map(\.1) == ["newa", "new"])
        }
    }

    /// What is not inserted has its default in `excluded`, too.
    @Test func theRowThatWasNotInsertedHasItsDefaults() throws {
        try withRows { db throws in
            try Slot.insert {
                ($0.id, $0.list, $0.note)
            } values: {
                (1, 9, "n")
            } onConflict: {
                $0.id
            } doUpdate: {
                $0.title = $1.title
                $0.position = $1.position + 100
            }.execute(db)
            #expect(try Slot.find(1).fetchOne(db) == Slot(id: 1, position: 100, title: "none", note: "a"))
        }
    }

    @Test func aPartialIndexIsAboutItsRowsOnly() throws {
        try withRows { db throws in
            func insert(_ account: Account.Draft) throws {
                try Account.insert {
                    account
                } onConflict: {
                    $0.email
                } where: {
                    !$0.isDeleted
                } doUpdate: {
                    $0.name = $1.name
                }.execute(db)
            }
            try insert(Account.Draft(email: "x", name: "new"))
            try insert(Account.Draft(email: "y", name: "gone", isDeleted: true))
            try insert(Account.Draft(email: "y", name: "because"))
            let names = try Account.order(by: \.id).select(\.name).fetchAll(db)
            #expect(names == ["old", "because", "new", "gone"])
        }
    }

    @Test func aTargetHasToBeAKey() throws {
        try withRows { db throws in
            for write in [
                {
                    try Account.insert {
                        Account.Draft(email: "y", name: "new")
                    } onConflict: {
                        $0.email
                    } doUpdate: {
                        $0.name = $1.name
                    }.execute(db)
                },
                {
                    try Account.insert {
                        Account.Draft(email: "y", name: "new")
                    } onConflict: {
                        $0.name
                    }.execute(db)
                },
            ] {
                let error = #expect(throws: DatabaseError.self) { try write() }
                #expect(error?.message?.contains("does not match") == true)
            }
            #expect(try Account.all.fetchCount(db) == 2)
        }
    }

    @Test func anotherKeyThanTheTargetIsAnError() throws {
        try withRows { db throws in
            let insert = Slot.insert {
                Slot(id: 1, list: 8, note: "other")
            } onConflict: {
                $0.note
            }
            let error = #expect(throws: DatabaseError.self) { try insert.execute(db) }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            try Slot.insert {
                Slot(id: 2, list: 8, note: "a")
            } onConflict: {
                $0.note
            }.execute(db)
            #expect(try Slot.all.fetchCount(db) == 1)
        }
    }

    @Test func aTriggerThatViolatesAnotherKeyIsAnError() throws {
        try withRows { db throws in
            try db.execute(
                sql: """
                    INSERT INTO audit VALUES ('slot');
                    CREATE TRIGGER log AFTER INSERT ON slots BEGIN INSERT INTO audit VALUES ('slot'); END;
                    """)
            let insert = Slot.insert { Slot(id: 2, list: 8, note: "b") }.onConflictDoNothing()
            #expect(throws: DatabaseError.self) { try insert.execute(db) }
            #expect(try Slot.all.fetchCount(db) == 1)
            try Slot.insert { Slot(id: 1, list: 8, note: "b") }.onConflictDoNothing().execute(db)
        }
    }

    /// Of a choice, only the form of the engine is there when its references to the other row are rewritten.
    @Test func choicesAreMadeBetweenTheTwoRows() throws {
        try withRows { db throws in
            for position in [3, 8] {
                try Slot.insert {
                    Slot(id: 1, position: position, title: "new", note: "n")
                } onConflict: {
                    $0.id
                } doUpdate: {
                    $0.position = iif($1.position > $0.position, $1.position, $0.position)
                    $0.title = iif($1.title.eq("new"), "\(position) of \(2)", $1.title)
                } where: {
                    iif($0.position > 100, false, true)
                }.execute(db)
            }
            #expect(try Slot.find(1).fetchOne(db) == Slot(id: 1, position: 8, title: "8 of 2", note: "a"))
        }
    }

    @Test func eachRowIsReturnedAsItWasThen() throws {
        try withRows { db throws in
            let titles = try Slot.insert {
                Slot(id: 4, position: 1, title: "a", note: "1")
                Slot(id: 4, position: 1, title: "b", note: "1")
                Slot(id: 3, position: 2, title: "c", note: "2")
            } onConflict: {
                $0.id
            } doUpdate: {
                $0.title = $1.title
            }.returning { ($0.id, $0.title) }.fetchAll(db)
            #expect(titles.map(\.0) == [4, 4, 3])
            #expect(titles.map(\.1) == ["a", "b", "c"])
        }
    }

    /// The ON of a conflict clause could be that of a join.
    @Test func rowsOfAWholeTableUpdateThoseInTheWay() throws {
        try withRows { db throws in
            try Slot.insert { Slot(id: 2, list: 2, title: "x", note: "b") }.execute(db)
            let insert = Account.insert {
                ($0.id, $0.email, $0.name)
            } select: {
                Slot.select { ($0.id, $0.note, $0.title) }
            } onConflict: {
                $0.id
            } doUpdate: {
                $0.name = $1.name
            }
            #expect(sql(insert).contains("FROM \"slots\"\nWHERE 1\nON CONFLICT"))
            try insert.execute(db)
            #expect(try Account.order(by: \.id).select(\.name).fetchAll(db) == ["keep", "x"])
            let none = Account.insert {
                ($0.id, $0.email, $0.name)
            } select: {
                Slot.none.select { ($0.id, $0.note, $0.title) }
            }
            #expect(none.query.isEmpty)
            try none.execute(db)
        }
    }
}
