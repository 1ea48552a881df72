import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the members and the conformance of a struct with `@Table` or `@Selection`.
struct RowEmission {
    private let model: RowModel
    private let table: TableEmission

    init(_ model: RowModel) {
        self.model = model
        table = TableEmission(
            root: model.name.source, access: model.access.word,
            columns: model.columns.map { ColumnEmission($0, of: model) }, primaryKey: model.primaryKey?.name)
    }

    /// The members that name types as the user does.
    var members: [String] {
        var texts = [table.tableColumns, table.columnTypes] + SelectedColumnsEmission.declarations(model)
        if let key = model.primaryKey {
            texts.append("\(model.access.word)typealias PrimaryKey = \(key.queryType.trimmedDescription)")
        }
        return texts
    }

    /// The extension that conforms to the protocols.
    func conformance(of type: some TypeSyntaxProtocol) throws -> ExtensionDeclSyntax {
        let access = model.access.word
        let protocols =
            "\(Library.name).Table" + (model.primaryKey == nil ? "" : ", \(Library.name).PrimaryKeyedTable")
        return try Extensions.make(
            """
            \(model.availability)nonisolated extension \(type.trimmedDescription): \(protocols) {
                \(model.aliasAccess)typealias QueryValue = Self
                \(model.aliasAccess)typealias QueryOutput = Self
                \(Extensions.names(access, model.sqlName, model.schema))
                \(table.columnWidth(type: \.alias))
                \(table.decoding(type: \.alias))
                \(table.writing(type: \.alias))
            }
            """)
    }
}

enum Extensions {
    static func make(_ text: String) throws -> ExtensionDeclSyntax {
        try ExtensionDeclSyntax("\(raw: text)")
    }

    /// `tableName`, and `schemaName` where there is one.
    static func names(_ access: String, _ name: String, _ schema: String?) -> String {
        let table = "\(access)static var tableName: String { \(name.literal) }"
        guard let schema else { return table }
        return table + "\n\(access)static var schemaName: String? { \(schema.literal) }"
    }
}
