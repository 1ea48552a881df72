import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads the function of `@DatabaseFunction`, and reports what SQLite couldn't call.
struct DatabaseFunctionReader<Context: MacroExpansionContext> {
    let attribute: AttributeSyntax
    let context: Context
    private var failed = false

    init(_ attribute: AttributeSyntax, in context: Context) {
        self.attribute = attribute
        self.context = context
    }

    /// The model of `declaration`, or nil after a diagnostic.
    static func model(
        of declaration: some DeclSyntaxProtocol, _ attribute: AttributeSyntax, in context: Context
    ) -> DatabaseFunctionModel? {
        var reader = Self(attribute, in: context)
        if let function = declaration.as(FunctionDeclSyntax.self) { return reader.read(function) }
        if let variable = declaration.as(VariableDeclSyntax.self) { return reader.read(variable) }
        reader.fail(
            "function-kind", at: attribute,
            "'@DatabaseFunction' can only be attached to a function or a property",
            [Removing.attribute(attribute, of: declaration)])
        return nil
    }

    mutating func fail(_ id: String, at node: some SyntaxProtocol, _ message: String, _ fixIts: [FixIt?]) {
        failed = true
        context.error(id, at: node, message, fixIts: fixIts.compactMap { $0 })
    }

    // MARK: Declarations

    private mutating func read(_ function: FunctionDeclSyntax) -> DatabaseFunctionModel? {
        check(function)
        checkIsolation(function.modifiers, of: function)
        let signature = functionType()
        let parameters = function.signature.parameterClause.parameters
        if let signature, signature.parameters.count != parameters.count {
            reportCount(signature, function)
        }
        let output = function.signature.returnClause?.type.trimmed
        let form = form(of: parameters, signature)
        guard !failed, let form else { return nil }
        return DatabaseFunctionModel(
            name: DeclaredName(function.name), sqlName: sqlName() ?? DeclaredName(function.name).text,
            form: form,
            output: Self.isVoid(output) ? nil : output,
            outputRepresentation: Self.isVoid(output) ? nil : signature?.returnClause.type.trimmed ?? output,
            isDeterministic: isDeterministic(),
            isThrowing: function.signature.effectSpecifiers?.throwsClause != nil,
            isStatic: isStatic(function.modifiers), isOfInstance: isOfInstance(function.modifiers),
            access: Access(function.modifiers))
    }

    private mutating func read(_ variable: VariableDeclSyntax) -> DatabaseFunctionModel? {
        guard let binding = variable.bindings.first, variable.bindings.count == 1,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            fail(
                "function-pattern", at: variable.bindings,
                "'@DatabaseFunction' needs one property with a name",
                [Removing.attribute(attribute, of: variable)])
            return nil
        }
        guard let type = binding.typeAnnotation?.type.trimmed else {
            let inferred = binding.initializer.flatMap { LiteralTypes.type(of: $0.value) } ?? "<#Type#>"
            let annotated = binding.with(\.pattern.trailingTrivia, []).with(
                \.typeAnnotation,
                TypeAnnotationSyntax(
                    colon: .colonToken(trailingTrivia: .space), type: inferred, trailingTrivia: .space))
            fail(
                "function-no-type", at: pattern, "the type of '\(pattern.identifier.text)' must be written",
                [.replace(binding, with: annotated, "Add the type '\(inferred.trimmedDescription)'")])
            return nil
        }
        // A constant is read by whoever has the actor.
        if variable.bindingSpecifier.tokenKind == .keyword(.var) {
            checkIsolation(variable.modifiers, of: variable)
        }
        guard !failed else { return nil }
        let name = DeclaredName(pattern.identifier)
        return DatabaseFunctionModel(
            name: name, sqlName: sqlName() ?? name.text, form: .property, output: type,
            outputRepresentation: functionType()?.returnClause.type.trimmed ?? representation() ?? type,
            isDeterministic: isDeterministic(), isThrowing: Self.throwsInGetter(binding),
            isStatic: isStatic(variable.modifiers), isOfInstance: isOfInstance(variable.modifiers),
            access: Access(variable.modifiers))
    }

    private static func throwsInGetter(_ binding: PatternBindingSyntax) -> Bool {
        guard case .accessors(let accessors) = binding.accessorBlock?.accessors else { return false }
        return accessors.contains { $0.effectSpecifiers?.throwsClause != nil }
    }

    // MARK: Parameters

    private mutating func form(
        of parameters: FunctionParameterListSyntax, _ signature: FunctionTypeSyntax?
    ) -> DatabaseFunctionModel.Form? {
        let types = signature?.parameters.map(\.type) ?? []
        if let sequence = parameters.first(where: { SequenceType.element(of: $0.type) != nil }) {
            return aggregate(sequence, of: parameters, types.first)
        }
        var found: [DatabaseFunctionModel.Parameter] = []
        for (index, parameter) in parameters.enumerated() {
            check(parameter)
            let type = parameter.type.trimmed
            found.append(
                .init(
                    label: parameter.firstName.tokenKind == .wildcard
                        ? nil : DeclaredName(parameter.firstName).text,
                    name: DeclaredName(parameter.secondName ?? parameter.firstName), type: type,
                    representation: index < types.count ? types[index].trimmed : type,
                    defaultValue: parameter.defaultValue?.value.trimmed))
        }
        return .scalar(found)
    }

    private mutating func aggregate(
        _ sequence: FunctionParameterSyntax, of parameters: FunctionParameterListSyntax,
        _ representation: TypeSyntax?
    ) -> DatabaseFunctionModel.Form? {
        guard parameters.count == 1, let element = SequenceType.element(of: sequence.type) else {
            let only = FunctionParameterListSyntax([sequence.with(\.trailingComma, nil)])
            fail(
                "aggregate-parameters", at: sequence.type,
                "an aggregate takes one sequence: for several columns, make its elements tuples",
                [.replace(parameters, with: only, "Keep the sequence only")])
            return nil
        }
        let stored = representation.map { SequenceType.element(of: $0) ?? $0 } ?? element
        let types = SequenceType.parts(of: element)
        let representations = SequenceType.parts(of: stored)
        let whole = DatabaseFunctionModel.Parameter(
            label: sequence.firstName.tokenKind == .wildcard ? nil : DeclaredName(sequence.firstName).text,
            name: DeclaredName(sequence.secondName ?? sequence.firstName), type: element,
            representation: stored,
            defaultValue: nil)
        let elements = types.enumerated().map { index, part in
            DatabaseFunctionModel.Parameter(
                label: part.label, name: DeclaredName(text: part.label ?? "p\(index)"), type: part.type,
                representation: index < representations.count ? representations[index].type : part.type,
                defaultValue: nil)
        }
        return .aggregate(whole, elements: elements)
    }

    private static func isVoid(_ type: TypeSyntax?) -> Bool {
        guard let type else { return true }
        return ["Void", "()", "Swift.Void"].contains(type.trimmedDescription)
    }

    /// Whether it is a member that needs an instance, which the closure that SQLite calls holds.
    private func isOfInstance(_ modifiers: DeclModifierListSyntax) -> Bool {
        let isMember =
            context.lexicalContext.first.map { $0.asProtocol((any DeclGroupSyntax).self) != nil } ?? false
        return isMember && !isStatic(modifiers)
    }

    private func isStatic(_ modifiers: DeclModifierListSyntax) -> Bool {
        modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    // MARK: Arguments of the attribute

    private func argument(_ label: String) -> LabeledExprSyntax? {
        guard case .argumentList(let arguments) = attribute.arguments else { return nil }
        return arguments.first { ($0.label?.text ?? "") == label }
    }

    private func sqlName() -> String? {
        argument("").flatMap { SQLName.literal($0, "a function's name", in: context) }
    }

    private func isDeterministic() -> ExprSyntax {
        argument("isDeterministic")?.expression.trimmed ?? "false"
    }

    private func representation() -> TypeSyntax? {
        argument("as").flatMap { ColumnArguments.metatype($0, of: "DatabaseFunction", in: context) }
    }

    /// The function type in `as: ((A) -> B).self`.
    private func functionType() -> FunctionTypeSyntax? {
        guard let type = representation() else { return nil }
        return SequenceType.unwrapped(type).as(FunctionTypeSyntax.self)
    }
}
