import SwiftSyntaxMacroExpansion

@testable import CipherStoreMacros

/// The macros by the names that a source calls them.
let specs: [String: MacroSpec] = [
    "Table": MacroSpec(type: TableMacro.self, conformances: ["TypedQueries.Table"]),
    "Selection": MacroSpec(type: SelectionMacro.self, conformances: ["TypedQueries.Table"]),
    "Column": MacroSpec(type: ColumnMacro.self),
    "Columns": MacroSpec(type: ColumnsMacro.self),
    "Ephemeral": MacroSpec(type: EphemeralMacro.self),
    "DatabaseFunction": MacroSpec(type: DatabaseFunctionMacro.self),
    "ProjectedSQL": MacroSpec(type: ProjectedSQLMacro.self),
    "sql": MacroSpec(type: SQLMacro.self),
    "bind": MacroSpec(type: BindMacro.self),
]
