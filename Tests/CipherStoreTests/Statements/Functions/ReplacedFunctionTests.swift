import CipherStore
import Testing

/// Functions of an app that take the place of others, built-in ones for instance, and go again.
@Suite struct ReplacedFunctionTests {
    /// An app that makes identifiers of its own goes on to get those.
    @Test(arguments: [nil, 0] as [Int?])
    func anAppsOwnFunctionTakesThePlaceOfABuiltInOne(argumentCount: Int?) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (id TEXT DEFAULT (uuid()), a)")
            let own = DatabaseFunction("uuid", argumentCount: argumentCount, innocuous: true) { _ in "OWN" }
            db.add(function: own)
            try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
            let ids = try String.fetchAll(db, sql: "SELECT uuid() UNION ALL SELECT id FROM t")
            #expect(ids == ["OWN", "OWN"])
        }
    }

    @Test(.enabled(if: EngineFeatures.current.supportsTrustedSchema), arguments: [nil, 0] as [Int?])
    func anAppsOwnFunctionThatIsNotInnocuousIsNotCalledByDefaults(argumentCount: Int?) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (id TEXT DEFAULT (uuid()), a)")
            db.add(function: DatabaseFunction("uuid", argumentCount: argumentCount) { _ in "OWN" })
            #expect(try String.fetchOne(db, sql: "SELECT uuid()") == "OWN")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
            }
            #expect(error?.message?.hasPrefix("unsafe use of uuid()") == true)
        }
    }

    @Test(arguments: [nil, 0] as [Int?])
    func aBuiltInFunctionIsThereAgainWhenTheAppsOwnIsRemoved(argumentCount: Int?) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (id TEXT DEFAULT (uuid()), a)")
            let own = DatabaseFunction("UUID", argumentCount: argumentCount, innocuous: true) { _ in "OWN" }
            // The second removal finds the built-in one only, which stays.
            for _ in 0..<2 {
                db.add(function: own)
                #expect(try String.fetchOne(db, sql: "SELECT uuid()") == "OWN")
                db.remove(function: own)
                db.remove(function: DatabaseFunction("uuid") { _ in nil })
            }
            let ofAnyNumber = DatabaseFunction("uuid") { _ in "OWN" }
            db.add(function: ofAnyNumber)
            #expect(try String.fetchOne(db, sql: "SELECT uuid()") == "OWN")
            db.remove(function: ofAnyNumber)
            try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
            #expect(try String.fetchOne(db, sql: "SELECT id FROM t")?.count == 36)
            let isAllowed = try db.restrictedToUntrustedSQL {
                try String.fetchOne(db, sql: "SELECT uuid()") != nil
            }
            #expect(isAllowed)
        }
    }

    /// SQLite itself calls none of any number of arguments in the place of one that was removed.
    @Test func aFunctionOfAnyNumberOfArgumentsIsCalledInThePlaceOfOneThatWasRemoved() throws {
        let any = DatabaseFunction("pick") { _ in "any" }
        let one = DatabaseFunction("Pick", argumentCount: 1) { _ in "one" }
        try DatabaseQueue().inDatabase { db throws in
            func picked() throws -> String? { try String.fetchOne(db, sql: "SELECT pick(1)") }
            db.add(function: any)
            db.add(function: one)
            #expect(try picked() == "one")
            db.remove(function: one)
            #expect(try picked() == "any")
            db.add(function: one)
            db.remove(function: any)
            #expect(try picked() == "one")
            db.remove(function: one)
            #expect(throws: DatabaseError.self) { try picked() }
            db.add(function: any)
            #expect(try picked() == "any")
            db.remove(function: any)
            #expect(throws: DatabaseError.self) { try picked() }
        }
    }

    @Test func aClosedConnectionKeepsNoFunctionOfAnyNumberOfArguments() throws {
        final class Captured: Sendable {}
        weak var released: Captured?
        let queue = try DatabaseQueue()
        do {
            let captured = Captured()
            released = captured
            queue.inDatabase { db in
                db.add(function: DatabaseFunction("captures") { _ in "\(type(of: captured))" })
            }
        }
        #expect(released != nil)
        try queue.close()
        #expect(released == nil)
    }

    @Test func theRefusalOfAFunctionCanNotBeRemoved() throws {
        try DatabaseQueue().inDatabase { db throws in
            db.remove(function: DatabaseFunction("fts3_tokenizer", argumentCount: 1) { _ in nil })
            let error = #expect(throws: DatabaseError.self) {
                try Row.fetchOne(db, sql: "SELECT fts3_tokenizer('simple')")
            }
            #expect(error?.message == "fts3_tokenizer is disabled")
        }
    }
}
