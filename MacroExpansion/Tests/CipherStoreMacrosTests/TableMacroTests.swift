import Testing

@testable import CipherStoreMacros

@Suite struct TableMacroTests {
    @Test func aTableHasColumnsANameAndARowToDecode() {
        expectExpansion(
            """
            @Table struct Tag {
                var title = ""
                var count: Int?
            }
            """,
            has: """
                nonisolated struct TableColumns: TypedQueries.TableDefinition {
                    typealias QueryValue = Tag
                    init() {
                    }
                    var title: TypedQueries.TableColumn<Tag, Swift.String> {
                        .init("title")
                    }
                    var count: TypedQueries.TableColumn<Tag, Int?> {
                        .init("count")
                    }
                    static var columnList: TypedQueries.ColumnList {
                        let columns = Self()
                        return .init(
                            columns.title,
                            columns.count
                        )
                    }
                }
                nonisolated enum ColumnTypes {
                    typealias title = Swift.String
                    typealias count = Int?
                }
                """,
            """
            nonisolated extension Tag: TypedQueries.Table {
                typealias QueryValue = Self
                typealias QueryOutput = Self
                static var tableName: String {
                    "tags"
                }
                static var columnWidth: Int {
                    var width = 0
                    width += ColumnTypes.title.columnWidth
                    width += ColumnTypes.count.columnWidth
                    return width
                }
                init(decoder: inout some TypedQueries.QueryDecoder) throws {
                    self.title = try decoder.value(ColumnTypes.title.self)
                    self.count = try decoder.value(ColumnTypes.count.self)
                }
                func writeValues(to row: inout TypedQueries.RowWriter) {
                    row.write(self.title, as: ColumnTypes.title.self)
                    row.write(self.count, as: ColumnTypes.count.self)
                }
            }
            """)
    }

    @Test func aTableWithoutAKeyHasNoDraft() {
        #expect(!expectExpansion("@Table struct Tag { var title = \"\" }").contains("Draft"))
        #expect(
            !expectExpansion("@Table struct Tag { @Column(primaryKey: false) let id: Int }").contains(
                "PrimaryKey"))
    }

    @Test func namesAndSchemaAreTakenFromTheArguments() {
        expectExpansion(
            "@Table(\"old \\\"tags\\\"\", schema: \"archive\") struct Tag { @Column(\"tag_title\") var title: String }",
            has: ##"static var tableName: String { #"old "tags""# }"##,
            #"static var schemaName: String? { "archive" }"#, #".init("tag_title")"#)
    }

    @Test func thePropertyIDIsThePrimaryKey() {
        expectExpansion(
            "@Table struct Tag { let id: UUID; var title: String }",
            has: "struct TableColumns: TypedQueries.PrimaryKeyedTableDefinition",
            "typealias PrimaryKey = UUID var primaryKey: TypedQueries.TableColumn<Tag, UUID> { id }",
            "extension Tag: TypedQueries.Table, TypedQueries.PrimaryKeyedTable {")
    }

    @Test func anotherPropertyMayBeThePrimaryKey() {
        expectExpansion(
            "@Table struct Tag { let id: Int; @Column(primaryKey: true) let name: String }",
            has: "var primaryKey: TypedQueries.TableColumn<Tag, String> { name }",
            "let id: Int var name: String?")
        expectExpansion(
            "@Table struct Tag { @Column(primaryKey: true) let primaryKey: String }",
            has: "typealias PrimaryKey = String static var columnList")
    }

    @Test func aKeyOfSeveralColumnsIsANestedSelection() {
        expectExpansion(
            """
            @Table struct Enrollment {
                let id: ID
                @Selection struct ID: Hashable { let courseID: Int; let studentID: Int }
            }
            """,
            has: "typealias PrimaryKey = ID", "var id: Enrollment.ID?", "id: Enrollment.ID? = nil",
            "var id: TypedQueries.TableColumn<Draft, Enrollment.ID?>",
            "struct Columns: TypedQueries.SelectedColumns")
    }

    @Test func aRepresentationIsTheTypeOfTheColumn() {
        expectExpansion(
            """
            @Table struct Event {
                @Column(as: UUID.BytesRepresentation.self) let id: UUID
                @Column("at", as: Date.UnixTimeRepresentation?.self) var date: Date?
            }
            """,
            has: "var id: TypedQueries.TableColumn<Event, UUID.BytesRepresentation> { .init(\"id\") }",
            "var date: TypedQueries.TableColumn<Event, Date.UnixTimeRepresentation?> { .init(\"at\") }",
            "typealias PrimaryKey = UUID.BytesRepresentation",
            "var id: TypedQueries.TableColumn<Draft, UUID.BytesRepresentation?>", "var id: UUID?",
            "row.write(self.id, as: UUID.BytesRepresentation?.self)")
    }

    @Test func generatedColumnsAreReadAndNotWritten() {
        let text = expectExpansion(
            "@Table struct Person { let id: Int; @Column(generated: .virtual) let name: String }",
            has: "var name: TypedQueries.GeneratedColumn<Person, String>",
            "self.name = try decoder.value(ColumnTypes.name.self)",
            "func writeValues(to row: inout TypedQueries.RowWriter) { row.write(self.id, as: ColumnTypes.id.self) }"
        )
        #expect(!text.contains("TypedQueries.TableColumn<Draft, String>"))
    }

    @Test func ephemeralPropertiesAreNoColumns() {
        let text = expectExpansion(
            """
            @Table struct Tag {
                let id: Int
                @Ephemeral var isOpen = false
                @Ephemeral var note: String?
            }
            """)
        #expect(!text.contains("\"isOpen\"") && !text.contains("\"note\""))
    }

    @Test func computedStaticAndLazyPropertiesAreNoColumns() {
        let text = expectExpansion(
            """
            @Table struct Tag {
                var title: String
                static let all = Self.where { $0.title.eq("x") }
                static var cache: [Int: Int] = [:]
                var upper: String { title.uppercased() }
                var both: Int { get { 1 } set { } }
                lazy var slow = compute()
                func f() {}
                enum Kind { case a }
            }
            """)
        for name in ["all", "cache", "upper", "both", "slow"] {
            #expect(!text.contains(".init(\"\(name)\")"))
        }
    }

    @Test func anObservedPropertyIsAColumn() {
        expectExpansion("@Table struct Tag { var a = 1 { didSet { print(a) } } }", has: ".init(\"a\")")
    }

    @Test func severalPropertiesOfOneDeclarationAreColumns() {
        expectExpansion(
            "@Table struct Point { var x, y: Double; var a = 1, b = \"\" }",
            has: "TableColumn<Point, Double> { .init(\"x\") }", "TableColumn<Point, Double> { .init(\"y\") }",
            "TableColumn<Point, Swift.Int> { .init(\"a\") }",
            "TableColumn<Point, Swift.String> { .init(\"b\") }")
    }

    @Test func keywordsAreNames() {
        expectExpansion(
            "@Table struct Word { let id: Int; var `class`: String; var `default` = 1; var `inout` = 0; var `Type` = 2 }",
            has: "var `class`: TypedQueries.TableColumn<Word, String> { .init(\"class\") }", "columns.class",
            "self.default = try decoder.value(ColumnTypes.default.self)",
            "`class`: String, `default`: Swift.Int = 1, `inout`: Swift.Int = 0,",
            "columns.`Type`", "var `Type`:")
    }

    @Test func accessIsThatOfTheTypeAndTheProperty() {
        expectExpansion(
            "@Table public struct Tag { public let id: Int; var title: String; fileprivate var note: String }",
            has: "public nonisolated struct TableColumns", "@inlinable public var id:", "} var title:",
            "fileprivate var note:", "public nonisolated struct Draft", "fileprivate init( id: Int? = nil,",
            "public init(decoder: inout some TypedQueries.QueryDecoder) throws", "public static var tableName"
        )
        expectExpansion(
            "@Table public struct Tag { public let id: Int }", has: "public init( id: Int? = nil )",
            "public typealias PrimaryKey = Int", "public typealias Selection = Columns")
        expectExpansion(
            "@Table package struct Tag { package let id: Int }", has: "package nonisolated struct Draft")
        let text = expectExpansion("@Table private struct Tag { let id: Int }")
        #expect(text.ranges(of: "private").count == 1)
    }

    @Test func commentsAreNoPartOfTheExpansion() {
        let text = expectExpansion(
            """
            @Table struct Tag {
                /// The key. \\
                let id: Int  // first
                /* of the tag */ var title: String /* here */ = "" // second
                var a /*x*/ : /*y*/ Int /*z*/ = /*w*/ 1 // third
            }
            """)
        let end = text.firstRange(of: "// third")
        let rest = end.map { String(text[$0.upperBound...]) } ?? ""
        #expect(!rest.isEmpty && !rest.contains("//") && !rest.contains("/*"))
    }

    @Test func theTypeHasItsNameWhereSelfWouldBeAnother() {
        let text = expectExpansion(
            """
            @Table struct Tag {
                let id: Int
                var parentID: Self.ID?
                @Column(as: [Self.Kind].JSONRepresentation.self) var kinds: [Self.Kind] = [Self.Kind.plain]
                var kind = Self.Kind.plain
            }
            """,
            has: "var parentID: TypedQueries.TableColumn<Tag, Tag.ID?>", "typealias parentID = Tag.ID?",
            "parentID: some TypedQueries.QueryExpression<Tag.ID?>",
            "row.write(parentID, as: Tag.ID?.self, named: \"parentID\")",
            "var kinds: TypedQueries.TableColumn<Tag, [Tag.Kind].JSONRepresentation>",
            "typealias kind = Tag.Kind", "kinds: [Tag.Kind] = [Tag.Kind.plain]")
        // Those of the source.
        #expect(text.ranges(of: "Self.").count <= 5)
    }

    /// An extension stands outside of what is around the type.
    @Test func aTypeIsExtendedWhereItIsAvailable() {
        expectExpansion(
            "@available(iOS 26, *) @Table struct Tag { let id: Int }",
            has: "@available(iOS 26, *) nonisolated extension Tag: TypedQueries.Table")
        expectExpansion(
            "@Table @available(iOS 26, *) enum Kind { case number(Int) }",
            has: "@available(iOS 26, *) nonisolated extension Kind: TypedQueries.Table")
        expectExpansion(
            """
            @available(macOS 15, *) enum Schema {
                @available(iOS 26, *) @Selection struct Tag { let title: String }
            }
            """,
            has: """
                @available(iOS 26, *) @available(macOS 15, *) nonisolated extension Schema.Tag: TypedQueries.Table
                """)
        expectExpansion(
            """
            @Table
            #if os(iOS)
            @available(iOS 26, *)
            @frozen
            #endif
            struct Tag { let id: Int }
            """,
            has: "#if os(iOS) @available(iOS 26, *) #endif nonisolated extension Tag: TypedQueries.Table")
    }

    @Test func aNestedTypeIsExtendedByItsFullName() {
        expectExpansion(
            "enum Schema { @Table struct Tag { let id: Kind.ID } }",
            has: "nonisolated extension Schema.Tag: TypedQueries.Table", "typealias id = Kind.ID")
    }
}
