import Testing

@testable import CipherStoreMacros

@Suite struct TableDiagnosticsTests {
    @Test func onlyAStructOrAnEnumIsATable() {
        expectDiagnostics(
            "@Table 👉class Tag { let id = 1 }",
            .error("'@Table' can only be attached to a struct or an enum", "Use 'struct'", "Remove '@Table'"),
            fix: "Use 'struct'", fixed: "@Table struct Tag { let id = 1 }")
        expectDiagnostics(
            "@Table 👉actor Tag {}",
            .error("'@Table' can only be attached to a struct or an enum", "Use 'struct'", "Remove '@Table'"),
            fix: "Remove '@Table'", fixed: "actor Tag {}")
        expectDiagnostics(
            "@Selection 👉protocol Tag {}",
            .error("'@Selection' can only be attached to a struct or an enum", "Remove '@Selection'"))
    }

    @Test func aGenericEnumIsNoTable() {
        expectDiagnostics("@Table struct Tag<Value> { let id: Int }")
        expectDiagnostics(
            "@Selection enum Tag👉<Value> { case a(Int) }",
            .error(
                "'@Selection' can't be attached to a generic enum: its cases have one type each",
                "Remove the generic parameters"),
            fix: "Remove the generic parameters", fixed: "@Selection enum Tag { case a(Int) }")
    }

    @Test func aTableNeedsAColumn() {
        expectDiagnostics(
            "@Table struct 👉Tag {\n}",
            .error("'@Table' needs at least one stored property for a column", "Add a property"),
            fix: "Add a property", fixed: "@Table struct Tag {\n    var <#name#>: <#Type#>\n}")
        expectDiagnostics(
            "@Selection enum 👉Kind {}",
            .error("'@Selection' needs at least one case for a column", "Add a case"),
            fix: "Add a case", fixed: "@Selection enum Kind {\n    case <#name#>(<#Type#>)\n}")
    }

    @Test func aTypeThatTheSourceHidesMustBeWritten() {
        expectDiagnostics(
            "@Table struct Tag { var 👉title = makeTitle() }",
            .error("the type of 'title' can't be seen in the source: write it", "Add a type"),
            fix: "Add a type", fixed: "@Table struct Tag { var title: <#Type#> = makeTitle() }")
    }

    @Test func aPrivatePropertyIsNoColumn() {
        let message = "'note' can't be private: queries and drafts are declared beside the type and use it"
        let titles = ["Remove 'private'", "Use 'fileprivate'", "Use 'private(set)'"]
        for (title, fixed) in zip(titles, ["var", "fileprivate var", "private(set) var"]) {
            expectDiagnostics(
                "@Table struct Tag {\n    👉private var note = \"\"\n}",
                .error(message, titles[0], titles[1], titles[2]),
                fix: title, fixed: "@Table struct Tag {\n    \(fixed) note = \"\"\n}")
        }
        expectExpansion("@Table struct Tag { private(set) var note = \"\"; @Ephemeral private var x = 1 }")
    }

    @Test func aPropertyThatIsNoOptionalDoesNotUnwrap() {
        expectDiagnostics(
            "@Table struct Tag { var note: 👉String! }",
            .error(
                "'String!' would trap on NULL: a column is optional or it is not", "Use 'String?'",
                "Use 'String'"),
            fix: "Use 'String?'", fixed: "@Table struct Tag { var note: String? }")
    }

    @Test func twoColumnsHaveTwoNames() {
        expectDiagnostics(
            "@Table struct Tag { var title = \"\"; @Column(👉\"Title\") var name = \"\" }",
            .error("the column 'Title' belongs to 'title' already", "Remove the name"),
            fix: "Remove the name", fixed: "@Table struct Tag { var title = \"\"; @Column var name = \"\" }")
    }

    @Test func aConstantWithAValueIsNoColumn() {
        expectDiagnostics(
            "@Table struct Tag {\n    var title = \"\"\n    👉let kind = \"tag\"\n}",
            .warning(
                "'kind' is no column: a constant with a value can't be read from a row",
                "Use 'var' to read it from a column", "Mark it '@Ephemeral' to silence this"),
            fix: "Mark it '@Ephemeral' to silence this",
            fixed: "@Table struct Tag {\n    var title = \"\"\n    @Ephemeral let kind = \"tag\"\n}")
        expectDiagnostics(
            "@Table struct Tag { var title = \"\"; @Column(\"k\") 👉let kind = \"tag\" }",
            .error(
                "'kind' has a value already, so that no column can be read into it",
                "Use 'var' to read it from a column", "Remove '@Column'"),
            fix: "Use 'var' to read it from a column",
            fixed: "@Table struct Tag { var title = \"\"; @Column(\"k\") var kind = \"tag\" }")
    }

    @Test func aTupleIsNoColumn() {
        expectDiagnostics(
            "@Table struct Tag { var 👉(a, b) = (1, 2) }",
            .error(
                "a column is a property with a name: declare each one by itself",
                "Replace the pattern by a name"))
    }

    @Test func aColumnDoesNotDependOnTheBuild() {
        expectDiagnostics(
            "@Table struct Tag {\n    var a = 1\n    👉#if DEBUG\n    var b = 1\n    #endif\n}",
            .error("a column can't depend on '#if': the table has it in each build"))
        expectDiagnostics(
            "@Table struct Tag {\n    var a = 1\n    👉#if A\n    #if B\n    var b = 1\n    #endif\n    #endif\n}",
            .error("a column can't depend on '#if': the table has it in each build"))
        expectDiagnostics(
            "@Table struct Tag {\n    👉#if A\n    @Column(\"x\")\n    #endif\n    var a = 1\n}",
            .error("what a column is can't depend on '#if': the table has it in each build"))
        expectExpansion(
            "@Table struct Tag {\n    var a = 1\n    #if DEBUG\n    var b: Int { 1 }\n    #endif\n}")
    }

    @Test func namesAreLiterals() {
        expectDiagnostics(
            "@Table(👉name) struct Tag { var title = \"\" }",
            .error("a table's name must be a string literal without interpolation", "Write the name here"),
            fix: "Write the name here", fixed: "@Table(\"<#name#>\") struct Tag { var title = \"\" }")
        expectDiagnostics(
            "@Table(schema: 👉\"a\\(b)\") struct Tag { var title = \"\" }",
            .error("a schema's name must be a string literal without interpolation", "Write the name here"))
        expectDiagnostics(
            "@Table(👉\"\", schema: \"x\") struct Tag { @Column(👉\"\") var title = \"\" }",
            .error("a table's name must not be empty", "Remove the argument and use the default name"),
            .error("a column's name must not be empty", "Remove the argument and use the default name"))
    }

    @Test func aTableIsASelectionAnyway() {
        expectDiagnostics(
            "@Table 👉@Selection struct Tag { var title = \"\" }",
            .warning("'@Table' does all that '@Selection' does", "Remove '@Selection'"),
            fix: "Remove '@Selection'", fixed: "@Table struct Tag { var title = \"\" }")
    }
}
