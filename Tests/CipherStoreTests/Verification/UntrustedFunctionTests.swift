import Foundation
import Testing

@testable import CipherStore

/// SQL from outside calls the functions that are on a list, and those of the app.
@Suite struct UntrustedFunctionTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { (db: Database) throws -> Void in
            try db.execute(
                sql: """
                    CREATE TABLE n (x); INSERT INTO n VALUES (1), (2);
                    CREATE VIRTUAL TABLE words USING fts4 (text); INSERT INTO words VALUES ('one two')
                    """)
        }
    }

    static let allowed = [
        "abs(-1)", "changes()", "char(65)", "coalesce(NULL, 1)", "concat('a', 'b')", "concat_ws(',', 'a')",
        "format('%d', 1)", "glob('a*', 'ab')", "hex('a')", "ifnull(NULL, 1)", "iif(1, 2, 3)",
        "instr('ab', 'b')", "last_insert_rowid()", "length('a')", "'a' LIKE 'A'", "likelihood(1, 0.5)",
        "likely(1)", "LOWER('A')", "ltrim(' a')", "max(1, 2)", "min(1, 2)", "nullif(1, 1)",
        "octet_length('a')", "printf('%d', 1)", "quote('a')", "random()", "randomblob(4)",
        "replace('a', 'a', 'b')", "round(1.5)", "rtrim('a ')", "sign(-1)", "soundex('a')",
        "sqlite_compileoption_get(0)", "sqlite_compileoption_used('x')", "sqlite_source_id()",
        "sqlite_version()", "substr('abc', 2)", "substring('abc', 2)", "total_changes()", "trim(' a ')",
        "typeof(1)", "unhex('41')", "unicode('a')", "unlikely(1)", "Upper('a')", "uuid()", "zeroblob(4)",
        "current_date", "current_time", "current_timestamp", "date('now')", "datetime('now')",
        "julianday('now')", "strftime('%Y', 'now')", "time('now')", "timediff('now', 'now')", "unixepoch()",
        "avg(x) FROM n", "count(*) FROM n", "group_concat(x) FROM n", "max(x) FROM n", "min(x) FROM n",
        "string_agg(x, ',') FROM n", "sum(x) FROM n", "total(x) FROM n", "median(x) FROM n",
        "row_number() OVER () FROM n", "rank() OVER (ORDER BY x) FROM n", "lag(x) OVER () FROM n",
        "ntile(2) OVER () FROM n", "first_value(x) OVER () FROM n", "cume_dist() OVER (ORDER BY x) FROM n",
        "json('[1]')", "json_array(1)", "json_array_length('[1]')", "json_extract('{\"a\":1}', '$.a')",
        "'{\"a\":1}' -> 'a'", "'{\"a\":1}' ->> 'a'", "json_group_array(x) FROM n", "json_quote('a')",
        "json_group_object(x, x) FROM n", "json_insert('{}', '$.a', 1)", "json_object('a', 1)",
        "json_patch('{}', '{}')", "json_pretty('[]')", "json_remove('{\"a\":1}', '$.a')",
        "json_replace('{}', '$.a', 1)", "json_set('{}', '$.a', 1)", "json_type('[]')", "json_valid('[]')",
        "json_error_position('[')", "jsonb('[]')", "value FROM json_each('[1]')",
        "acos(1)", "atan2(1, 1)", "ceil(1.5)", "exp(1)", "floor(1.5)", "ln(1)", "log2(8)", "mod(5, 3)",
        "pi()", "pow(2, 3)", "sqrt(4)", "trunc(1.5)", "degrees(1)", "radians(1)",
        "matchinfo(words) FROM words WHERE words MATCH 'one'",
        "offsets(words) FROM words WHERE text MATCH 'one'",
        "snippet(words) FROM words WHERE words MATCH 'one'",
        "swiftLowercaseString('A')",
    ]

    @Test(arguments: allowed) func aFunctionThatOnlyComputesIsAllowed(expression: String) throws {
        try queue.read { (db: Database) throws -> Void in
            // Not every engine has it.
            guard (try? Row.fetchAll(db, sql: "SELECT \(expression)")) != nil else { return }
            #expect(throws: Never.self, "\(expression)") {
                try db.restrictedToUntrustedSQL { _ = try Row.fetchAll(db, sql: "SELECT \(expression)") }
            }
        }
    }

    @Test func fullTextFunctionsOfFTS5AreAllowed() throws {
        guard EngineFeatures.current.supportsFTS5 else { return }
        try queue.write { (db: Database) throws -> Void in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE five USING fts5 (text); INSERT INTO five VALUES ('one two')")
            let expressions = [
                "bm25(five)", "highlight(five, 0, '<', '>')", "snippet(five, 0, '', '', '', 4)",
            ]
            for expression in expressions {
                try db.restrictedToUntrustedSQL {
                    _ = try Row.fetchAll(db, sql: "SELECT \(expression) FROM five WHERE five MATCH 'one'")
                }
            }
        }
    }

    private func isRefused(_ sql: String, _ db: Database) throws -> Bool {
        try db.restrictedToUntrustedSQL {
            do {
                _ = try Row.fetchAll(db, sql: sql)
                return false
            } catch let error as DatabaseError {
                return error.message?.contains("not authorized") == true
            }
        }
    }

    @Test(arguments: [
        "load_extension('x')", "fts3_tokenizer('simple')", "sqlcipher_export('main')",
        "optimize(words) FROM words WHERE words MATCH 'one'",
    ]) func aFunctionThatDoesMoreIsRefused(expression: String) throws {
        try queue.write { (db: Database) throws -> Void in #expect(try isRefused("SELECT \(expression)", db))
        }
    }

    /// The Kelvin sign is a k in lower case, but not to SQLite.
    @Test(arguments: ["brand_new", "readfile", "writefile", "edit", "sqlcipher_new", "ran\u{212A}"])
    func aFunctionThatTheAppDidNotAddIsRefused(name: String) throws {
        try queue.read { (db: Database) throws -> Void in
            // What a newer library brings is not registered by the app either.
            let code = FunctionRegistration.add(
                { $0.returnNull() }, name: name, argumentCount: 0, traits: [], to: db.handle, nil)
            #expect(code == 0)
            #expect(try Row.fetchAll(db, sql: "SELECT \(name)()").count == 1)
            #expect(try isRefused("SELECT \(name)()", db))
        }
    }

    @Test func aFunctionOfTheAppIsAllowedUntilItIsRemoved() throws {
        let one = DatabaseFunction("mine", argumentCount: 1) { $0[0] }
        let two = DatabaseFunction("MINE", argumentCount: 2) { $0[1] }
        try queue.read { (db: Database) throws -> Void in
            db.add(function: one)
            db.add(function: two)
            #expect(try !isRefused("SELECT Mine(1), mine(1, 2)", db))
            db.remove(function: two)
            #expect(try !isRefused("SELECT mine(1)", db))
            db.remove(function: one)
            let code = FunctionRegistration.add(
                { $0.returnNull() }, name: "mine", argumentCount: 0, traits: [], to: db.handle, nil)
            #expect(code == 0)
            #expect(try isRefused("SELECT mine()", db))
        }
    }

    @Test func anAppCannotAllowTheNameOfADangerousFunction() throws {
        try queue.read { (db: Database) throws -> Void in
            for name in ["load_extension", "fts3_tokenizer", "sqlcipher_export", "sqlcipher_other"] {
                db.add(function: DatabaseFunction(name, argumentCount: 5) { _ in nil })
                #expect(try isRefused("SELECT \(name)(1, 2, 3, 4, 5)", db), "\(name)")
            }
        }
    }

    @Test func lengthsAreLimited() throws {
        try queue.read { (db: Database) throws -> Void in
            for sql in ["SELECT zeroblob(500000000)", "SELECT length(randomblob(500000000))"] {
                let error = #expect(throws: DatabaseError.self, "\(sql)") {
                    try db.restrictedToUntrustedSQL { _ = try Row.fetchAll(db, sql: sql) }
                }
                #expect(error?.resultCode == .SQLITE_TOOBIG)
            }
        }
    }
}
