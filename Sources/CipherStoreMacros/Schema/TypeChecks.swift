import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What a type must be to carry `@Table` or `@Selection`.
enum TypeChecks {
    /// The struct that `attribute` is attached to; otherwise a diagnostic.
    static func structure(
        _ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax,
        in context: some MacroExpansionContext
    ) -> StructDeclSyntax? {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            reportKind(declaration, attribute, in: context)
            return nil
        }
        return structure
    }

    /// False, with a diagnostic, if there is a clause: the cases of a table have types that are known.
    static func acceptsGenerics(
        _ clause: GenericParameterClauseSyntax?, _ macro: String, in context: some MacroExpansionContext
    ) -> Bool {
        guard let clause else { return true }
        var changes: [FixIt.Change] = []
        if let name = clause.previousToken(viewMode: .sourceAccurate),
            let enumeration = clause.parent?.as(EnumDeclSyntax.self)
        {
            changes.append(
                .replace(
                    oldNode: Syntax(enumeration),
                    newNode: Syntax(
                        enumeration.with(\.genericParameterClause, nil)
                            .with(\.name, name.with(\.trailingTrivia, clause.trailingTrivia)))))
        }
        context.error(
            "generic-type", at: clause,
            "'@\(macro)' can't be attached to a generic enum: its cases have one type each",
            fixIts: changes.isEmpty ? [] : [.changes("Remove the generic parameters", changes)])
        return false
    }

    private static func reportKind(
        _ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax,
        in context: some MacroExpansionContext
    ) {
        let macro = attribute.attributeName.trimmedDescription
        let keyword = keyword(of: declaration)
        var fixIts: [FixIt] = []
        if declaration.is(ClassDeclSyntax.self) || declaration.is(ActorDeclSyntax.self) {
            fixIts.append(.replace(keyword, with: TokenSyntax.keyword(.struct), "Use 'struct'"))
        }
        if let removal = Removing.attribute(attribute, of: declaration) { fixIts.append(removal) }
        context.error(
            "no-struct", at: keyword,
            "'@\(macro)' can only be attached to a struct or an enum", fixIts: fixIts)
    }

    private static func keyword(of declaration: some DeclGroupSyntax) -> TokenSyntax {
        if let type = declaration.as(ClassDeclSyntax.self) { return type.classKeyword }
        if let type = declaration.as(ActorDeclSyntax.self) { return type.actorKeyword }
        if let type = declaration.as(EnumDeclSyntax.self) { return type.enumKeyword }
        if let type = declaration.as(ProtocolDeclSyntax.self) { return type.protocolKeyword }
        if let type = declaration.as(ExtensionDeclSyntax.self) { return type.extensionKeyword }
        return declaration.firstToken(viewMode: .sourceAccurate) ?? .identifier("")
    }

    /// Reports a type without a column.
    static func reportEmpty(
        _ type: some DeclGroupSyntax & NamedDeclSyntax, _ macro: String,
        in context: some MacroExpansionContext
    ) {
        let isEnum = type.is(EnumDeclSyntax.self)
        let member: DeclSyntax = isEnum ? "case <#name#>(<#Type#>)" : "var <#name#>: <#Type#>"
        var members = type.memberBlock.members
        let indent = type.firstToken(viewMode: .sourceAccurate)?.leadingTrivia.indentationOnly ?? []
        members.insert(
            MemberBlockItemSyntax(
                leadingTrivia: .newline + indent + .spaces(4), decl: member), at: members.startIndex)
        var block = type.memberBlock.with(\.members, members)
        if !block.rightBrace.leadingTrivia.contains(where: \.isNewline), type.memberBlock.members.isEmpty {
            block.rightBrace = block.rightBrace.with(\.leadingTrivia, .newline + indent)
        }
        context.error(
            "no-columns", at: type.name,
            "'@\(macro)' needs at least one \(isEnum ? "case" : "stored property") for a column",
            fixIts: [.replace(type.memberBlock, with: block, isEnum ? "Add a case" : "Add a property")])
    }
}
