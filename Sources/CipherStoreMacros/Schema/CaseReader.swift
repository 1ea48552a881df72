import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads the cases of an enum whose values share one table: each case is a nullable column, or a group of them.
struct CaseReader<Context: MacroExpansionContext> {
    let macro: String
    let context: Context
    /// The cases; each one's type is that of its value.
    private(set) var cases: [Column] = []
    /// The label of each case's value, where it has one.
    private(set) var labels: [String: String] = [:]
    private(set) var failed = false

    init(macro: String, context: Context) {
        self.macro = macro
        self.context = context
    }

    mutating func read(_ members: MemberBlockItemListSyntax) {
        for member in members {
            guard let declaration = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            let attribute = declaration.attributes.named("Column") ?? declaration.attributes.named("Columns")
            if let attribute, declaration.elements.count > 1 {
                fail(
                    "several-bindings", at: attribute,
                    "'@\(attribute.attributeName.trimmedDescription)' names one column: declare each case by itself",
                    [Removing.attribute(attribute)])
                continue
            }
            if let conditional = declaration.attributes.conditional(["Column", "Columns"]) {
                fail(
                    "conditional-property", at: conditional.clauses.first?.poundKeyword ?? .poundToken(),
                    "what a column is can't depend on '#if': the table has it in each build", [])
                continue
            }
            let arguments = attribute.map { ColumnArguments($0, in: context) }
            for element in declaration.elements { read(element, attribute, arguments) }
        }
        reportDuplicates()
    }

    private mutating func read(
        _ element: EnumCaseElementSyntax, _ attribute: AttributeSyntax?, _ arguments: ColumnArguments?
    ) {
        let name = DeclaredName(element.name)
        guard let clause = element.parameterClause, let value = clause.parameters.first else {
            let fixed = element.with(\.name.trailingTrivia, []).with(
                \.parameterClause,
                EnumCaseParameterClauseSyntax(
                    parameters: [EnumCaseParameterSyntax(type: TypeSyntax("<#Type#>"))]))
            fail(
                "case-no-value", at: element.name,
                "the case '\(name.text)' needs a value: a row of this case is one whose column isn't NULL",
                [.replace(element, with: fixed, "Add a value")])
            return
        }
        guard clause.parameters.count == 1 else {
            let fixed = clause.with(
                \.parameters,
                EnumCaseParameterListSyntax([EnumCaseParameterSyntax(type: TypeSyntax("<#Group#>"))]))
            fail(
                "case-several-values", at: clause,
                "the case '\(name.text)' must have one value: group several in a '@Selection' struct",
                [.replace(clause, with: fixed, "Use one value")])
            return
        }
        if Column.isOptional(value.type) {
            let fixIt = Column.wrapped(value.type).map {
                FixIt.replace(value.type, with: $0, "Use '\($0.trimmedDescription)'")
            }
            fail(
                "case-optional-value", at: value.type,
                "the value of '\(name.text)' can't be optional: NULL says that the row is of another case",
                [fixIt])
            return
        }
        if let label = value.firstName, label.tokenKind != .wildcard {
            labels[name.text] = DeclaredName(label).text
        }
        cases.append(
            Column(
                name: name, token: element.name, sqlName: arguments?.name ?? name.text,
                type: value.type.trimmed,
                isTypeWritten: true, representation: arguments?.representation,
                defaultValue: value.defaultValue?.value.trimmed, isConstant: true, access: .public,
                arguments: arguments, attribute: attribute))
    }

    private mutating func fail(
        _ id: String, at node: some SyntaxProtocol, _ message: String, _ fixIts: [FixIt?]
    ) {
        failed = true
        context.error(id, at: node, message, fixIts: fixIts.compactMap { $0 })
    }

    private mutating func reportDuplicates() {
        var seen: Set<String> = []
        for column in cases where !seen.insert(column.sqlName.lowercased()).inserted {
            guard let argument = column.arguments?.nodes[""] else { continue }
            fail(
                "duplicate-column", at: argument.expression,
                "the column '\(column.sqlName)' belongs to another case already",
                [Removing.argument(argument, "Remove the name")])
        }
    }
}
