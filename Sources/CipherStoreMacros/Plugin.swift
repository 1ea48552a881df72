import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// What the compiler loads.
@main
struct CipherStoreMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        SQLMacro.self, BindMacro.self, TableMacro.self, SelectionMacro.self, ColumnMacro.self,
        ColumnsMacro.self,
        EphemeralMacro.self, DatabaseFunctionMacro.self, ProjectedSQLMacro.self,
    ]
}
