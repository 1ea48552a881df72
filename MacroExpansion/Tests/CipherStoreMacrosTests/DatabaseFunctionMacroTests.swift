import Testing

@testable import CipherStoreMacros

@Suite struct DatabaseFunctionMacroTests {
    @Test func aFunctionIsCalledWithExpressions() {
        expectExpansion(
            "@DatabaseFunction(isDeterministic: true) func fold(_ text: String, to length: Int? = 3) -> String { text }",
            has: "nonisolated var $fold:", "(body: { p0, p1 in fold(p0, to: p1) })",
            ": TypedQueries.ScalarDatabaseFunction {", "typealias Output = String", "let name = \"fold\"",
            "var isDeterministic: Bool { true }",
            "var count = 0 count += String.columnWidth count += Int?.columnWidth return count",
            "let body: @Sendable (String, Int?) throws -> String",
            """
            func callAsFunction(
                _ p0: some TypedQueries.QueryExpression<String>,
                to p1: some TypedQueries.QueryExpression<Int?> = TypedQueries.BindQueryExpression(3, as: Int?.self)
            ) -> some TypedQueries.QueryExpression<String> {
                TypedQueries.DatabaseFunctionCall<String>(name, [p0, p1])
            }
            """,
            """
            let p0 = try decoder.value(String.self)
            let p1 = try decoder.value(Int?.self)
            return TypedQueries.QueryBinding(try body(p0, p1), as: String.self)
            """)
    }

    @Test func theNameAndTheRepresentationsCanBeChosen() {
        expectExpansion(
            """
            @DatabaseFunction("days", as: ((Date.UnixTimeRepresentation) -> Date.JulianDayRepresentation).self)
            public func wholeDay(of date: Date) -> Date { date }
            """,
            has: "public nonisolated var $wholeDay", "public let name = \"days\"",
            "of p0: some TypedQueries.QueryExpression<Date.UnixTimeRepresentation>",
            "let body: @Sendable (Date) throws -> Date", "{ p0 in wholeDay(of: p0) }",
            "as: Date.JulianDayRepresentation.self)")
    }

    @Test func aFunctionMayThrowAndReturnNothing() {
        expectExpansion(
            "@DatabaseFunction func log(_ text: String) throws { print(text) }",
            has: "{ p0 in try log(p0) }", "typealias Output = Swift.Void",
            "let body: @Sendable (String) throws -> Swift.Void", "try body(p0) return .null")
    }

    @Test func aMemberIsStatic() {
        expectExpansion(
            "enum Functions { @DatabaseFunction static func now() -> Date { .now } }",
            has: "nonisolated static var $now", "(body: { now() })", "var argumentCount: Int { 0 }")
    }

    @Test func aSequenceMakesAnAggregate() {
        expectExpansion(
            "@DatabaseFunction func median(_ numbers: some Sequence<Double>) -> Double? { nil }",
            has: ": TypedQueries.AggregateDatabaseFunction", "(body: { rows in median(rows) })",
            "let body: @Sendable ([Double]) throws -> Double?",
            "_ p0: some TypedQueries.QueryExpression<Double>",
            "filter: (some TypedQueries.QueryExpression<Swift.Bool>)? = Swift.Bool?.none",
            "-> Double { try decoder.value(Double.self) }")
    }

    @Test func anAggregateOfTuplesHasSeveralArguments() {
        expectExpansion(
            """
            @DatabaseFunction(as: ((any Sequence<(String, Date.UnixTimeRepresentation)>) -> String).self)
            func join(rows: some Sequence<(name: String, at: Date)>) throws -> String { "" }
            """,
            has: "{ rows in try join(rows: rows) }",
            "let body: @Sendable ([(name: String, at: Date)]) throws -> String",
            "name p0: some TypedQueries.QueryExpression<String>",
            "at p1: some TypedQueries.QueryExpression<Date.UnixTimeRepresentation>",
            "(name: try decoder.value(String.self), at: try decoder.value(Date.UnixTimeRepresentation.self))")
    }

    @Test func aPropertyIsAnExpression() {
        expectExpansion(
            "enum State { @DatabaseFunction(\"is_on\") static var isOn: Bool { true } }",
            has: "(body: { isOn })", ": TypedQueries.ScalarDatabaseFunction, TypedQueries.QueryExpression {",
            "typealias QueryValue = Bool",
            "var queryFragment: TypedQueries.QueryFragment { callAsFunction().queryFragment }")
    }

    @Test func aMemberOfAnInstanceIsCalledOnIt() {
        expectExpansion(
            "struct A { @DatabaseFunction func f(_ n: Int) -> Int { n } }",
            has: "(body: { p0 in self.f(p0) })")
        expectExpansion(
            "struct A { @DatabaseFunction var state: Bool { true } }", has: "(body: { self.state })")
    }

    @Test func aFunctionIsCalledWhereItIsAvailable() {
        expectExpansion(
            "@available(iOS 26, *) @DatabaseFunction @available(*, noasync) func f() -> Int { 1 }",
            has: "@available(iOS 26, *) nonisolated var $f", "@available(iOS 26, *) nonisolated struct")
        expectExpansion(
            """
            @available(iOS 18, *) enum Functions {
                @available(iOS 26, *) @DatabaseFunction static var f: Int { 1 }
            }
            """,
            has: "static var f: Int { 1 } @available(iOS 26, *) nonisolated static var $f")
    }

    @Test func aPrivateFunctionStaysInItsFile() {
        expectExpansion(
            "@DatabaseFunction private func f() -> Int { 1 }", has: "fileprivate nonisolated var $f",
            "fileprivate nonisolated struct")
    }
}

@Suite struct DatabaseFunctionDiagnosticsTests {
    @Test func aFunctionIsNotAsynchronous() {
        expectDiagnostics(
            "@DatabaseFunction func f() 👉async throws -> Int { 1 }",
            .error("SQLite can't wait: the function must not be 'async'", "Remove 'async'"),
            fix: "Remove 'async'", fixed: "@DatabaseFunction func f() throws -> Int { 1 }")
    }

    @Test func aFunctionIsNotGeneric() {
        expectDiagnostics(
            "@DatabaseFunction func f👉<T>(_ a: T) -> Int { 1 }",
            .error(
                "SQLite passes values of fixed types: the function can't be generic",
                "Remove the generic parameters"),
            fix: "Remove the generic parameters", fixed: "@DatabaseFunction func f(_ a: T) -> Int { 1 }")
    }

    @Test func parametersAreValues() {
        expectDiagnostics(
            "@DatabaseFunction func f(_ a: Int👉..., b: 👉inout Int, c: 👉any P) -> Int { 1 }",
            .error("a database function takes a fixed number of values", "Take one value"),
            .error("'inout' has no meaning for a value from SQLite", "Remove 'inout'"),
            .error(
                "SQLite passes values of fixed types: only an aggregate's 'some Sequence<Element>' is open",
                "Name a type"))
        expectDiagnostics(
            "@DatabaseFunction func f(b: 👉inout Int) -> Int { 1 }",
            .error("'inout' has no meaning for a value from SQLite", "Remove 'inout'"),
            fix: "Remove 'inout'", fixed: "@DatabaseFunction func f(b: Int) -> Int { 1 }")
    }

    @Test func anAggregateTakesOneSequence() {
        expectDiagnostics(
            "@DatabaseFunction func f(_ a: 👉some Sequence<Int>, b: Int) -> Int { 1 }",
            .error(
                "an aggregate takes one sequence: for several columns, make its elements tuples",
                "Keep the sequence only"),
            fix: "Keep the sequence only",
            fixed: "@DatabaseFunction func f(_ a: some Sequence<Int>) -> Int { 1 }")
    }

    @Test func representationsAreAsManyAsParameters() {
        expectDiagnostics(
            "@DatabaseFunction(as: 👉((Int, Int) -> Int).self) func f(_ a: Int) -> Int { 1 }",
            .error("'as:' names 2 and the function takes 1", "Use the function's own types"),
            fix: "Use the function's own types",
            fixed: "@DatabaseFunction(as: ((Int) -> Int).self) func f(_ a: Int) -> Int { 1 }")
    }

    @Test func aTypeIsNoFunction() {
        expectDiagnostics(
            "👉@DatabaseFunction struct A {}",
            .error(
                "'@DatabaseFunction' can only be attached to a function or a property",
                "Remove '@DatabaseFunction'"),
            fix: "Remove '@DatabaseFunction'", fixed: "struct A {}")
    }

    @Test func aPropertyNamesItsType() {
        expectDiagnostics(
            "@DatabaseFunction var 👉answer = 42",
            .error("the type of 'answer' must be written", "Add the type 'Int'"),
            fix: "Add the type 'Int'", fixed: "@DatabaseFunction var answer: Int = 42")
    }

    @Test func aMemberOfAnActorIsNotIsolated() {
        expectDiagnostics(
            "actor A { 👉@DatabaseFunction func f(_ a: Int) -> Int { a } }",
            .error(
                "SQLite can't wait for an actor: the member must be 'static' or 'nonisolated'",
                "Remove '@DatabaseFunction'"))
        expectExpansion("actor A { @DatabaseFunction static func f(_ a: Int) -> Int { a } }")
        expectExpansion("actor A { @DatabaseFunction nonisolated func f(_ a: Int) -> Int { a } }")
    }
}
