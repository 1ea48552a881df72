import SwiftParser
import SwiftSyntax
import Testing

@testable import CipherStoreMacros

@Suite struct LiteralTypesTests {
    private func type(of source: String) -> String? {
        let file = Parser.parse(source: "let x = \(source)")
        let variable = file.statements.first?.item.as(VariableDeclSyntax.self)
        return variable?.bindings.first?.initializer.flatMap { LiteralTypes.type(of: $0.value) }?
            .trimmedDescription
    }

    @Test(arguments: [
        ("\"\"", "String"), ("\"\\(a)\"", "String"), ("#\"x\"#", "String"),
        ("\"\"\"\n    a\n    \"\"\"", "String"),
        ("0", "Int"), ("-1", "Int"), ("0xFF", "Int"), ("1_000", "Int"), ("0.0", "Double"), ("-1e3", "Double"),
        ("true", "Bool"), ("!isOpen", "Bool"), ("5 * 60", "Int"), ("1 + 2.5", "Double"), ("1 == 2", "Bool"),
        ("a && b", "Bool"), ("(1)", "Int"), ("[1, 2]", "[Int]"), ("[\"a\": 1.5]", "[String: Double]"),
        ("[1, 2.5]", "[Double]"), ("1 as Float", "Float"), ("Date()", "Date"), ("Set<Int>()", "Set<Int>"),
        ("[String]()", "[String]"), ("[String: Int]()", "[String: Int]"), ("Foo.Bar()", "Foo.Bar"),
        ("Color.red", "Color"), ("Color.rgb(1, 2, 3)", "Color"), ("Int.max", "Int"), ("true ? 1 : 2", "Int"),
        ("Optional<Int>.none", "Optional<Int>"), ("Array<[Int]>()", "Array<[Int]>"),
        ("Swift.Set<Int>()", "Swift.Set<Int>"), ("Foo.Set()", "Foo.Set"), ("5 < 6", "Bool"),
    ])
    func aTypeIsSeenInTheSource(value: String, expected: String) {
        #expect(type(of: value) == expected)
    }

    @Test(arguments: [
        "nil", "[]", "[:]", "makeTitle()", "standard", ".red", "a + b", "[1, \"a\"]", "{ 1 }()",
        "true ? 1 : \"a\"",
        "1 as? Int", "Set([1])", "Array(repeating: 0, count: 3)", "Optional(5)", "Swift.Set([1])",
        "Optional.some(1)", "0...5", "0..<5", "...5",
    ])
    func aTypeThatTheSourceHidesIsUnknown(value: String) {
        #expect(type(of: value) == nil)
    }
}
