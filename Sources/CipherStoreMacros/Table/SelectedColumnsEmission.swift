import SwiftSyntax

/// Writes `Columns`, by which a query selects a value of the type: `Row.Columns(title: $0.title)`.
enum SelectedColumnsEmission {
    static func declarations(_ model: RowModel) -> [String] {
        let access = model.access.word
        let initAccess = (model.columns.map(\.access).min() ?? .public).word(within: model.access)
        let names = Set(model.columns.map(\.name.text))
        let row = ["row", "row_", "row__"].first { !names.contains($0) } ?? "row___"
        var constants = DefaultConstants(access: initAccess, of: model)
        let bound = "\(Library.name).BindQueryExpression"
        let parameters = model.columns.map { column in
            let type = column.queryType.trimmedDescription
            let value =
                switch defaultValue(of: column) {
                case .literal(let text): " = \(text)"
                case .bound(let text): " = " + constants.value(text, type: "\(bound)<\(type)>")
                case nil: ""
                }
            return "\(column.name.source): some \(Library.name).QueryExpression<\(type)>\(value)"
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
                \(constants.declarations.joined(separator: "\n"))
            }
            """,
            "\(access)typealias Selection = Columns",
        ]
    }

    private enum DefaultValue {
        case literal(String)
        case bound(String)
    }

    /// A literal is an expression by itself. Other values, which may be groups of columns, are bound.
    private static func defaultValue(of column: Column) -> DefaultValue? {
        guard let value = column.defaultValue else { return nil }
        if column.representation == nil, value.isPlainLiteral,
            ["String", "Int", "Double", "Bool"].contains(column.type.trimmedDescription)
        {
            switch value.kind {
            case .stringLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr:
                return .literal(value.trimmedDescription)
            default: break
            }
        }
        return .bound(
            "\(Library.name).BindQueryExpression(\(value.trimmedDescription), "
                + "as: (\(column.queryType.trimmedDescription)).self)")
    }
}
