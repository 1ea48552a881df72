import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What SQLite can't call.
extension DatabaseFunctionReader {
    mutating func check(_ function: FunctionDeclSyntax) {
        let effects = function.signature.effectSpecifiers
        if let effects, let async = effects.asyncSpecifier {
            var fixed = function.signature
            if effects.throwsClause == nil {
                fixed.effectSpecifiers = nil
            } else {
                fixed.effectSpecifiers?.asyncSpecifier = nil
            }
            fail(
                "function-async", at: async, "SQLite can't wait: the function must not be 'async'",
                [.replace(function.signature, with: fixed, "Remove 'async'")])
        }
        if let clause = function.genericParameterClause {
            let fixed = function.with(\.genericParameterClause, nil)
            fail(
                "function-generic", at: clause,
                "SQLite passes values of fixed types: the function can't be generic",
                [.replace(function, with: fixed, "Remove the generic parameters")])
        }
    }

    /// A member of an actor is called by its actor only, which SQLite can't wait for.
    mutating func checkIsolation(
        _ modifiers: DeclModifierListSyntax, of declaration: some DeclSyntaxProtocol
    ) {
        let isOfActor = context.lexicalContext.first?.is(ActorDeclSyntax.self) == true
        let isFree = modifiers.contains { ["static", "class", "nonisolated"].contains($0.name.text) }
        guard isOfActor, !isFree else { return }
        fail(
            "function-actor", at: attribute,
            "SQLite can't wait for an actor: the member must be 'static' or 'nonisolated'",
            [Removing.attribute(attribute, of: declaration)])
    }

    mutating func check(_ parameter: FunctionParameterSyntax) {
        if let ellipsis = parameter.ellipsis {
            let fixed = parameter.with(\.ellipsis, nil)
            fail(
                "function-variadic", at: ellipsis, "a database function takes a fixed number of values",
                [.replace(parameter, with: fixed, "Take one value")])
        }
        if let attributed = parameter.type.as(AttributedTypeSyntax.self), !attributed.specifiers.isEmpty {
            fail(
                "function-specifier", at: attributed.specifiers,
                "'\(attributed.specifiers.trimmedDescription)' has no meaning for a value from SQLite",
                [
                    .replace(
                        parameter.type, with: attributed.baseType,
                        "Remove '\(attributed.specifiers.trimmedDescription)'")
                ])
        }
        if let opaque = parameter.type.as(SomeOrAnyTypeSyntax.self) {
            let fixed: TypeSyntax = "<#Type#>"
            fail(
                "function-opaque", at: opaque,
                "SQLite passes values of fixed types: only an aggregate's 'some Sequence<Element>' is open",
                [.replace(parameter.type, with: fixed, "Name a type")])
        }
    }

    mutating func reportCount(_ type: FunctionTypeSyntax, _ function: FunctionDeclSyntax) {
        let names = function.signature.parameterClause.parameters.map(\.type.trimmedDescription)
        let output = function.signature.returnClause?.type.trimmedDescription ?? "Void"
        let fixed: ExprSyntax = "((\(raw: names.joined(separator: ", "))) -> \(raw: output)).self"
        guard case .argumentList(let arguments) = attribute.arguments,
            let argument = arguments.first(where: { $0.label?.text == "as" })
        else { return }
        fail(
            "function-count", at: argument.expression,
            "'as:' names \(type.parameters.count) and the function takes \(names.count)",
            [.replace(argument.expression, with: fixed, "Use the function's own types")])
    }
}
