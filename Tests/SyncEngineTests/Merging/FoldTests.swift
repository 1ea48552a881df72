import CipherStore
import Foundation
import Testing

@testable import SyncEngine

@Suite struct FoldTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func fold(_ replica: TestReplica) throws -> Int64 {
        try replica.queue.write { try FoldedStore.fold($0, stores.clock.environment).summary.entryCount }
    }

    private func versions(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT hex(substr(r.pk, 1, 1)), r.cl, r.hlc >> 16, r.oseq,
                        (SELECT group_concat(c.col || '@' || (c.hlc >> 16) || '#' || c.oseq) FROM _sync_cell c WHERE c.r = r.r)
                    FROM _sync_row AS r ORDER BY r.pk
                    """
            ).map {
                $0.databaseValues.map { value in
                    value.isNull ? "-" : (String.fromDatabaseValue(value) ?? value.description)
                }.joined(separator: " ")
            }
        }
    }

    private func time(_ offset: Int64) -> Int64 { 1_700_000_000_000 + offset }

    @Test func anInsertBecomesOneRowVersion() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(try fold(a) == 1)
        #expect(try versions(a) == ["01 1 \(time(10)) 1 -"])
        #expect(try fold(a) == 0)
    }

    @Test func editsOfANewRowNeedNoVersionsOfTheirOwn() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("UPDATE note SET title = 'x', body = 'y'")
        _ = try fold(a)
        #expect(try versions(a) == ["01 1 \(time(20)) 2 -"])
    }

    @Test func anEditOfAKnownRowIsAVersionOfItsColumn() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        _ = try fold(a)
        try a.execute("UPDATE note SET body = 'one'")
        try a.execute("UPDATE note SET body = 'two'")
        try a.execute("UPDATE note SET title = title")
        _ = try fold(a)
        #expect(try versions(a) == ["01 1 \(time(10)) 1 1@\(time(30))#3"])
    }

    @Test func aRowThatCameAndWentLeavesNothing() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("DELETE FROM note")
        _ = try fold(a)
        #expect(try versions(a).isEmpty)
    }

    @Test func livesAreCountedThroughDeletesAndInserts() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        _ = try fold(a)
        try a.execute("UPDATE note SET title = 'x'")
        _ = try fold(a)
        try a.execute("DELETE FROM note WHERE id = ?", [key(1)])
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("DELETE FROM note WHERE id = ?", [key(2)])
        _ = try fold(a)
        #expect(try versions(a) == ["01 3 \(time(50)) 6 -", "02 2 \(time(60)) 7 -"])
    }

    /// A merge logs it when it meets a row that the deletion's writer did not know.
    @Test func aDeletionThatIsToldAnewIsOneOfTheSameLife() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        _ = try fold(a)
        try a.execute("DELETE FROM note")
        _ = try fold(a)
        let tell =
            "INSERT INTO _sync_log (tbl, op, pk, mask, ms) SELECT tbl, op, pk, mask, ms + 500 FROM _sync_log WHERE op = 3"
        try a.execute(tell)
        #expect(try fold(a) == 1)
        #expect(try versions(a).map { $0.prefix(4) } == ["01 2"])
        #expect(try a.value("SELECT oseq FROM _sync_row", as: Int64.self) == 3)
        // A row that is made again afterwards begins a life after it.
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        _ = try fold(a)
        #expect(try versions(a).map { $0.prefix(4) } == ["01 3"])
    }

    @Test func aClockThatGoesBackDoesNotTakeALaterEditBack() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        _ = try fold(a)
        stores.clock.advance(milliseconds: -1_000_000)
        try a.execute("UPDATE note SET title = 'later'")
        _ = try fold(a)
        let stamps = try a.queue.read { db in
            try Int64.fetchAll(db, sql: "SELECT hlc FROM _sync_row UNION ALL SELECT hlc FROM _sync_cell")
        }
        #expect(stamps.count == 2)
        #expect(stamps[1] > stamps[0])
    }

    @Test func aWriterWithAClockFarAheadDoesNotPullTheClockAlong() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = ms + 1000000000000") }
        _ = try fold(a)
        let clock = try a.value("SELECT clock >> 16 FROM _sync_state", as: Int64.self)
        #expect(clock == time(10))
    }

    @Test func aRowWithAKeyThatIsNoUUIDIsReportedAndNotSent() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES ('not a key')")
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        _ = try fold(a)
        #expect(try versions(a).count == 1)
        #expect(try a.synchronizer.status().tables.first { $0.name == "note" }?.unsuitableKeyCount == 1)
    }

    @Test func bulkAndSingleFoldsGiveTheSameVersions() throws {
        let a = try stores.create("a.db")
        let b = try stores.clone(a, as: "b.db")
        for number in 1...20 {
            for replica in [a, b] {
                try replica.queue.write { db in
                    try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(UInt8(number))])
                    try db.execute(
                        sql: "UPDATE _sync_log SET ms = ? WHERE seq = (SELECT max(seq) FROM _sync_log)",
                        arguments: [time(Int64(number))])
                }
            }
            stores.clock.advance(milliseconds: 1)
            _ = try fold(b)
        }
        _ = try fold(a)
        #expect(try versions(a) == versions(b))
    }

    /// Updates by themselves take a way of their own.
    @Test func updatesAloneAndAmongOthersGiveTheSameVersions() throws {
        let a = try stores.create("a.db")
        for number in 1...6 { try a.execute("INSERT INTO note (id) VALUES (?)", [key(UInt8(number))]) }
        let b = try stores.clone(a, as: "b.db")
        for round in 0..<3 {
            for replica in [a, b] {
                for number in 1...4 {
                    let column = ["title", "body", "stars"][(number + round) % 3]
                    let value = round == 2 ? "NULL" : "\(number)"
                    let sql = "UPDATE note SET \(column) = \(value), title = \(round) WHERE id = ?"
                    try replica.queue.write { db in
                        try db.execute(sql: sql, arguments: [key(UInt8(number))])
                        try db.execute(sql: "UPDATE _sync_log SET ms = \(time(Int64(round * 10 + number)))")
                    }
                }
            }
            // A row that came and went.
            try b.queue.write { db in
                try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(9)])
                try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(9)])
                try db.execute(sql: "UPDATE _sync_log SET ms = \(time(Int64(round * 10 + 4)))")
            }
            let counts = try (fold(a), fold(b))
            #expect(counts.0 + 2 == counts.1)
            #expect(try versionsWithoutNumbers(a) == versionsWithoutNumbers(b))
        }
        #expect(try versions(a).contains { $0.contains("@") })
    }

    private func versionsWithoutNumbers(_ replica: TestReplica) throws -> [String] {
        try versions(replica).map { $0.replacing(/#\d+/, with: "") }
    }

    @Test func anUpdateOfARowWithoutAVersionGivesItOne() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        _ = try fold(a)
        try a.execute("DELETE FROM _sync_row WHERE pk = ?", [key(1)])
        try a.execute("UPDATE note SET body = 'x'")
        _ = try fold(a)
        #expect(try versions(a) == ["01 1 \(time(40)) 3 -", "02 1 \(time(20)) 2 1@\(time(40))#4"])
    }

    /// A fold joins entries with the columns of few masks at once, and with all columns of the table where there are many.
    @Test(arguments: [1, 2, 4, 9, 40])
    func whatManyEditsWroteIsWhatEachOfThemWrote(formCount: Int) throws {
        let columns = (1..<130).map { "c\($0)" }
        let schema = "CREATE TABLE wide (id BLOB PRIMARY KEY, \(columns.joined(separator: ", ")))"
        let a = try stores.create("a.db", schema: schema, tables: ["wide"])
        for number in 1...5 { try a.execute("INSERT INTO wide (id) VALUES (?)", [key(UInt8(number))]) }
        let b = try stores.clone(a, as: "b.db")
        let random = stores.clock.environment.random
        let forms = (0..<formCount).map { form in
            (0...(form % 3)).map { _ in columns[Int(random() % UInt64(columns.count))] }
        }
        // No edit is later than the present.
        stores.clock.advance(milliseconds: 1000)
        for edit in 1...60 {
            let assignments = forms[edit % formCount].map { "\($0) = \(edit)" }.joined(separator: ", ")
            let number = UInt8(1 + random() % 5)
            for replica in [a, b] {
                try replica.queue.write { db in
                    let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log")
                    try db.execute(
                        sql: "UPDATE wide SET \(assignments) WHERE id = ?", arguments: [key(number)])
                    // An edit has an entry for each group of columns.
                    try db.execute(
                        sql: "UPDATE _sync_log SET ms = ? WHERE seq > ?",
                        arguments: [time(Int64(100 + edit)), last])
                }
            }
            stores.clock.advance(milliseconds: 10)
            _ = try fold(b)
        }
        _ = try fold(a)
        let versions = try versionsOfCells(a)
        #expect(versions == (try versionsOfCells(b)))
        #expect(versions.count >= forms.count / 2)
    }

    /// Few masks stand in the statement, and many of a long tail in a table; a short tail is joined with all columns.
    @Test(arguments: [0, 1, 2, 6, 16, 17, 60, 200], [0, Int.max])
    func theColumnsOfMasksAreTheSameHoweverTheyAreLookedUp(formCount: Int, longTailCount: Int) throws {
        let columns = (1..<130).map { "c\($0)" }.joined(separator: ", ")
        let a = try stores.create(
            "a.db", schema: "CREATE TABLE wide (id BLOB PRIMARY KEY, \(columns))", tables: ["wide"])
        let random = stores.clock.environment.random
        let update = ChangeLog.Operation.update
        let rewrite = ChangeLog.Operation.rewrite
        let kinds = [update, rewrite, ChangeLog.Operation.insert, update, ChangeLog.Operation.delete]
        try a.queue.write { db in
            let known = try Int.fetchSet(db, sql: "SELECT col FROM _sync_column WHERE tbl = 1")
            #expect(known.count == 129)
            for operations in [[update], [update, rewrite]] {
                let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
                var expected: [[Int64]] = []
                for entry in 0..<(formCount * 2) {
                    let kind = kinds[entry % formCount % kinds.count]
                    let group = Int(random() % 3)
                    let bits = (0...(entry % 3)).map { _ in Int(random() % 60) }
                    let mask = bits.reduce(Int64(0)) { $0 | 1 << Int64($1) }
                    let number = last + 1 + Int64(entry)
                    try db.execute(
                        sql: "INSERT INTO _sync_log (seq, tbl, op, pk, mask, ms) VALUES (?, 1, ?, ?, ?, 0)",
                        arguments: [
                            number, kind | group << ChangeLog.Operation.groupShift, key(1), mask,
                        ])
                    guard operations.contains(kind) else { continue }
                    let written = Set(bits.map { group * ChangeLog.columnsPerGroup + $0 })
                    expected += written.intersection(known).sorted().map { [number, Int64($0)] }
                }
                let written = try WrittenColumns(
                    db, after: last, operations, longTailCount: longTailCount)
                let found = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT l.seq, c.col FROM _sync_log AS l \(written.join) WHERE l.seq > ? ORDER BY l.seq, c.col
                        """, arguments: [last]
                ).map { [try $0.decode(Int64.self, atIndex: 0), try $0.decode(Int64.self, atIndex: 1)] }
                #expect(found == expected)
                written.finish()
                let left = try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM sqlite_temp_master WHERE name = '_sync_written'")
                #expect(left == 0)
            }
        }
    }

    private func versionsOfCells(_ replica: TestReplica) throws -> [[Int64]] {
        try replica.queue.read { db in
            try Row.fetchAll(
                db, sql: "SELECT r, col, hlc >> 16 FROM _sync_cell ORDER BY r, col"
            ).map { [try $0.decode(atIndex: 0), try $0.decode(atIndex: 1), try $0.decode(atIndex: 2)] }
        }
    }
}
