import SwiftSyntax

/// Writes `Draft`: a row whose key the database may give it.
struct DraftEmission {
    private struct Field {
        let column: Column
        let emission: ColumnEmission
        /// The property's type.
        let type: String
        let defaultValue: ExprSyntax?
        /// Whether the draft's property is optional and the row's isn't.
        let isWidened: Bool
        let specifier: String
    }

    private let model: RowModel
    private let fields: [Field]

    init(_ model: RowModel, nested: Set<String>) {
        self.model = model
        let names = NestedNames(owner: model.name.source, nested: nested)
        fields = model.columns.filter { !$0.isGenerated }.map { column in
            let isLazy = column.arguments?.lazyInitializable ?? column.isPrimaryKey
            let isWidened = isLazy && !column.isOptional
            let type = names.rewrite(column.propertyType)
            let queryType = names.rewrite(column.queryType)
            let value = column.defaultValue.map { names.rewrite($0).trimmed }
            return Field(
                column: column,
                emission: ColumnEmission(
                    name: column.name, sqlName: column.sqlName,
                    type: (isLazy ? Column.optional(queryType) : queryType).trimmedDescription,
                    access: column.access.word(within: model.access)),
                type: (isWidened ? Column.optional(type) : type).trimmedDescription,
                // A key's default value belongs to rows: a draft without a key leaves it to the database.
                defaultValue: isLazy ? ExprSyntax("nil") : value, isWidened: isWidened,
                specifier: column.isConstant && !isLazy ? "let" : "var")
        }
    }

    /// The declaration of the draft.
    var declaration: String {
        let access = model.access.word
        let table = TableEmission(
            root: "Draft", access: access, columns: fields.map(\.emission), primaryKey: nil, isDraft: true)
        let properties = fields.map { field in
            "\(field.emission.access)\(field.specifier) \(field.column.name.source): \(field.type)"
        }
        return """
            \(access)nonisolated struct Draft: \(Library.name).TableDraft {
                \(access)typealias PrimaryTable = \(model.name.source)
                \(access)typealias QueryValue = Self
                \(access)typealias QueryOutput = Self
                \(properties.joined(separator: "\n"))
                \(table.tableColumns)
                \(access)static var tableName: String { \(model.name.source).tableName }
                \(schemaName)
                \(table.columnWidth(type: \.type))
                \(table.decoding(type: \.type))
                \(table.writing(type: \.type))
                \(copying)
                \(memberwise)
            }
            """
    }

    private var schemaName: String {
        model.schema == nil
            ? "" : "\(model.access.word)static var schemaName: String? { \(model.name.source).schemaName }"
    }

    private var copying: String {
        let steps = fields.map { "self.\($0.column.name.member) = other.\($0.column.name.member)" }
        return """
            \(model.access.word)init(_ other: \(model.name.source)) {
                \(steps.joined(separator: "\n"))
            }
            """
    }

    private var memberwise: String {
        let access = (fields.map(\.column.access).min() ?? .public).word(within: model.access)
        var constants = DefaultConstants(access: access, of: model)
        let parameters = fields.map { field in
            let parameter = "\(field.column.name.source): \(field.type)"
            guard let value = field.defaultValue else { return parameter }
            let text = value.description
            return "\(parameter) = \(value.isPlainLiteral ? text : constants.value(text, type: field.type))"
        }
        let steps = fields.map { "self.\($0.column.name.member) = \($0.column.name.source)" }
        return """
            \(access)init(
                \(parameters.joined(separator: ",\n        "))
            ) {
                \(steps.joined(separator: "\n"))
            }
            \(constants.declarations.joined(separator: "\n"))
            """
    }
}
