import SwiftSyntax

/// Reads types such as `some Sequence<(String, Int)>`.
enum SequenceType {
    /// A part of a tuple, or the only type.
    struct Part {
        let label: String?
        let type: TypeSyntax
    }

    /// The element of `some Sequence<Element>` and `any Sequence<Element>`; nil for any other type.
    static func element(of type: TypeSyntax) -> TypeSyntax? {
        guard let opaque = type.as(SomeOrAnyTypeSyntax.self) else { return nil }
        let constraint = opaque.constraint
        let arguments: GenericArgumentListSyntax?
        if let name = constraint.as(IdentifierTypeSyntax.self), name.name.text == "Sequence" {
            arguments = name.genericArgumentClause?.arguments
        } else if let member = constraint.as(MemberTypeSyntax.self), member.name.text == "Sequence" {
            arguments = member.genericArgumentClause?.arguments
        } else {
            return nil
        }
        guard let first = arguments?.first else { return nil }
        return "\(raw: first.argument.trimmedDescription)"
    }

    /// `type` without parentheses around it.
    static func unwrapped(_ type: TypeSyntax) -> TypeSyntax {
        if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1,
            let only = tuple.elements.first
        {
            return unwrapped(only.type)
        }
        if let attributed = type.as(AttributedTypeSyntax.self) { return unwrapped(attributed.baseType) }
        return type
    }

    /// The parts of a tuple; any other type is its own only part.
    static func parts(of type: TypeSyntax) -> [Part] {
        let bare = unwrapped(type)
        guard let tuple = bare.as(TupleTypeSyntax.self) else { return [Part(label: nil, type: bare.trimmed)] }
        return tuple.elements.map { element in
            let label = element.firstName.flatMap { $0.tokenKind == .wildcard ? nil : DeclaredName($0).text }
            return Part(label: label, type: element.type.trimmed)
        }
    }
}
