import Testing

@testable import CipherStoreMacros

@Suite struct SelectionMacroTests {
    @Test func aSelectionTakesAnExpressionForEachProperty() {
        expectExpansion(
            """
            @Selection struct ListWithCount {
                let list: RemindersList
                @Column("n") let count: Int
                var title = "none"
                @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
            }
            """,
            has: """
                nonisolated struct Columns: TypedQueries.SelectedColumns {
                    typealias QueryValue = ListWithCount
                    let selection: TypedQueries.QueryFragment
                    init(
                        list: some TypedQueries.QueryExpression<RemindersList>,
                        count: some TypedQueries.QueryExpression<Int>,
                        title: some TypedQueries.QueryExpression<Swift.String> = "none",
                        tags: some TypedQueries.QueryExpression<[String].JSONRepresentation> = TypedQueries.BindQueryExpression([], as: ([String].JSONRepresentation).self)
                    ) {
                        var row = TypedQueries.SelectionWriter()
                        row.write(list, as: RemindersList.self, named: "list")
                        row.write(count, as: Int.self, named: "n")
                        row.write(title, as: Swift.String.self, named: "title")
                        row.write(tags, as: [String].JSONRepresentation.self, named: "tags")
                        self.selection = row.fragment
                    }
                    var queryFragment: TypedQueries.QueryFragment {
                        selection
                    }
                }
                typealias Selection = Columns
                """,
            "nonisolated extension ListWithCount: TypedQueries.Table {",
            "static var tableName: String { \"listWithCounts\" }")
    }

    @Test func aSelectionHasNoKeyAndNoDraft() {
        let text = expectExpansion("@Selection(\"x\") struct A { let id: Int }", has: "{ \"x\" }")
        #expect(!text.contains("PrimaryKey") && !text.contains("Draft"))
    }

    @Test func aTypeInsideOfAPrivateOneIsNamedForItsFileOnly() {
        expectExpansion(
            "private enum Schema { @Selection struct A { let id: Int } }",
            has: "fileprivate typealias QueryValue = Self", "fileprivate typealias QueryOutput = Self")
        expectExpansion(
            "private enum Schema { enum Kind { @Table enum A { case id(Int) } } }",
            has: "fileprivate typealias QueryValue = Self")
    }

    @Test func namesOfLocalValuesAvoidThoseOfProperties() {
        expectExpansion(
            "@Selection struct A { let row: Int; let selection: Int }",
            has: "var row_ = TypedQueries.SelectionWriter()", "row_.write(row, as: Int.self, named: \"row\")",
            "self.selection = row_.fragment")
    }

    @Test func anEnumHasAColumnForEachCase() {
        expectExpansion(
            """
            @Selection public enum Kind {
                case link(URL)
                @Column("text", as: Note.JSONRepresentation.self) case note(body: Note), image(Image)
            }
            """.replacing(", image(Image)", with: "\n    case image(Image)"),
            has: "@inlinable public var link: TypedQueries.TableColumn<Kind, URL?> { .init(\"link\") }",
            "TypedQueries.TableColumn<Kind, Note.JSONRepresentation?> { .init(\"text\") }",
            "public typealias image = Image?",
            """
            let value0 = try decoder.value(ColumnTypes.link.self)
            let value1 = try decoder.value(ColumnTypes.note.self)
            let value2 = try decoder.value(ColumnTypes.image.self)
            if let value0 {
                self = .link(value0)
            } else if let value1 {
                self = .note(body: value1)
            } else if let value2 {
                self = .image(value2)
            } else {
                throw TypedQueries.QueryDecodingError.missingRequiredColumn
            }
            """,
            """
            switch self {
            case .link(let value):
                row.write(value, as: ColumnTypes.link.self)
                row.writeNull(ColumnTypes.note.self)
                row.writeNull(ColumnTypes.image.self)
            case .note(let value):
                row.writeNull(ColumnTypes.link.self)
                row.write(value, as: ColumnTypes.note.self)
                row.writeNull(ColumnTypes.image.self)
            """)
    }

    @Test func aCaseIsSelectedByItsExpression() {
        expectExpansion(
            "@Selection enum Kind { case link(URL); case note(text: String) }",
            has: "static func link( _ value: some TypedQueries.QueryExpression<URL> ) -> Self {",
            "static func note( text value: some TypedQueries.QueryExpression<String> ) -> Self {",
            "row.write(value, as: URL.self, named: \"link\")",
            "TypedQueries.BindQueryExpression(nil, as: (String?).self), as: (String?).self, named: \"note\"",
            "return Self(selection: row.fragment)")
    }

    @Test func anEnumHasTheNamesOfItsCodingKeysInJSON() {
        expectExpansion(
            "@Selection enum Kind { case link(URL); case note(text: String) }",
            has: ".asCases(\"_0\", \"text\")")
        expectExpansion(
            """
            @Selection enum Kind: Codable {
                case link(URL)
                case note(text: String)
                enum CodingKeys: String, CodingKey { case link = "l", note }
                enum NoteCodingKeys: String, CodingKey { case text = "t" }
            }
            """,
            has: ".inJSON((\"link\", \"l\"), (\"note\", \"note\")).asCases(\"_0\", \"t\")")
    }

    @Test func anEnumHasItsNameWhereSelfWouldBeAnotherType() {
        expectExpansion(
            "@Selection enum Kind { case link(Self.Address) }",
            has: "var link: TypedQueries.TableColumn<Kind, Kind.Address?>", "typealias link = Kind.Address?",
            "static func link( _ value: some TypedQueries.QueryExpression<Kind.Address> ) -> Self {")
    }

    @Test func casesOfOneDeclarationAreColumns() {
        expectExpansion(
            "@Table enum A { case a(Int), b(String) }", has: ".init(\"a\")", ".init(\"b\")", "{ \"as\" }")
    }
}
