import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What `@Column(_:as:generated:primaryKey:lazyInitializable:)` says.
struct ColumnArguments {
    /// When SQLite computes a column by itself.
    enum Generated: String, Sendable {
        case stored
        case virtual
    }

    /// The column's name in SQL.
    var name: String?
    /// The representation, without `.self`.
    var representation: TypeSyntax?
    var generated: Generated?
    var primaryKey: Bool?
    var lazyInitializable: Bool?
    /// The argument of each label, for diagnostics; the name has the label "".
    var nodes: [String: LabeledExprSyntax] = [:]

    /// Reads the arguments of `attribute`. What is wrong with one is reported, and the others are read.
    init(_ attribute: AttributeSyntax, in context: some MacroExpansionContext) {
        guard case .argumentList(let arguments) = attribute.arguments else { return }
        for argument in arguments {
            let label = argument.label?.text ?? ""
            nodes[label] = argument
            switch label {
            case "": name = Self.name(argument, in: context)
            case "as": representation = Self.metatype(argument, of: "Column", in: context)
            case "generated": generated = Self.generated(argument, in: context)
            case "primaryKey": primaryKey = Self.boolean(argument, in: context)
            case "lazyInitializable": lazyInitializable = Self.boolean(argument, in: context)
            default: continue
            }
        }
    }

    private static func name(_ argument: LabeledExprSyntax, in context: some MacroExpansionContext) -> String?
    {
        guard let text = SQLName.literal(argument, "a column's name", in: context) else { return nil }
        return text
    }

    /// The type in `X.self`.
    static func metatype(
        _ argument: LabeledExprSyntax, of macro: String, in context: some MacroExpansionContext
    ) -> TypeSyntax? {
        let value = argument.expression
        if let member = value.as(MemberAccessExprSyntax.self),
            member.declName.baseName.tokenKind == .keyword(.self),
            let base = member.base
        {
            return "\(raw: base.trimmedDescription)"
        }
        let fixed: ExprSyntax = "\(raw: value.trimmedDescription).self"
        context.error(
            "no-metatype", at: value, "'as:' takes a type: write '\(value.trimmedDescription).self'",
            fixIts: [.replace(value, with: fixed, "Add '.self'")])
        return nil
    }

    private static func generated(
        _ argument: LabeledExprSyntax, in context: some MacroExpansionContext
    ) -> Generated? {
        let value = argument.expression
        if let member = value.as(MemberAccessExprSyntax.self),
            let generated = Generated(rawValue: member.declName.baseName.text)
        {
            return generated
        }
        if value.is(NilLiteralExprSyntax.self) { return nil }
        context.error(
            "generated-no-literal", at: value,
            "'generated:' must be '.stored' or '.virtual': the macro reads source, no values",
            fixIts: [
                .replace(value, with: ExprSyntax(".virtual"), "Use '.virtual'"),
                .replace(value, with: ExprSyntax(".stored"), "Use '.stored'"),
            ])
        return nil
    }

    private static func boolean(_ argument: LabeledExprSyntax, in context: some MacroExpansionContext)
        -> Bool?
    {
        let value = argument.expression
        if let literal = value.as(BooleanLiteralExprSyntax.self) {
            return literal.literal.tokenKind == .keyword(.true)
        }
        if value.is(NilLiteralExprSyntax.self) { return nil }
        let label = argument.label?.text ?? ""
        context.error(
            "no-boolean-literal", at: value,
            "'\(label):' must be 'true' or 'false': the macro reads source, no values",
            fixIts: [
                .replace(value, with: ExprSyntax("true"), "Use 'true'"),
                .replace(value, with: ExprSyntax("false"), "Use 'false'"),
            ])
        return nil
    }
}

/// The name of a table, a column, a schema or a function as an argument of a macro.
enum SQLName {
    /// The text of a string literal. Anything else, an empty name and a null byte are reported.
    static func literal(
        _ argument: LabeledExprSyntax, _ what: String, in context: some MacroExpansionContext
    ) -> String? {
        let value = argument.expression
        if value.is(NilLiteralExprSyntax.self) { return nil }
        guard let text = value.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
            context.error(
                "name-no-literal", at: value, "\(what) must be a string literal without interpolation",
                fixIts: [.replace(value, with: ExprSyntax("\"<#name#>\""), "Write the name here")])
            return nil
        }
        if text.isEmpty || text.unicodeScalars.contains("\0") {
            let fixIt = Removing.argument(argument, "Remove the argument and use the default name")
            context.error(
                "name-empty", at: value,
                text.isEmpty ? "\(what) must not be empty" : "\(what) must not contain a null character",
                fixIts: fixIt.map { [$0] } ?? [])
            return nil
        }
        return text
    }
}
