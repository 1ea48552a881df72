import SwiftSyntax

/// What a table's definition says of each column.
struct ColumnEmission {
    /// The property.
    let name: DeclaredName
    let sqlName: String
    /// The type that queries know.
    let type: String
    let isGenerated: Bool
    /// The name of the property in JSON.
    let jsonName: String
    /// The word of access with a blank, or nothing.
    let access: String

    init(_ column: Column, of owner: RowModel) {
        name = column.name
        sqlName = column.sqlName
        type = column.queryType.trimmedDescription
        isGenerated = column.isGenerated
        jsonName = owner.codingNames[column.name.text] ?? column.name.text
        access = column.access.word(within: owner.access)
    }

    init(
        name: DeclaredName, sqlName: String, jsonName: String? = nil, type: String,
        isGenerated: Bool = false, access: String
    ) {
        self.name = name
        self.sqlName = sqlName
        self.jsonName = jsonName ?? name.text
        self.type = type
        self.isGenerated = isGenerated
        self.access = access
    }
}

/// Writes the members that tables, drafts and selections have alike.
struct TableEmission {
    /// The name of the type that the members belong to.
    let root: String
    let access: String
    let columns: [ColumnEmission]
    /// The name of the key's property, where there is a key.
    let primaryKey: DeclaredName?
    /// Whether the type is the draft of a table.
    var isDraft = false
    /// The names in JSON of the values of an enum's cases, which the columns are; empty where they are none.
    var caseValueNames: [String] = []

    private var library: String { Library.name }

    /// `TableColumns`: what closures of queries get.
    var tableColumns: String {
        let inlinable = access == "public " ? "@inlinable " : ""
        let properties = columns.map { column in
            let kind = column.isGenerated ? "GeneratedColumn" : "TableColumn"
            let attribute = column.access == "public " ? inlinable : ""
            return """
                \(attribute)\(column.access)var \(column.name.source): \(library).\(kind)<\(root), \(column.type)> {
                    .init(\(column.sqlName.literal))
                }
                """
        }
        let list = columns.map { "columns.\($0.name.member)" }.joined(separator: ",\n        ")
        return """
            \(access)nonisolated struct TableColumns: \(library).\(definition) {
                \(access)typealias QueryValue = \(root)
                \(inlinable)\(access)init() {}
                \(properties.joined(separator: "\n"))
                \(key)
                \(access)static var columnList: \(library).ColumnList {
                    let columns = Self()
                    return .init(
                        \(list)
                    )\(jsonNames)\(cases)
                }
            }
            """
    }

    /// The names of the properties in JSON, where one of them is not its own, or not that of its column.
    private var jsonNames: String {
        guard columns.contains(where: { $0.jsonName != $0.sqlName || $0.jsonName != $0.name.text }) else {
            return ""
        }
        let names = columns.map { "(\($0.name.text.literal), \($0.jsonName.literal))" }
        return ".inJSON(\(names.joined(separator: ", ")))"
    }

    private var cases: String {
        guard !caseValueNames.isEmpty else { return "" }
        return ".asCases(\(caseValueNames.map(\.literal).joined(separator: ", ")))"
    }

    private var definition: String {
        if isDraft { return "DraftDefinition" }
        return primaryKey == nil ? "TableDefinition" : "PrimaryKeyedTableDefinition"
    }

    private var key: String {
        guard let primaryKey, let column = columns.first(where: { $0.name == primaryKey }) else { return "" }
        let alias = "\(access)typealias PrimaryKey = \(column.type)"
        // A key that is called `primaryKey` is its own answer.
        if primaryKey.text == "primaryKey" { return alias }
        return """
            \(alias)
            \(access)var primaryKey: \(library).TableColumn<\(root), \(column.type)> { \(primaryKey.source) }
            """
    }

    /// The types of the columns by the names of the properties. The type's extensions, which stand outside of the types
    /// around it, name them so.
    var columnTypes: String {
        let aliases = columns.map { "\($0.access)typealias \($0.name.source) = \($0.type)" }
        return """
            \(access)nonisolated enum ColumnTypes {
                \(aliases.joined(separator: "\n"))
            }
            """
    }

    /// `columnWidth`, a statement for each column: a long sum is slow to check.
    func columnWidth(type: (ColumnEmission) -> String) -> String {
        let steps = columns.map { "width += \(type($0)).columnWidth" }
        return """
            \(access)static var columnWidth: Int {
                var width = 0
                \(steps.joined(separator: "\n"))
                return width
            }
            """
    }

    /// `init(decoder:)`, which reads the columns in order.
    func decoding(type: (ColumnEmission) -> String) -> String {
        let steps = columns.map { "self.\($0.name.member) = try decoder.value(\(type($0)).self)" }
        return """
            \(access)init(decoder: inout some \(library).QueryDecoder) throws {
                \(steps.joined(separator: "\n"))
            }
            """
    }

    /// `writeValues(to:)`, which writes what isn't computed.
    func writing(type: (ColumnEmission) -> String) -> String {
        let steps = columns.filter { !$0.isGenerated }.map {
            "row.write(self.\($0.name.member), as: \(type($0)).self)"
        }
        return """
            \(access)func writeValues(to row: inout \(library).RowWriter) {
                \(steps.joined(separator: "\n"))
            }
            """
    }
}

extension ColumnEmission {
    /// The type as an extension names it.
    var alias: String { "ColumnTypes.\(name.member)" }
}
