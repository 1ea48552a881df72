import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

extension PropertyReader {
    /// The columns with the primary key marked: the one that says so, or else the property called `id`.
    mutating func columnsWithPrimaryKey() -> [Column] {
        var marked = columns
        let explicit = columns.indices.filter { columns[$0].arguments?.primaryKey == true }
        for extra in explicit.dropFirst() {
            let argument = columns[extra].arguments?.nodes["primaryKey"]
            fail(
                "several-primary-keys", at: argument.map(Syntax.init) ?? Syntax(columns[extra].token),
                "'\(columns[explicit[0]].name.text)' is the primary key already: "
                    + "for a key of several columns, use a property of a nested '@Selection' struct",
                fixIts: [argument.flatMap { Removing.argument($0, "Remove 'primaryKey: true'") }])
        }
        let implicit = columns.firstIndex {
            $0.name.text == "id" && $0.arguments?.primaryKey == nil && !$0.isGenerated
        }
        guard let index = explicit.first ?? implicit else { return marked }
        if columns[index].isGenerated {
            let argument = columns[index].arguments?.nodes["generated"]
            fail(
                "generated-primary-key", at: argument.map(Syntax.init) ?? Syntax(columns[index].token),
                "SQLite refuses a computed primary key",
                fixIts: [argument.flatMap { Removing.argument($0, "Remove 'generated:'") }])
        }
        marked[index].isPrimaryKey = true
        return marked
    }

    /// Warns of arguments that say nothing about a row that isn't a table's.
    func reportTableOnlyArguments() {
        for column in columns {
            for label in ["primaryKey", "lazyInitializable"] {
                guard let argument = column.arguments?.nodes[label] else { continue }
                context.warning(
                    "selection-argument", at: argument,
                    "'\(label):' has no effect in '@\(macro)': only a table has it",
                    fixIts: [Removing.argument(argument, "Remove '\(label):'")].compactMap { $0 })
            }
        }
    }
}
