import Testing

@testable import CipherStoreMacros

@Suite struct ColumnDiagnosticsTests {
    @Test func thereIsOnePrimaryKey() {
        expectDiagnostics(
            "@Table struct A { @Column(primaryKey: true) let a: Int; @Column(\"x\", 👉primaryKey: true) let b: Int }",
            .error(
                "'a' is the primary key already: "
                    + "for a key of several columns, use a property of a nested '@Selection' struct",
                "Remove 'primaryKey: true'"),
            fix: "Remove 'primaryKey: true'",
            fixed: "@Table struct A { @Column(primaryKey: true) let a: Int; @Column(\"x\") let b: Int }")
    }

    @Test func aComputedColumnIsNoPrimaryKey() {
        expectDiagnostics(
            "@Table struct A { @Column(👉generated: .stored, primaryKey: true) let a: Int }",
            .error("SQLite refuses a computed primary key", "Remove 'generated:'"),
            fix: "Remove 'generated:'", fixed: "@Table struct A { @Column(primaryKey: true) let a: Int }")
    }

    @Test func aComputedColumnIsAConstant() {
        expectDiagnostics(
            "@Table struct A { let id: Int; @Column(generated: .virtual) 👉var a: Int = 1 }",
            .error("SQLite computes 'a': it must be a 'let' without a value", "Use 'let'"),
            fix: "Use 'let'",
            fixed: "@Table struct A { let id: Int; @Column(generated: .virtual) let a: Int }")
    }

    @Test func argumentsAreLiterals() {
        expectDiagnostics(
            "@Table struct A { @Column(primaryKey: 👉isKey) let a: Int }",
            .error(
                "'primaryKey:' must be 'true' or 'false': the macro reads source, no values", "Use 'true'",
                "Use 'false'"),
            fix: "Use 'true'", fixed: "@Table struct A { @Column(primaryKey: true) let a: Int }")
        expectDiagnostics(
            "@Table struct A { @Column(generated: 👉kind) let a: Int }",
            .error(
                "'generated:' must be '.stored' or '.virtual': the macro reads source, no values",
                "Use '.virtual'", "Use '.stored'"),
            fix: "Use '.stored'", fixed: "@Table struct A { @Column(generated: .stored) let a: Int }")
        expectDiagnostics(
            "@Table struct A { @Column(as: 👉Date.UnixTimeRepresentation) let a: Date }",
            .error(
                "'as:' takes a type: write 'Date.UnixTimeRepresentation.self'", "Add '.self'"),
            fix: "Add '.self'",
            fixed: "@Table struct A { @Column(as: Date.UnixTimeRepresentation.self) let a: Date }")
    }

    @Test func aCollectionNeedsARepresentation() {
        expectDiagnostics(
            "@Table struct A {\n    // Words.\n    var tags: 👉[String] = []\n}",
            .error("SQLite has no '[String]': 'tags' needs a representation", "Store it as JSON"),
            fix: "Store it as JSON",
            fixed: """
                @Table struct A {
                    // Words.
                    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
                }
                """)
        expectDiagnostics(
            "@Table struct A { @Column(\"t\") var tags: 👉[String: Int]? }",
            .error("SQLite has no '[String: Int]?': 'tags' needs a representation", "Store it as JSON"),
            fix: "Store it as JSON",
            fixed: """
                @Table struct A { @Column("t", as: [String: Int].JSONRepresentation?.self) var tags: [String: Int]? }
                """)
        expectDiagnostics(
            "@Table struct A { let id: Int; var 👉ids = Set<Int>(), 👉more = [1] }",
            .error(
                "SQLite has no 'Set<Int>': 'ids' needs a representation", "Declare each property by itself"),
            .error("SQLite has no '[Int]': 'more' needs a representation", "Declare each property by itself"))
        expectExpansion("@Table struct A { var bytes: [UInt8] = []; var data: Data }")
    }

    @Test func tuplesAndFunctionsAreNoColumns() {
        expectDiagnostics(
            "@Table struct A { var pair: 👉(Int, Int); var run: 👉(() -> Void)? = nil }",
            .error(
                "SQLite has no tuples: make 'pair' a struct with '@Selection' to store it in several columns",
                "Name a type"),
            .error("SQLite has no functions: 'run' can't be a column", "Mark it '@Ephemeral'"))
        expectDiagnostics(
            "@Table struct A { let id: Int; var run: 👉@Sendable () -> Void = {} }",
            .error("SQLite has no functions: 'run' can't be a column", "Mark it '@Ephemeral'"),
            fix: "Mark it '@Ephemeral'",
            fixed: "@Table struct A { let id: Int; @Ephemeral var run: @Sendable () -> Void = {} }")
    }

    @Test func anEphemeralPropertyNeedsAValue() {
        expectDiagnostics(
            "@Table struct A { var b = 1; @Ephemeral var 👉a: Int }",
            .error("'@Ephemeral' needs a default value: no column gives 'a' one", "Add a default value"),
            fix: "Add a default value",
            fixed: "@Table struct A { var b = 1; @Ephemeral var a: Int = <#value#> }")
    }

    @Test func anEphemeralPropertyIsNoColumn() {
        expectDiagnostics(
            "@Table struct A { var b = 1; @Ephemeral 👉@Column(\"x\") var a = 1 }",
            .error(
                "a property is either '@Ephemeral' or a column", "Remove '@Column'", "Remove '@Ephemeral'"),
            fix: "Remove '@Column'", fixed: "@Table struct A { var b = 1; @Ephemeral var a = 1 }")
    }

    @Test func anAttributeOfNoColumnIsUseless() {
        expectDiagnostics(
            """
            @Table struct A {
                var b = 1
                👉@Column("x") static var a = 1
                👉@Ephemeral var c: Int { 1 }
                👉@Column lazy var d = 1
            }
            """,
            .warning(
                "'@Column' has no effect: a static or computed property is no column", "Remove '@Column'"),
            .warning(
                "'@Ephemeral' has no effect: a static or computed property is no column anyway",
                "Remove '@Ephemeral'"),
            .warning("'@Column' has no effect: a lazy property is no column", "Remove '@Column'"))
    }

    @Test func aColumnNameIsOfOneProperty() {
        expectDiagnostics(
            "@Table struct A {\n    👉👉@Column(\"x\") var a, b: Int\n}",
            // Swift itself says this, without a fix.
            .error("peer macro can only be applied to a single variable"),
            .error(
                "'@Column' names one column: declare each property by itself",
                "Declare each property by itself"),
            fix: "Declare each property by itself",
            fixed: "@Table struct A {\n    @Column(\"x\") var a: Int\n    var b: Int\n}")
    }

    @Test func anAttributeBelongsInATable() {
        expectDiagnostics(
            "struct A {\n    👉@Column(\"x\") var a: Int\n    👉@Ephemeral var b = 1\n}",
            .error("'@Column' belongs in a type with '@Table' or '@Selection'", "Remove '@Column'"),
            .error("'@Ephemeral' belongs in a type with '@Table' or '@Selection'", "Remove '@Ephemeral'"))
        expectDiagnostics(
            "👉@Column(\"x\") var a: Int",
            .error("'@Column' belongs in a type with '@Table' or '@Selection'", "Remove '@Column'"),
            fix: "Remove '@Column'", fixed: "var a: Int")
    }

    @Test func columnsIsTheOldNameOfColumn() {
        expectDiagnostics(
            "@Table struct A { @👉Columns(primaryKey: true) let a: ID }",
            .warning("'@Columns' is called '@Column'", "Use '@Column'"),
            fix: "Use '@Column'", fixed: "@Table struct A { @Column(primaryKey: true) let a: ID }")
    }

    @Test func aSelectionHasNoArgumentsOfATable() {
        expectDiagnostics(
            "@Selection struct A { @Column(\"x\", 👉primaryKey: true) let a: Int }",
            .warning(
                "'primaryKey:' has no effect in '@Selection': only a table has it", "Remove 'primaryKey:'"),
            fix: "Remove 'primaryKey:'", fixed: "@Selection struct A { @Column(\"x\") let a: Int }")
        // A group in a table may have a column that the database makes.
        expectDiagnostics("@Selection struct A { @Column(generated: .virtual) let a: Int }")
    }

    @Test func aCaseHasOneValue() {
        expectDiagnostics(
            "@Selection enum A { case 👉a, b👉(Int, String), c(👉Int?) }",
            .error(
                "the case 'a' needs a value: a row of this case is one whose column isn't NULL", "Add a value"
            ),
            .error(
                "the case 'b' must have one value: group several in a '@Selection' struct", "Use one value"),
            .error(
                "the value of 'c' can't be optional: NULL says that the row is of another case", "Use 'Int'"))
        expectDiagnostics(
            "@Selection enum A { case 👉a }",
            .error(
                "the case 'a' needs a value: a row of this case is one whose column isn't NULL", "Add a value"
            ),
            fix: "Add a value", fixed: "@Selection enum A { case a(<#Type#>) }")
        expectDiagnostics(
            "@Selection enum A { case c(👉Int?) }",
            .error(
                "the value of 'c' can't be optional: NULL says that the row is of another case", "Use 'Int'"),
            fix: "Use 'Int'", fixed: "@Selection enum A { case c(Int) }")
        expectDiagnostics(
            "@Selection enum A { case c(👉Optional<Int>) }",
            .error(
                "the value of 'c' can't be optional: NULL says that the row is of another case", "Use 'Int'"),
            fix: "Use 'Int'", fixed: "@Selection enum A { case c(Int) }")
    }

    @Test func twoCasesHaveTwoColumns() {
        expectDiagnostics(
            "@Selection enum A {\n    case a(Int)\n    @Column(👉\"a\") case b(Int)\n}",
            .error("the column 'a' belongs to another case already", "Remove the name"))
    }
}
