import CipherStore
import Foundation
import Testing

/// The JSON functions that are written in Swift, as `j_…`, beside SQLite's own
/// where the library has them.
@Suite struct JSONFunctionTests {
    private func database() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { $0.addJSONFunctions(prefix: "j") }
        return try DatabaseQueue(configuration: configuration)
    }

    /// The result with its type, or the message of the error.
    private func result(_ db: Database, _ sql: String) -> String {
        do {
            let row = try Row.fetchOne(db, sql: "SELECT typeof(x), '' || quote(x) FROM (SELECT \(sql) AS x)")
            guard let type: String = row?[0], let value: String = row?[1] else { return "no row" }
            return "\(type) \(value)"
        } catch let error as DatabaseError {
            return "error " + (error.message ?? "")
        } catch {
            return "unexpected \(error)"
        }
    }

    @Test func aPathOfTooManyMissingMembersIsRefused() throws {
        try database().read { db in
            let path = "'$' || replace(hex(zeroblob(300000)), '00', '.a')"
            #expect(result(db, "j_set('{}', \(path), 1)").hasPrefix("error"))
            #expect(result(db, "j_extract('{}', \(path))") == "null NULL")
            #expect(
                result(db, "j_set('{}', '$' || replace(hex(zeroblob(100)), '00', '.a'), 1)").hasPrefix("text")
            )
        }
    }

    /// Results of SQLite 3.46.
    private static let examples: [(String, String)] = [
        (
            #"j(' { "a" : [ 1 , 2.50, -0, 1e5 ] , "b\u0041" : "\/" } ')"#,
            #"text '{"a":[1,2.50,-0,1e5],"b\u0041":"\/"}'"#
        ),
        ("j(NULL)", "null NULL"),
        ("j(1.0)", "text '1.0'"),
        ("j('[1,]')", "error malformed JSON"),
        ("j('')", "error malformed JSON"),
        ("j('01')", "error malformed JSON"),
        ("j_array(1, 2.0, NULL, 'a\"b', j('{\"c\":1}'), '[]')", #"text '[1,2.0,null,"a\"b",{"c":1},"[]"]'"#),
        ("j_array()", "text '[]'"),
        ("j_array(x'00ff')", "error JSON cannot hold BLOB values"),
        ("j_array(1e999, -1e999)", "text '[9.0e+999,-9.0e+999]'"),
        (
            "j_array(char(1, 8, 9, 10, 12, 13, 31, 34, 92, 127))",
            #"text '["\u0001\b\t\n\f\r\u001f\"\\"# + "\u{7f}\"]'"
        ),
        ("j_object('a', 1, 'a', j_array(2))", #"text '{"a":1,"a":[2]}'"#),
        ("j_object('a')", "error json_object() requires an even number of arguments"),
        ("j_object(1, 2)", "error json_object() labels must be TEXT"),
        ("j_array_length('[1,[2,3]]')", "integer 2"),
        ("j_array_length('{\"a\":[1,2]}', '$.a')", "integer 2"),
        ("j_array_length('{}')", "integer 0"),
        ("j_array_length('{}', '$.a')", "null NULL"),
        (#"j_extract('{"a":{"b":[1,2.5,"x\u00e9\n"]}}', '$.a.b[2]')"#, "text 'xé\n'"),
        ("j_extract('[1,2,3]', '$[#-1]')", "integer 3"),
        ("j_extract('[1,2,3]', '$[#-4]')", "null NULL"),
        ("j_extract('[9223372036854775807,9223372036854775808]', '$[0]')", "integer 9223372036854775807"),
        (
            "j_extract('[9223372036854775807,9223372036854775808]', '$[1]') = 9223372036854775808.0",
            "integer 1"
        ),
        ("j_extract('[true,false,null]', '$[0]', '$[2]', '$[9]')", "text '[true,null,null]'"),
        (#"j_extract('{"a b":{"":1}}', '$."a b".""')"#, "integer 1"),
        ("j_extract('{}', 'a')", "error bad JSON path: 'a'"),
        ("j_extract('{}', '$.')", "error bad JSON path: '$.'"),
        ("j_extract('{}', NULL)", "null NULL"),
        (#"j_extract('"\ud83d\ude42"', '$')"#, "text '🙂'"),
        (#"j_insert('{"a":1}', '$.a', 2, '$.b', 'x')"#, #"text '{"a":1,"b":"x"}'"#),
        (#"j_replace('{"a":1}', '$.a', 2, '$.b', 'x')"#, #"text '{"a":2}'"#),
        (
            #"j_set('{"a":1}', '$.a', j('[1]'), '$.b.c[0].d', NULL)"#,
            #"text '{"a":[1],"b":{"c":[{"d":null}]}}'"#
        ),
        ("j_set('[1,2]', '$[#]', 3, '$[9]', 4)", "text '[1,2,3]'"),
        ("j_set('{}', '$.a[1]', 1)", "text '{}'"),
        ("j_set('{}', '$', 5)", "text '5'"),
        ("j_set('{}', '$.a')", "error j_set() needs an odd number of arguments"),
        ("j_set('{}', '$.a', -1e999)", "text '{\"a\":-9e999}'"),
        ("j_remove('[0,1,2,3]', '$[0]', '$[#-1]')", "text '[1,2]'"),
        (#"j_remove('{"a":1,"b":2}', '$.a', '$.c')"#, #"text '{"b":2}'"#),
        ("j_remove('{}', '$')", "null NULL"),
        ("j_remove('[ 1 ]')", "text '[1]'"),
        (
            #"j_patch('{"a":1,"b":{"c":2,"d":3}}', '{"a":null,"b":{"c":4,"e":{"f":null}},"g":5}')"#,
            #"text '{"b":{"c":4,"d":3,"e":{}},"g":5}'"#
        ),
        ("j_patch('[1]', '{\"a\":null}')", "text '{}'"),
        ("j_quote('a\"')", #"text '"a\""'"#),
        ("j_quote(j('[1]'))", "text '[1]'"),
        ("j_quote(NULL)", "text 'null'"),
        ("j_type('[1,1.5,\"a\",null,true,{}]', '$[1]')", "text 'real'"),
        ("j_type('-1')", "text 'integer'"),
        ("j_type('[]', '$[0]')", "null NULL"),
        ("j_valid('{\"a\":1}') + j_valid('{a:1}') * 2 + j_valid(NULL)", "null NULL"),
        ("j_valid('[1.]') + j_valid('+1') + j_valid('\"\\x\"') + j_valid(' \n1')", "integer 1"),
        ("j_error_position('[1,2]')", "integer 0"),
        ("j_group_array(x) FROM (SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT NULL)", ""),
    ]

    @Test func resultsAreThoseOfSQLite() throws {
        try database().inDatabase { db in
            for (sql, expected) in Self.examples where !expected.isEmpty {
                #expect(result(db, sql) == expected, "\(sql)")
            }
            let grouped = try Row.fetchOne(
                db,
                sql: """
                    SELECT j_group_array(x), j_group_object('k' || x, j_array(x)), j_group_array(j_array(x))
                    FROM (SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT 2.5)
                    """)
            #expect(grouped?[0] == #"[1,"a",2.5]"#)
            #expect(grouped?[1] == #"{"k1":[1],"ka":["a"],"k2.5":[2.5]}"#)
            #expect(grouped?[2] == #"[[1],["a"],[2.5]]"#)
            #expect(try String.fetchOne(db, sql: "SELECT j_group_array(1) WHERE 0") == "[]")
        }
    }

    @Test func everyConnectionHasTheFunctions() throws {
        let queue = try DatabaseQueue()
        let text = try queue.read {
            try String.fetchOne($0, sql: "SELECT json_set('{}', '$.a', json_array(1))")
        }
        #expect(text == #"{"a":[1]}"#)
    }

    @Test func deepTextsAreRefusedOrDoNotExhaustTheStack() throws {
        try database().inDatabase { db in
            for (depth, isValid) in [(1000, true), (1001, false), (200_000, false)] {
                let array = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                let valid = try Bool.fetchOne(db, sql: "SELECT j_valid(?)", arguments: [array])
                #expect(valid == isValid)
            }
            let deep = String(repeating: #"{"a":"#, count: 999) + "{}" + String(repeating: "}", count: 999)
            let patched = try String.fetchOne(db, sql: "SELECT j_patch(?1, ?1)", arguments: [deep])
            #expect(patched == deep)
            let path = "$" + String(repeating: ".a", count: 1200)
            #expect(throws: DatabaseError.self) {
                try String.fetchOne(db, sql: "SELECT j_set('{}', ?, 1)", arguments: [path])
            }
        }
    }

    /// Random calls give what SQLite's own functions give.
    @Test(.enabled(if: EngineFeatures.current.supportsJSON)) func randomCallsAgreeWithSQLite() throws {
        var random = CallGenerator(seed: 20_261_121)
        try database().inDatabase { db in
            for _ in 0..<20_000 {
                let call = random.call()
                let own = result(db, call.replacingOccurrences(of: "@", with: "j"))
                let native = result(db, call.replacingOccurrences(of: "@", with: "json"))
                #expect(own.replacingOccurrences(of: "j_", with: "json_") == native, "\(call)")
            }
        }
    }

    /// Texts with a wrong byte are valid for both, or for neither.
    @Test(.enabled(if: EngineFeatures.current.supportsJSON)) func randomTextsAreAsValidAsInSQLite() throws {
        var random = CallGenerator(seed: 7)
        try database().inDatabase { db in
            for _ in 0..<5_000 {
                let text = random.damagedText()
                let row = try Row.fetchOne(db, sql: "SELECT j_valid(?1), json_valid(?1)", arguments: [text])
                let values: (Int?, Int?) = (row?[0], row?[1])
                #expect(values.0 == values.1, "\(text)")
            }
        }
    }
}

/// Makes SQL that calls JSON functions, the same for each seed. `@` stands for their prefix.
private struct CallGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    private mutating func one(_ choices: [String]) -> String { choices[below(choices.count)] }

    private mutating func blank() -> String { one(["", "", "", " ", "\n\t "]) }

    private mutating func text() -> String {
        one([
            #""a""#, #""b""#, #""c d""#, #""""#, #""\u0061""#, #""é🙂""#, #""x\"y""#, #""\\\/\b\f\n\r\t""#,
            #""\u00e9\ud83d\ude42""#, #""'""#, "\"\u{7f}\"",
        ])
    }

    private mutating func json(_ depth: Int) -> String {
        switch below(depth > 0 ? 9 : 6) {
        case 0: return one(["null", "true", "false"])
        case 1, 2:
            return one([
                "0", "1", "-0", "-17", "9223372036854775807", "-9223372036854775808", "123456789012345678901",
            ])
        case 3: return one(["0.5", "1.50", "-2e3", "1E+2", "1e-7", "3.0", "0.1e1"])
        case 4, 5: return text()
        case 6:
            let elements = (0..<below(4)).map { _ in blank() + json(depth - 1) + blank() }
            return "[" + blank() + elements.joined(separator: ",") + "]"
        default:
            let members = (0..<below(4)).map { _ in
                blank() + text() + blank() + ":" + blank() + json(depth - 1) + blank()
            }
            return "{" + blank() + members.joined(separator: ",") + "}"
        }
    }

    private mutating func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    }

    mutating func damagedText() -> String {
        var text = Array((blank() + json(3) + blank()).utf8)
        if below(3) > 0 {
            let index = below(text.count)
            switch below(3) {
            case 0: text.remove(at: index)
            case 1: text[index] = Array("{}[],:\"\\0-.eE+ntf \u{1}".utf8)[below(19)]
            default: text.insert(Array("{}[],:\"\\0-.eE+ntf ".utf8)[below(18)], at: index)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func path() -> String {
        let steps = [
            ".a", ".b", #"."c d""#, #"."""#, ".é🙂", "[0]", "[1]", "[2]", "[#]", "[#-1]", "[#-2]", "[7]",
        ]
        var path = "$"
        for _ in 0..<below(4) { path += one(steps) }
        if below(40) == 0 { path += one(["[", "x", ".", "[a]", "[#-]", "[-1]", ".\"a", "]"]) }
        return below(60) == 0 ? "NULL" : quoted(path)
    }

    private mutating func document() -> String {
        below(50) == 0 ? one(["NULL", "1", "-2.5", "'['"]) : quoted(json(3))
    }

    private mutating func value() -> String {
        switch below(8) {
        case 0: "NULL"
        case 1: one(["0", "-5", "1.5", "1e100", "9e999", "-0.0", "0.1"])
        case 2: quoted(text())
        case 3: "@(" + quoted(json(2)) + ")"
        case 4: "@_array(1, " + quoted(text()) + ")"
        case 5: one(["'plain'", "'it''s'", "char(9, 34, 31, 233)", "''"])
        default: "@_extract(" + quoted(json(2)) + ", " + path() + ")"
        }
    }

    private mutating func pairs() -> String {
        var arguments = ""
        for _ in 0..<(1 + below(3)) { arguments += ", " + path() + ", " + value() }
        return arguments
    }

    mutating func call() -> String {
        switch below(13) {
        case 0: return "@(" + document() + ")"
        case 1: return "@_array(" + (0..<below(4)).map { _ in value() }.joined(separator: ", ") + ")"
        case 2:
            let members = (0..<below(4)).map { _ in quoted(text()) + ", " + value() }
            return "@_object(" + members.joined(separator: ", ") + ")"
        case 3: return "@_array_length(" + document() + one(["", ", " + path()]) + ")"
        case 4: return "@_type(" + document() + one(["", ", " + path()]) + ")"
        case 5, 6:
            let paths = (0..<(1 + below(2))).map { _ in ", " + path() }
            return "@_extract(" + document() + paths.joined() + ")"
        case 7: return "@_insert(" + document() + pairs() + ")"
        case 8: return "@_replace(" + document() + pairs() + ")"
        case 9: return "@_set(" + document() + pairs() + ")"
        case 10: return "@_remove(" + document() + ", " + path() + one(["", ", " + path()]) + ")"
        case 11: return "@_patch(" + document() + ", " + document() + ")"
        default: return "@_quote(" + value() + ")"
        }
    }
}
