import Testing

@testable import CipherStoreMacros

@Suite struct SQLMacroTests {
    @Test func textAndValuesBecomeAnExpression() {
        expectExpansion(
            #"let x = #sql("SELECT \(Reminder.columns) FROM \(Reminder.self) WHERE \(id) = 1")"#,
            has:
                #"TypedQueries.SQLQueryExpression("SELECT \(Reminder.columns) FROM \(Reminder.self) WHERE \(id) = 1")"#
        )
    }

    @Test func aStaticFunctionHasACondition() {
        expectExpansion(
            "struct A { @ProjectedSQL(text) public static func isDone(_ db: Database) -> Bool { true } }",
            has: "public nonisolated static var $isDone: TypedQueries.SQLQueryExpression<Bool> {",
            "TypedQueries.SQLQueryExpression(\"\\(raw: text)\", as: Bool.self)")
    }

    @Test func theTypeIsHandedOn() {
        expectExpansion(
            #"let x = #sql("count(*)", as: Int.self)"#,
            has: #"TypedQueries.SQLQueryExpression("count(*)", as: Int.self)"#)
        expectExpansion(
            "let x = #bind(date, as: Date.UnixTimeRepresentation.self)",
            has: "TypedQueries.BindQueryExpression(date, as: Date.UnixTimeRepresentation.self)")
    }

    @Test func quotesBracketsAndCommentsInOrderAreAccepted() {
        expectExpansion(
            #"let x = #sql("a = '(' AND b = 'it''s' AND \"c)\" = `d(` -- (\n OR [e(] = /* ' */ (1)")"#)
        expectExpansion(##"let x = #sql(#"SELECT "a" || '\(' || \#(b)"#)"##)
        expectExpansion("let x = #sql(\"\"\"\n    SELECT (\n      1\n    ) -- it's\n    \"\"\")")
        expectExpansion(#"let x = #sql("'\(raw: text)' \(quote: name) \(bind: value)")"#)
        expectExpansion(#"let x = #sql("a->'$.b' || '@c' || ':d' || '?' || a$b")"#)
    }

    @Test func aBracketThatIsNeverClosedIsMarked() {
        expectDiagnostics(
            #"let x = #sql("SELECT 👉(1")"#,
            .warning("'(' is never closed in this SQL", "Add ')' at the end"),
            fix: "Add ')' at the end", fixed: #"let x = #sql("SELECT (1)")"#)
    }

    @Test func aBracketThatClosesNothingIsMarked() {
        expectDiagnostics(
            #"let x = #sql("SELECT (1)👉) + ä👉)")"#,
            .warning("')' closes nothing in this SQL", "Remove it"),
            .warning("')' closes nothing in this SQL", "Remove it"))
        expectDiagnostics(
            #"let x = #sql("SELECT 1👉)")"#, .warning("')' closes nothing in this SQL", "Remove it"),
            fix: "Remove it", fixed: #"let x = #sql("SELECT 1")"#)
    }

    @Test func aQuoteThatNeverEndsIsMarked() {
        expectDiagnostics(
            #"let x = #sql("SELECT 👉'it")"#,
            .warning("the text that ' begins here never ends", "Add ''' at the end"),
            fix: "Add ''' at the end", fixed: #"let x = #sql("SELECT 'it'")"#)
        expectDiagnostics(
            #"let x = #sql("SELECT 👉\"it")"#,
            .warning("the text that \" begins here never ends", "Add '\"' at the end"),
            fix: "Add '\"' at the end", fixed: #"let x = #sql("SELECT \"it\"")"#)
        expectDiagnostics(
            #"let x = #sql("SELECT 👉[it")"#,
            .warning("the text that [ begins here never ends", "Add ']' at the end"))
        expectDiagnostics(
            #"let x = #sql("SELECT 1 👉/* it")"#, .warning("this comment never ends", "Add ' */' at the end"))
    }

    @Test func aValueBetweenQuotesIsAnError() {
        let message = "SQLite sees no value between quotes ('): it would read a question mark"
        let remove = "Remove the quotes and bind the value"
        let raw = "Put it into the text unchecked, with 'raw:'"
        expectDiagnostics(
            #"let x = #sql("a = '👉\(b)'", as: Bool.self)"#, .error(message, remove, raw),
            fix: remove, fixed: #"let x = #sql("a = \(b)", as: Bool.self)"#)
        expectDiagnostics(
            #"let x = #sql("a LIKE '%👉\(b)%'")"#, .error(message, raw),
            fix: raw, fixed: #"let x = #sql("a LIKE '%\(raw: b)%'")"#)
        expectDiagnostics(
            #"let x = #sql("1 -- 👉\(b)")"#, .error("SQLite sees no value in a comment", raw))
    }

    @Test func aNameBetweenQuotesIsQuotedByTheLibrary() {
        expectDiagnostics(
            #"let x = #sql("SELECT \"👉\(b)\"")"#,
            .error(
                "SQLite sees no value between quotes (\"): it would read a question mark",
                "Use 'quote:' in the place of the quotes", "Put it into the text unchecked, with 'raw:'"),
            fix: "Use 'quote:' in the place of the quotes", fixed: #"let x = #sql("SELECT \(quote: b)")"#)
    }

    @Test func aPlaceholderWithoutAValueIsAnError() {
        expectDiagnostics(
            #"let x = #sql("a = 👉?")"#,
            .error("'?' would have no value: bind one with '\\(…)'", "Bind a value in its place"),
            fix: "Bind a value in its place", fixed: ##"let x = #sql("a = \(<#value#>)")"##)
        expectDiagnostics(
            #"let x = #sql("a = 👉:name AND b = 👉?2 AND c = 👉$d AND e = 👉@f")"#,
            .error("':name' would have no value: bind one with '\\(…)'", "Bind a value in its place"),
            .error("'?2' would have no value: bind one with '\\(…)'", "Bind a value in its place"),
            .error("'$d' would have no value: bind one with '\\(…)'", "Bind a value in its place"),
            .error("'@f' would have no value: bind one with '\\(…)'", "Bind a value in its place"))
    }

    @Test func linesOfALongTextAreNamedRightly() {
        expectDiagnostics(
            "let x = #sql(\n    \"\"\"\n    SELECT 'ä' ||\n      👉(1\n    \"\"\")",
            .warning("'(' is never closed in this SQL", "Add ')' at the end"),
            fix: "Add ')' at the end",
            fixed: "let x = #sql(\n    \"\"\"\n    SELECT 'ä' ||\n      (1)\n    \"\"\")")
    }
}
