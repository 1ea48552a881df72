import SwiftSyntax

/// Writes `Columns`, by which a query selects a value of the type: `Row.Columns(title: $0.title)`.
enum SelectedColumnsEmission {
    static func declarations(_ model: RowModel) -> [String] {
        let access = model.access.word
        let initAccess = (model.columns.map(\.access).min() ?? .public).word(within: model.access)
        let names = Set(model.columns.map(\.name.text))
        let row = ["row", "row_", "row__"].first { !names.contains($0) } ?? "row___"
        var constants: [String] = []
        let parameters = model.columns.map { column in
            let value =
                switch defaultValue(of: column, in: model) {
                case .literal(let text): " = \(text)"
                case .bound(let text) where ["public ", "package "].contains(initAccess):
                    " = \(constant(text, of: column, in: &constants))"
                case .bound(let text): " = \(text)"
                case nil: ""
                }
            return "\(column.name.source): some \(Library.name).QueryExpression<"
                + "\(column.queryType.trimmedDescription)>\(value)"
        }
        let steps = model.columns.map { column in
            "\(row).write(\(column.name.source), as: \(column.queryType.trimmedDescription).self, "
                + "named: \(column.sqlName.literal))"
        }
        return [
            """
            \(access)nonisolated struct Columns: \(Library.name).SelectedColumns {
                \(access)typealias QueryValue = \(model.name.source)
                let selection: \(Library.name).QueryFragment
                \(initAccess)init(
                    \(parameters.joined(separator: ",\n        "))
                ) {
                    var \(row) = \(Library.name).SelectionWriter()
                    \(steps.joined(separator: "\n"))
                    self.selection = \(row).fragment
                }
                \(access)var queryFragment: \(Library.name).QueryFragment { selection }
            \(constants.joined(separator: "\n"))}
            """,
            "\(access)typealias Selection = Columns",
        ]
    }

    private enum DefaultValue {
        case literal(String)
        case bound(String)
    }

    /// Declares a property with a value: a default value of a public initializer may speak of
    /// public names only.
    ///
    /// - returns: The name.
    private static func constant(
        _ value: String, of column: Column, in constants: inout [String]
    ) -> String {
        let name = "default\(constants.count)"
        constants.append(
            """
                @usableFromInline static var \(name): \(Library.name).BindQueryExpression<\(column.queryType.trimmedDescription)> {
                    \(value)
                }

            """)
        return name
    }

    /// A literal is an expression by itself. Other values, which may be groups of columns, are bound.
    private static func defaultValue(of column: Column, in model: RowModel) -> DefaultValue? {
        guard let value = column.defaultValue else { return nil }
        if column.representation == nil,
            ["String", "Int", "Double", "Bool"].contains(column.type.trimmedDescription)
        {
            switch value.kind {
            case .stringLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr:
                return .literal(value.trimmedDescription)
            default: break
            }
        }
        // `Self` means the row, and would be the type of the columns here.
        let source = DraftNames(owner: model.name.source, nested: []).rewrite(value).trimmedDescription
        return .bound(
            "\(Library.name).BindQueryExpression(\(source), as: (\(column.queryType.trimmedDescription)).self)"
        )
    }
}
