import CipherStore
import Foundation
import Testing

/// Functions, aggregates and collations that are written in Swift.
@Suite struct FunctionTests {
    private static let double = DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
        Int.fromDatabaseValue(values[0]).map { $0 * 2 }
    }
    private static let impure = DatabaseFunction("impure", argumentCount: 1) { $0[0] }

    @Test func everyStorageClassPassesThroughUnchanged() throws {
        try DatabaseQueue().inDatabase { db in
            db.add(function: Self.impure)
            let values: [DatabaseValue] = [
                .null, Int64.min.databaseValue, (-0.5).databaseValue, "".databaseValue, "é\0🙂".databaseValue,
                Data().databaseValue, Data(repeating: 7, count: 16).databaseValue,
                Data(repeating: 9, count: 100_000).databaseValue,
            ]
            for value in values {
                let result = try Row.fetchOne(db, sql: "SELECT impure(?)", arguments: [value])
                #expect(result?.databaseValues == [value])
            }
        }
    }

    @Test func aSchemaMayCallPureFunctions() throws {
        try DatabaseQueue().inDatabase { db in
            db.add(function: Self.double)
            try db.execute(
                sql: """
                    CREATE TABLE t (a, b);
                    CREATE VIEW v AS SELECT twice(a) AS a, swiftUppercaseString(b) AS b FROM t;
                    CREATE INDEX i ON t (twice(a));
                    CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET b = twice(a) || 'é' WHERE a = new.a; END;
                    INSERT INTO t VALUES (4, NULL);
                    """)
            let row = try Row.fetchOne(db, sql: "SELECT a, b FROM v")
            #expect(row?.databaseValues == [8.databaseValue, "8É".databaseValue])
        }
    }

    @Test(.enabled(if: EngineFeatures.current.supportsTrustedSchema))
    func aSchemaMayNotCallOtherFunctions() throws {
        try DatabaseQueue().inDatabase { db throws in
            db.add(function: Self.impure)
            db.add(
                function: DatabaseFunction("allowed", argumentCount: 1, innocuous: true) { $0[0] })
            try db.execute(
                sql: """
                    CREATE TABLE t (a); INSERT INTO t VALUES (1);
                    CREATE VIEW v AS SELECT impure(a) FROM t; CREATE VIEW w AS SELECT allowed(a) FROM t
                    """)
            let error = #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT * FROM v") }
            let message = try #require(error?.message)
            #expect(message.hasPrefix("unsafe use of impure()"))
            #expect(message.contains("innocuous: true"))
            #expect(try Int.fetchOne(db, sql: "SELECT * FROM w") == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT impure(a) FROM t") == 1)
        }
    }

    @Test func whatIsTemporaryMayCallAnyFunction() throws {
        try DatabaseQueue().inDatabase { db throws in
            db.add(function: Self.impure)
            try db.execute(
                sql: """
                    CREATE TABLE t (a); CREATE TABLE log (a);
                    CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (impure(new.a)); END;
                    CREATE TEMP VIEW v AS SELECT impure(a) AS a FROM log;
                    INSERT INTO t VALUES (3)
                    """)
            let values = try Int.fetchAll(db, sql: "SELECT a FROM v")
            #expect(values == [3])
        }
    }

    @Test func functionsThatReplaceEachOtherHaveOneID() {
        let other = DatabaseFunction("TWICE", argumentCount: 1) { $0[0] }
        #expect(other.id == Self.double.id)
        #expect(Set([other, Self.double]).count == 1)
        let ofTwo = DatabaseFunction("twice", argumentCount: 2) { $0[0] }
        #expect(ofTwo.id != Self.double.id)
        #expect(Self.impure.id != Self.double.id)
    }

    @Test func aRemovedFunctionIsGone() throws {
        try DatabaseQueue().inDatabase { db in
            db.add(function: Self.double)
            db.remove(function: Self.double)
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT twice(1)") }
        }
    }

    @Test func whatAFunctionCapturesIsReleasedWithTheConnection() throws {
        final class Captured: Sendable {}
        weak var released: Captured?
        do {
            let captured = Captured()
            released = captured
            let queue = try DatabaseQueue()
            queue.add(captured)
            try queue.close()
        }
        #expect(released == nil)
    }

    /// Counts how many rows it saw; the state of each group is its own.
    private struct Sum: DatabaseAggregate {
        private var sum = 0
        mutating func step(_ dbValues: [DatabaseValue]) throws {
            guard let value = Int.fromDatabaseValue(dbValues[0]) else {
                throw DatabaseError(message: "no number")
            }
            sum += value
        }
        func finalize() -> (any DatabaseValueConvertible)? { sum }
    }

    @Test func groupsAreAggregatedApartAndAnErrorEndsTheStatement() throws {
        try DatabaseQueue().inDatabase { db in
            db.add(function: DatabaseFunction("total_of", argumentCount: 1, pure: true, aggregate: Sum.self))
            try db.execute(
                sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (1, 2), (2, 5), (3, 'x')")
            let sums = try Int.fetchAll(
                db, sql: "SELECT total_of(b) FROM t WHERE a < 3 GROUP BY a ORDER BY a")
            #expect(sums == [3, 5])
            #expect(try Int.fetchOne(db, sql: "SELECT total_of(b) FROM t WHERE 0") == 0)
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchOne(db, sql: "SELECT total_of(b) FROM t")
            }
            #expect(error?.message == "no number")
        }
    }

    @Test func unicodeCompareIsTheOrderOfStrings() throws {
        let texts = [
            "", "a", "A", "ab", "b", "e\u{301}", "é", "e", "f", "z", "zz", "🙂", "a\0", "a\0b", "É", "ß",
        ]
        try DatabaseQueue().inDatabase { db in
            for left in texts {
                for right in texts {
                    let row = try Row.fetchOne(
                        db,
                        sql: "SELECT ?1 = ?2 COLLATE swiftCompare, ?1 < ?2 COLLATE swiftCompare",
                        arguments: [left, right])
                    let expected = [(left == right).databaseValue, (left < right).databaseValue]
                    #expect(row?.databaseValues == expected, "\(left) \(right)")
                }
            }
        }
    }

    @Test func anIndexIsRebuiltForACollationThatChanged() throws {
        let forward = DatabaseCollation("mine") {
            $0 < $1 ? .orderedAscending : $0 > $1 ? .orderedDescending : .orderedSame
        }
        let backward = DatabaseCollation("mine") {
            $0 > $1 ? .orderedAscending : $0 < $1 ? .orderedDescending : .orderedSame
        }
        try DatabaseQueue().inDatabase { db in
            db.add(collation: forward)
            try db.execute(
                sql: "CREATE TABLE t (a COLLATE mine UNIQUE); INSERT INTO t VALUES ('a'), ('b'), ('c')")
            db.add(collation: backward)
            try db.reindex(collation: backward)
            #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["c", "b", "a"])
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            db.remove(collation: backward)
            #expect(throws: DatabaseError.self) { try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") }
        }
    }

    @Test func theBuiltInFunctionForIdentifiersTakesNoArguments() throws {
        try DatabaseQueue().inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try String.fetchOne(db, sql: "SELECT uuid(1)")
            }
            #expect(error?.message == "wrong number of arguments to function uuid()")
            #expect(try String.fetchOne(db, sql: "SELECT uuid()")?.count == 36)
        }
    }

    /// The signs that SQLite 3.46 gives.
    @Test func theSignOfATextIsThatOfTheNumberItIs() throws {
        let signs: [(String, Int?)] = [
            ("5", 1), ("-5", -1), ("+5", 1), (".5", 1), ("5.", 1), ("5.e3", 1), (" -5\t", -1), ("-0", 0),
            ("1e400", 1), ("-1e400", -1), ("1e-400", 0), ("0x10", nil), ("inf", nil), ("nan", nil),
            (".", nil),
            ("1e", nil), ("", nil), ("5 apples", nil),
        ]
        try DatabaseQueue().inDatabase { db in
            for (text, sign) in signs {
                let row = try Row.fetchOne(db, sql: "SELECT sign(?)", arguments: [text])
                #expect(row?.databaseValues == [sign.databaseValue], "\(text)")
            }
        }
    }
}

extension DatabaseQueue {
    fileprivate func add(_ captured: some AnyObject & Sendable) {
        inDatabase { db in
            db.add(
                function: DatabaseFunction("captures", argumentCount: 0) { _ in
                    "\(type(of: captured))"
                })
        }
    }
}
