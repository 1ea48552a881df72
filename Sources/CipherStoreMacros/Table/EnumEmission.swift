import SwiftSyntax
import SwiftSyntaxMacros

/// Writes the members and the conformance of an enum whose cases share one table.
struct EnumEmission {
    private let name: DeclaredName
    private let sqlName: String
    private let schema: String?
    private let access: String
    /// The word before names of the type in an extension.
    private let aliasAccess: String
    /// The lines before an extension that say where the type is available.
    private let availability: String
    private let cases: [Column]
    private let labels: [String: String]
    private let table: TableEmission

    /// Nil after a diagnostic.
    init?(_ enumeration: EnumDeclSyntax, _ attribute: AttributeSyntax, in context: some MacroExpansionContext)
    {
        let macro = attribute.attributeName.trimmedDescription
        guard TypeChecks.acceptsGenerics(enumeration.genericParameterClause, macro, in: context) else {
            return nil
        }
        var reader = CaseReader(macro: macro, context: context)
        reader.read(enumeration.memberBlock.members)
        guard !reader.failed else { return nil }
        guard !reader.cases.isEmpty else {
            TypeChecks.reportEmpty(enumeration, macro, in: context)
            return nil
        }
        let arguments = RowArguments(attribute, in: context)
        let name = DeclaredName(enumeration.name)
        self.name = name
        sqlName = arguments.name ?? Pluraliser.tableName(forType: name.text)
        schema = arguments.schema
        let access = Access(enumeration.modifiers).word
        self.access = access
        aliasAccess = Access.ofAliases(enumeration.modifiers, in: context)
        availability = Availability.ofExtension(enumeration.attributes, in: context)
        let cases = reader.cases.map { $0.naming(name) }
        self.cases = cases
        let labels = reader.labels
        self.labels = labels
        let codingNames = enumeration.codingNames(in: "CodingKeys")
        table = TableEmission(
            root: name.source, access: access,
            columns: cases.map {
                ColumnEmission(
                    name: $0.name, sqlName: $0.sqlName, jsonName: codingNames[$0.name.text],
                    type: Column.optional($0.queryType).trimmedDescription,
                    access: access)
            }, primaryKey: nil,
            caseValueNames: cases.map { current -> String in
                // Those that Swift's own conformance to `Codable` gives them.
                let name = current.name.text
                let keys = "\(name.prefix(1).uppercased())\(name.dropFirst())CodingKeys"
                let label = labels[name] ?? "_0"
                return enumeration.codingNames(in: keys)[label] ?? label
            })
    }

    var members: [DeclSyntax] {
        [table.tableColumns, table.columnTypes, columns, "\(access)typealias Selection = Columns"]
            .map { "\(raw: $0)" }
    }

    /// `Columns`, by which a query selects a case: `Attachment.Columns.note($0.text)`.
    private var columns: String {
        """
        \(access)nonisolated struct Columns: \(Library.name).SelectedColumns {
            \(access)typealias QueryValue = \(name.source)
            let selection: \(Library.name).QueryFragment
            \(access)var queryFragment: \(Library.name).QueryFragment { selection }
            \(cases.map(selecting).joined(separator: "\n"))
        }
        """
    }

    private func selecting(_ current: Column) -> String {
        let label = labels[current.name.text].map { DeclaredName(text: $0).label } ?? "_"
        let type = current.queryType.trimmedDescription
        let steps = table.columns.map { column in
            column.name == current.name
                ? "row.write(value, as: \(type).self, named: \(column.sqlName.literal))"
                : """
                row.write(
                    \(Library.name).BindQueryExpression(nil, as: (\(column.type)).self), as: (\(column.type)).self,
                    named: \(column.sqlName.literal)
                )
                """
        }
        return """
            \(access)static func \(current.name.source)(
                \(label) value: some \(Library.name).QueryExpression<\(type)>
            ) -> Self {
                var row = \(Library.name).SelectionWriter()
                \(steps.joined(separator: "\n"))
                return Self(selection: row.fragment)
            }
            """
    }

    func extensions(of type: some TypeSyntaxProtocol) throws -> [ExtensionDeclSyntax] {
        [
            try Extensions.make(
                """
                \(availability)nonisolated extension \(type.trimmedDescription): \(Library.name).Table {
                    \(aliasAccess)typealias QueryValue = Self
                    \(aliasAccess)typealias QueryOutput = Self
                    \(Extensions.names(access, sqlName, schema))
                    \(table.columnWidth(type: \.alias))
                    \(decoding)
                    \(writing)
                }
                """)
        ]
    }

    /// Reads all columns, whatever the case: they count by position. The first that isn't NULL is the case.
    private var decoding: String {
        let values = table.columns.enumerated().map { index, column in
            "let value\(index) = try decoder.value(\(column.alias).self)"
        }
        let choices = cases.enumerated().map { index, column in
            let label = labels[column.name.text].map { "\(DeclaredName(text: $0).label): " } ?? ""
            return "if let value\(index) { self = .\(column.name.member)(\(label)value\(index)) }"
        }
        return """
            \(access)init(decoder: inout some \(Library.name).QueryDecoder) throws {
                \(values.joined(separator: "\n"))
                \(choices.joined(separator: " else ")) else {
                    throw \(Library.name).QueryDecodingError.missingRequiredColumn
                }
            }
            """
    }

    /// Writes the case's own columns, and NULL into all others.
    private var writing: String {
        let branches = cases.map { current in
            let steps = table.columns.map { column in
                column.name == current.name
                    ? "row.write(value, as: \(column.alias).self)" : "row.writeNull(\(column.alias).self)"
            }
            return "case .\(current.name.member)(let value):\n    \(steps.joined(separator: "\n    "))"
        }
        return """
            \(access)func writeValues(to row: inout \(Library.name).RowWriter) {
                switch self {
                \(branches.joined(separator: "\n"))
                }
            }
            """
    }
}
