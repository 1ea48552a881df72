import Testing

@testable import CipherStoreMacros

@Suite struct DraftTests {
    @Test func aDraftHasTheColumnsWithAnOptionalKey() {
        expectExpansion(
            """
            @Table struct Reminder {
                let id: Int
                var title = ""
                var date: Date?
                let listID: Int
            }
            """,
            has: """
                nonisolated struct Draft: TypedQueries.TableDraft {
                    typealias PrimaryTable = Reminder
                    typealias QueryValue = Self
                    typealias QueryOutput = Self
                    var id: Int?
                    var title: Swift.String
                    var date: Date?
                    let listID: Int
                    nonisolated struct TableColumns: TypedQueries.DraftDefinition {
                        typealias QueryValue = Draft
                        init() {
                        }
                        var id: TypedQueries.TableColumn<Draft, Int?> {
                            .init("id")
                        }
                """,
            "static var tableName: String { Reminder.tableName }",
            "width += Int?.columnWidth width += Swift.String.columnWidth width += Date?.columnWidth",
            """
            init(_ other: Reminder) {
                self.id = other.id
                self.title = other.title
                self.date = other.date
                self.listID = other.listID
            }
            init(
                id: Int? = nil,
                title: Swift.String = "",
                date: Date? = nil,
                listID: Int
            ) {
                self.id = id
            """)
    }

    @Test func aKeyWithADefaultValueIsLeftToTheDatabase() {
        expectExpansion(
            "@Table struct A { var id = UUID(); var title: String }",
            has: "init( id: UUID? = nil, title: String )")
    }

    @Test func anOptionalKeyStaysAsItIs() {
        expectExpansion(
            "@Table struct A { var id: Int? }", has: "typealias PrimaryKey = Int?",
            "TypedQueries.TableColumn<Draft, Int?>", "init( id: Int? = nil )")
    }

    @Test func aLazyColumnMayBeLeftToTheDatabase() {
        expectExpansion(
            "@Table struct A { let id: Int; @Column(lazyInitializable: true) let createdAt: Date }",
            has: "var createdAt: Date?", "TypedQueries.TableColumn<A, Date> {",
            "TypedQueries.TableColumn<Draft, Date?> {", "init( id: Int? = nil, createdAt: Date? = nil )")
    }

    @Test func aKeyThatIsNotLazyMustBeGiven() {
        expectExpansion(
            "@Table struct A { @Column(lazyInitializable: false) let id: Int }",
            has: "TypedQueries.TableColumn<Draft, Int> {", "init( id: Int )")
    }

    @Test func aDefaultValueThatCallersMayNotKnowIsAConstant() {
        expectExpansion(
            """
            @Table public struct A {
                public let id: Int
                public var depth: Int = standardDepth
                public var low = -1
                public var title = "\\(standardTitle)"
            }
            """,
            has: """
                public init(
                    id: Int? = nil,
                    depth: Int = default0,
                    low: Swift.Int = -1,
                    title: Swift.String = default1
                ) {
                """,
            "@usableFromInline static var default0: Int { standardDepth }",
            "@usableFromInline static var default1: Swift.String { \"\\(standardTitle)\" }",
            "depth: some TypedQueries.QueryExpression<Int> = default0,",
            "title: some TypedQueries.QueryExpression<Swift.String> = default2",
            """
            @usableFromInline static var default0: TypedQueries.BindQueryExpression<Int> {
                TypedQueries.BindQueryExpression(standardDepth, as: (Int).self)
            }
            """)
        expectExpansion(
            "@Table package struct A { package let id: Int; package var depth: Int = standardDepth }",
            has: "package init( id: Int? = nil, depth: Int = default0 )",
            "package static var default0: Int { standardDepth }")
    }

    @Test func aDefaultValueThatAllCallersKnowStandsInTheInitializer() {
        expectExpansion(
            "@Table struct A { let id: Int; var depth: Int = standardDepth }",
            has: "init( id: Int? = nil, depth: Int = standardDepth )")
        expectExpansion(
            "@Table public struct A { public let id: Int; public var depth = 1; var note: Int = standard }",
            has: "} init( id: Int? = nil, depth: Swift.Int = 1, note: Int = standard )")
        expectExpansion(
            "enum Schema { @Table public struct A { public let id: Int; public var kind: Kind = .plain } }",
            has: "public init( id: Int? = nil, kind: Kind = .plain )")
    }

    @Test func aSchemaIsTheTables() {
        expectExpansion(
            "@Table(schema: \"x\") struct A { let id: Int }",
            has:
                "static var tableName: String { A.tableName } static var schemaName: String? { A.schemaName }"
        )
    }

    @Test func namesOfTheTypeMeanTheSameInItsDraft() {
        expectExpansion(
            """
            @Table struct A {
                let id: ID
                var kind: Kind = .plain
                @Column(as: [Kind].JSONRepresentation.self) var kinds: [Kind] = []
                var other: Self.Kind = Self.standard
                var last = Kind.plain
                var far: Other.Kind
                struct ID {}
                enum Kind {}
            }
            """,
            has: "id: A.ID? = nil", "kind: A.Kind = .plain", "kinds: [A.Kind] = []",
            "TypedQueries.TableColumn<Draft, [A.Kind].JSONRepresentation>",
            "other: A.Kind = A.standard",
            "last: A.Kind = A.Kind.plain", "far: Other.Kind )")
    }
}
