import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Table("name", schema: "x")`: a type whose values are rows of a table.
///
/// The members stand in the type, where the names of other types mean what they mean to the user. The initializer stands
/// in an extension, so that Swift still writes the one that takes all properties.
enum TableMacro: MemberMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if let selection = declaration.attributes.named("Selection") {
            context.warning(
                "table-selection", at: selection, "'@Table' does all that '@Selection' does",
                fixIts: [Removing.attribute(selection)].compactMap { $0 })
        }
        if let enumeration = declaration.as(EnumDeclSyntax.self) {
            return EnumEmission(enumeration, node, in: context)?.members ?? []
        }
        guard let structure = TypeChecks.structure(declaration, node, in: context),
            let model = RowModel.table(structure, node, in: context)
        else { return [] }
        var texts = RowEmission(model).members
        if model.primaryKey != nil {
            texts.append(DraftEmission(model, nested: structure.nestedTypeNames).declaration)
        }
        return texts.map { "\(raw: $0)" }
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let silent = SilentContext(context)
        if let enumeration = declaration.as(EnumDeclSyntax.self) {
            return try EnumEmission(enumeration, node, in: silent)?.extensions(of: type) ?? []
        }
        guard let structure = TypeChecks.structure(declaration, node, in: silent),
            let model = RowModel.table(structure, node, in: silent)
        else { return [] }
        return [try RowEmission(model).conformance(of: type)]
    }
}

/// `@Selection("name")`: a row of a query, a group of columns, or an enum whose cases share a table.
enum SelectionMacro: MemberMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if declaration.attributes.named("Table") != nil { return [] }
        if let enumeration = declaration.as(EnumDeclSyntax.self) {
            return EnumEmission(enumeration, node, in: context)?.members ?? []
        }
        guard let structure = TypeChecks.structure(declaration, node, in: context),
            let model = RowModel.selection(structure, node, in: context)
        else { return [] }
        return RowEmission(model).members.map { "\(raw: $0)" }
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        if declaration.attributes.named("Table") != nil { return [] }
        let silent = SilentContext(context)
        if let enumeration = declaration.as(EnumDeclSyntax.self) {
            return try EnumEmission(enumeration, node, in: silent)?.extensions(of: type) ?? []
        }
        guard let structure = TypeChecks.structure(declaration, node, in: silent),
            let model = RowModel.selection(structure, node, in: silent)
        else { return [] }
        return [try RowEmission(model).conformance(of: type)]
    }
}

extension StructDeclSyntax {
    /// The names of the types that the struct declares.
    var nestedTypeNames: Set<String> {
        var names: Set<String> = []
        for member in memberBlock.members {
            if let type = member.decl.asProtocol((any NamedDeclSyntax).self),
                !member.decl.is(FunctionDeclSyntax.self),
                !member.decl.is(MacroDeclSyntax.self)
            {
                names.insert(type.name.text)
            }
        }
        return names
    }
}
