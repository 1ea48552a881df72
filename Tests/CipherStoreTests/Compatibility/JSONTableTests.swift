import Testing

@testable import CipherStore

/// `json_each` gives the same rows whether it is SQLite's or this library's.
@Suite struct JSONTableTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    private func rows(_ arguments: String) throws -> [String] {
        try queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT quote(key) || ' ' || quote(value) || ' ' || type || ' ' || quote(atom) || ' ' || fullkey
                    FROM json_each(\(arguments))
                    """)
        }
    }

    @Test func elementsOfArraysHavePositions() throws {
        #expect(
            try rows("'[1, \"a\", 1.5, true, null, [2], {\"b\": 3}]'") == [
                "0 1 integer 1 $[0]", "1 'a' text 'a' $[1]", "2 1.5 real 1.5 $[2]", "3 1 true 1 $[3]",
                "4 NULL null NULL $[4]", "5 '[2]' array NULL $[5]", "6 '{\"b\":3}' object NULL $[6]",
            ])
    }

    @Test func membersOfObjectsHaveNames() throws {
        #expect(
            try rows(#"'{"a": 1, "b c": "x", "d\"": [0]}'"#) == [
                "'a' 1 integer 1 $.a", "'b c' 'x' text 'x' $.\"b c\"", "'d\"' '[0]' array NULL $.\"d\\\"\"",
            ])
    }

    @Test func aPathLeadsToTheElements() throws {
        let json = #"'{"a": {"b": [7, 8]}}'"#
        #expect(try rows("\(json), '$.a.b'") == ["0 7 integer 7 $.a.b[0]", "1 8 integer 8 $.a.b[1]"])
        #expect(try rows("\(json), '$.a.c'") == [])
        #expect(try rows("\(json), NULL") == [])
    }

    @Test func whatIsNullOrEmptyHasNoRows() throws {
        for json in ["NULL", "'[]'", "'{}'"] { #expect(try rows(json) == []) }
    }

    @Test func malformedJSONIsAnError() throws {
        #expect(throws: DatabaseError.self) { try rows("'[1,'") }
        #expect(throws: DatabaseError.self) { try rows("'[1]', 'a'") }
        let message = try queue.read { db in
            #expect(throws: DatabaseError.self) { try Row.fetchAll(db, sql: "SELECT * FROM json_each('[')") }?
                .message
        }
        #expect(message == "malformed JSON")
    }

    @Test func theTableIsJoinedWithOthers() throws {
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, j TEXT); INSERT INTO t VALUES (1, '[5,6]'), (2, '[]'), (3, NULL)"
            )
            #expect(try Int.fetchAll(db, sql: "SELECT value FROM t, json_each(t.j)") == [5, 6])
            #expect(try Int.fetchAll(db, sql: "SELECT value FROM json_each(t.j), t") == [5, 6])
            #expect(
                try Int.fetchAll(
                    db, sql: "SELECT t.id FROM t LEFT JOIN json_each AS e ON e.json = t.j ORDER BY t.id")
                    == [1, 1, 2, 3])
            #expect(
                try Int.fetchAll(
                    db,
                    sql: """
                        SELECT a.value * 10 + b.value FROM json_each('[1,2]') AS a JOIN json_each('[3,4]') AS b
                        ORDER BY 1
                        """) == [13, 14, 23, 24])
        }
    }
}
