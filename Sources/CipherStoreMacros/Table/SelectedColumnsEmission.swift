import SwiftSyntax

/// Writes `Columns`, by which a query selects a value of the type: `Row.Columns(title: $0.title)`.
enum SelectedColumnsEmission {
    static func declarations(_ model: RowModel) -> [String] {
        let access = model.access.word
        let initAccess = (model.columns.map(\.access).min() ?? .public).word(within: model.access)
        let names = Set(model.columns.map(\.name.text))
        let row = ["row", "row_", "row__"].first { !names.contains($0) } ?? "row___"
        let parameters = model.columns.map { column in
            let value = defaultValue(of: column).map { " = \($0)" } ?? ""
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
            }
            """,
            "\(access)typealias Selection = Columns",
        ]
    }

    /// A literal is an expression by itself. Other values may be groups of columns, which are none.
    private static func defaultValue(of column: Column) -> String? {
        guard column.representation == nil, let value = column.defaultValue else { return nil }
        switch value.kind {
        case .stringLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr:
            let plain = ["String", "Int", "Double", "Bool"].contains(column.type.trimmedDescription)
            return plain ? value.trimmedDescription : nil
        default: return nil
        }
    }
}
