import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads the stored properties of a struct, and reports what can't be a column.
struct PropertyReader<Context: MacroExpansionContext> {
    /// `Table` or `Selection`, for messages.
    let macro: String
    let context: Context
    private(set) var columns: [Column] = []
    /// Whether an error was reported: then nothing is expanded, or more errors would hide the cause.
    private(set) var failed = false

    init(macro: String, context: Context) {
        self.macro = macro
        self.context = context
    }

    /// Reads the members of `declaration`.
    mutating func read(_ members: MemberBlockItemListSyntax) {
        for member in members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                read(variable)
            } else if let conditional = member.decl.as(IfConfigDeclSyntax.self), containsStored(conditional) {
                fail(
                    "conditional-property", at: conditional.clauses.first?.poundKeyword ?? .poundToken(),
                    "a column can't depend on '#if': the table has it in each build",
                    [])
            }
        }
        reportDuplicates()
    }

    private func containsStored(_ conditional: IfConfigDeclSyntax) -> Bool {
        conditional.clauses.contains { clause in
            guard case .decls(let members) = clause.elements else { return false }
            return members.contains { member in
                if let nested = member.decl.as(IfConfigDeclSyntax.self) { return containsStored(nested) }
                guard let variable = member.decl.as(VariableDeclSyntax.self), !isTypeMember(variable) else {
                    return false
                }
                return variable.bindings.contains { $0.isStored }
            }
        }
    }

    private func isTypeMember(_ variable: VariableDeclSyntax) -> Bool {
        variable.modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    private mutating func read(_ variable: VariableDeclSyntax) {
        let column = variable.attributes.named("Column") ?? variable.attributes.named("Columns")
        let ephemeral = variable.attributes.named("Ephemeral")
        let stored = variable.bindings.filter(\.isStored)
        guard !isTypeMember(variable), !stored.isEmpty else {
            if let column { reportUseless(column, "a static or computed property is no column") }
            if let ephemeral { reportUseless(ephemeral, "a static or computed property is no column anyway") }
            return
        }
        if let conditional = variable.attributes.conditional(["Column", "Columns", "Ephemeral"]) {
            fail(
                "conditional-property", at: conditional.clauses.first?.poundKeyword ?? .poundToken(),
                "what a column is can't depend on '#if': the table has it in each build",
                [])
            return
        }
        if let ephemeral {
            check(ephemeral: ephemeral, column, variable)
            return
        }
        if variable.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            if let column { reportUseless(column, "a lazy property is no column") }
            return
        }
        if let hidden = variable.modifiers.first(where: {
            $0.name.tokenKind == .keyword(.private) && $0.detail == nil
        }) {
            reportPrivate(hidden, variable)
            return
        }
        if let column, variable.bindings.count > 1 {
            fail(
                "several-bindings", at: column,
                "'@\(column.attributeName.trimmedDescription)' names one column: declare each property by itself",
                fixIts: [Splitting.fixIt(variable)])
            return
        }
        let arguments = column.map { ColumnArguments($0, in: context) }
        for (index, binding) in variable.bindings.enumerated() where binding.isStored {
            read(binding, at: index, of: variable, column, arguments)
        }
    }

    private mutating func read(
        _ binding: PatternBindingSyntax, at index: Int, of variable: VariableDeclSyntax,
        _ attribute: AttributeSyntax?, _ arguments: ColumnArguments?
    ) {
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            fail(
                "tuple-pattern", at: binding.pattern,
                "a column is a property with a name: declare each one by itself",
                fixIts: [
                    .replace(
                        binding.pattern, with: PatternSyntax("<#name#>"), "Replace the pattern by a name")
                ])
            return
        }
        let name = DeclaredName(pattern.identifier)
        let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        let value = binding.initializer?.value
        if isConstant, let initializer = binding.initializer {
            reportConstant(name, variable, initializer, attribute)
            return
        }
        guard let (type, isWritten) = type(of: binding, at: index, in: variable, name) else { return }
        if arguments?.nodes["as"] == nil, !check(type, of: name, binding, variable, attribute) { return }
        if arguments?.generated != nil, !check(generated: variable, name, binding, attribute) { return }
        let implicitNil = !isConstant && value == nil && type.is(OptionalTypeSyntax.self)
        columns.append(
            Column(
                name: name, token: pattern.identifier, sqlName: arguments?.name ?? name.text, type: type,
                isTypeWritten: isWritten, representation: arguments?.representation,
                defaultValue: value?.trimmed ?? (implicitNil ? ExprSyntax("nil") : nil),
                isConstant: isConstant,
                access: Access(variable.modifiers), arguments: arguments, attribute: attribute))
    }
}

extension PropertyReader {
    mutating func fail(_ id: String, at node: some SyntaxProtocol, _ message: String, _ fixIts: [FixIt?]) {
        failed = true
        context.error(id, at: node, message, fixIts: fixIts.compactMap { $0 })
    }

    mutating func fail(_ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt?]) {
        fail(id, at: node, message, fixIts)
    }

    /// The type that the binding has, and whether it is written. `let x, y: Int` writes it once for both.
    mutating func type(
        of binding: PatternBindingSyntax, at index: Int, in variable: VariableDeclSyntax, _ name: DeclaredName
    ) -> (TypeSyntax, Bool)? {
        let bindings = Array(variable.bindings)
        var annotation = binding.typeAnnotation
        if annotation == nil, binding.initializer == nil {
            annotation =
                bindings[index...].first { $0.typeAnnotation != nil || $0.initializer != nil }?.typeAnnotation
        }
        if let type = annotation?.type {
            if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
                let optional = TypeSyntax(OptionalTypeSyntax(wrappedType: unwrapped.wrappedType.trimmed))
                fail(
                    "unwrapped-optional", at: type,
                    "'\(type.trimmedDescription)' would trap on NULL: a column is optional or it is not",
                    fixIts: [
                        .replace(type, with: optional, "Use '\(optional.trimmedDescription)'"),
                        .replace(
                            type, with: unwrapped.wrappedType,
                            "Use '\(unwrapped.wrappedType.trimmedDescription)'"),
                    ])
                return nil
            }
            return (type.trimmed, true)
        }
        if let value = binding.initializer?.value, let type = LiteralTypes.type(of: value) {
            return (type, false)
        }
        let annotated = binding.with(\.pattern, binding.pattern.with(\.trailingTrivia, []))
            .with(
                \.typeAnnotation,
                TypeAnnotationSyntax(
                    colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("<#Type#>"),
                    trailingTrivia: binding.initializer == nil ? [] : .space))
        fail(
            "no-type", at: binding.pattern,
            "the type of '\(name.text)' can't be seen in the source: write it",
            fixIts: [.replace(binding, with: annotated, "Add a type")])
        return nil
    }

    /// Two columns of one name; SQLite compares names without case.
    mutating func reportDuplicates() {
        var seen: [String: String] = [:]
        for column in columns {
            let key = column.sqlName.lowercased()
            guard let first = seen[key] else {
                seen[key] = column.name.text
                continue
            }
            let argument = column.arguments?.nodes[""]
            let fixIt = argument.flatMap { Removing.argument($0, "Remove the name") }
            fail(
                "duplicate-column", at: argument.map { Syntax($0.expression) } ?? Syntax(column.token),
                "the column '\(column.sqlName)' belongs to '\(first)' already", fixIts: [fixIt])
        }
    }
}
