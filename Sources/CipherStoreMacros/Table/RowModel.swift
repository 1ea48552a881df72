import SwiftSyntax
import SwiftSyntaxMacros

/// A struct as `@Table` and `@Selection` see it: what the expansions are written from.
struct RowModel {
    /// The type's name.
    let name: DeclaredName
    /// The table's or the selection's name in SQL.
    let sqlName: String
    let schema: String?
    let access: Access
    /// The word before names of the type in an extension.
    let aliasAccess: String
    /// The lines before an extension that say where the type is available.
    let availability: String
    /// Whether no type around it keeps it within its module.
    let isExposed: Bool
    /// The columns, in whose types the type has its name.
    let columns: [Column]
    /// The names that a nested `CodingKeys` gives properties, by those of the properties.
    let codingNames: [String: String]

    var primaryKey: Column? { columns.first(where: \.isPrimaryKey) }
}

/// The arguments of `@Table(_:schema:)` and `@Selection(_:)`.
struct RowArguments {
    var name: String?
    var schema: String?

    init(_ attribute: AttributeSyntax, in context: some MacroExpansionContext) {
        guard case .argumentList(let arguments) = attribute.arguments else { return }
        for argument in arguments {
            switch argument.label?.text {
            case nil: name = SQLName.literal(argument, "a table's name", in: context)
            case "schema": schema = SQLName.literal(argument, "a schema's name", in: context)
            default: continue
            }
        }
    }
}

extension RowModel {
    /// The model of a struct with `@Table`, or nil after a diagnostic.
    static func table(
        _ structure: StructDeclSyntax, _ attribute: AttributeSyntax, in context: some MacroExpansionContext
    ) -> RowModel? {
        let arguments = RowArguments(attribute, in: context)
        var reader = PropertyReader(macro: "Table", context: context)
        reader.read(structure.memberBlock.members)
        let columns = reader.columnsWithPrimaryKey()
        guard !reader.failed else { return nil }
        guard !columns.isEmpty else {
            TypeChecks.reportEmpty(structure, "Table", in: context)
            return nil
        }
        return RowModel(structure, arguments, columns, in: context)
    }

    /// The model of a struct with `@Selection`, or nil after a diagnostic.
    static func selection(
        _ structure: StructDeclSyntax, _ attribute: AttributeSyntax, in context: some MacroExpansionContext
    ) -> RowModel? {
        let arguments = RowArguments(attribute, in: context)
        var reader = PropertyReader(macro: "Selection", context: context)
        reader.read(structure.memberBlock.members)
        reader.reportTableOnlyArguments()
        guard !reader.failed else { return nil }
        guard !reader.columns.isEmpty else {
            TypeChecks.reportEmpty(structure, "Selection", in: context)
            return nil
        }
        return RowModel(structure, arguments, reader.columns, in: context)
    }

    private init(
        _ structure: StructDeclSyntax, _ arguments: RowArguments, _ columns: [Column],
        in context: some MacroExpansionContext
    ) {
        let name = DeclaredName(structure.name)
        self.name = name
        sqlName = arguments.name ?? Pluraliser.tableName(forType: name.text)
        schema = arguments.schema
        access = Access(structure.modifiers)
        aliasAccess = Access.ofAliases(structure.modifiers, in: context)
        availability = Availability.ofExtension(structure.attributes, in: context)
        isExposed = Access.isExposed(in: context)
        self.columns = columns.map { $0.naming(name) }
        codingNames = structure.codingNames(in: "CodingKeys")
    }
}

extension DeclGroupSyntax {
    /// The texts of the cases of a nested enum of coding keys, by their names.
    func codingNames(in enumeration: String) -> [String: String] {
        let keys = memberBlock.members.lazy.compactMap { $0.decl.as(EnumDeclSyntax.self) }
            .first { $0.name.text == enumeration }
        var names: [String: String] = [:]
        for member in keys?.memberBlock.members ?? [] {
            guard let list = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            for element in list.elements {
                let text = element.rawValue?.value.as(StringLiteralExprSyntax.self)?.representedLiteralValue
                let name = DeclaredName(element.name).text
                names[name] = text ?? name
            }
        }
        return names
    }
}
