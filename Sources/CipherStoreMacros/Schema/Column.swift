import SwiftSyntax

/// A stored property that is a column, or several of them if its type is a column group.
struct Column {
    /// The property's name.
    let name: DeclaredName
    /// The token of the name, for diagnostics.
    let token: TokenSyntax
    /// The column's name in SQL.
    let sqlName: String
    /// The property's type, as written or as its default value shows.
    var type: TypeSyntax
    /// Whether the source names the type.
    let isTypeWritten: Bool
    /// The representation of `as:`.
    var representation: TypeSyntax?
    /// What the property is when nothing else is said; for an optional `var`, Swift's `nil`.
    var defaultValue: ExprSyntax?
    /// Whether it is a `let`.
    let isConstant: Bool
    /// Who may use the property.
    let access: Access
    let arguments: ColumnArguments?
    let attribute: AttributeSyntax?
    /// Whether it is the primary key.
    var isPrimaryKey = false

    /// The type that queries know: the representation where there is one.
    var queryType: TypeSyntax { representation ?? propertyType }

    /// The property's type. Where a literal shows it, Swift's own is named in full: a type of the user's may have its name.
    var propertyType: TypeSyntax {
        let plain = ["String", "Int", "Double", "Bool"].contains(type.trimmedDescription)
        return !isTypeWritten && plain ? "Swift.\(type)" : type
    }

    var isGenerated: Bool { arguments?.generated != nil }

    /// Whether the type is written as an optional one.
    var isOptional: Bool { Self.isOptional(type) }

    /// The column with the type that declares it in the place of `Self`, which means another one in the types that macros
    /// nest in it.
    func naming(_ owner: DeclaredName) -> Self {
        let names = NestedNames(owner: owner.source)
        var column = self
        column.type = names.rewrite(type)
        column.representation = representation.map { names.rewrite($0) }
        column.defaultValue = defaultValue.map { names.rewrite($0) }
        return column
    }

    /// `type` as an optional one; what is optional already stays as it is.
    static func optional(_ type: TypeSyntax) -> TypeSyntax {
        if isOptional(type) { return type }
        switch type.kind {
        case .identifierType, .memberType, .arrayType, .dictionaryType, .tupleType: return "\(type)?"
        default: return "(\(type))?"
        }
    }

    /// The type of the values of an optional one, where its source says it.
    static func wrapped(_ type: TypeSyntax) -> TypeSyntax? {
        if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        let clause =
            type.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? type.as(MemberTypeSyntax.self)?.genericArgumentClause
        guard let first = clause?.arguments.first else { return nil }
        return "\(raw: first.argument.trimmedDescription)"
    }

    static func isOptional(_ type: TypeSyntax) -> Bool {
        if type.is(OptionalTypeSyntax.self) { return true }
        if let name = type.as(IdentifierTypeSyntax.self) { return name.name.text == "Optional" }
        if let member = type.as(MemberTypeSyntax.self) {
            return member.name.text == "Optional" && member.baseType.trimmedDescription == "Swift"
        }
        return false
    }
}
