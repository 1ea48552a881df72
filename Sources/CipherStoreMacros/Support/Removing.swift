import SwiftDiagnostics
import SwiftSyntax

/// Fixes that take something out of the source.
enum Removing {
    /// Removes the attribute that a macro was called with. It comes without its declaration, which has another copy.
    static func attribute(_ attribute: AttributeSyntax, of declaration: some SyntaxProtocol) -> FixIt? {
        let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
        let copy = attributes?.first { $0.trimmedDescription == attribute.trimmedDescription }
        if let copy = copy?.as(AttributeSyntax.self) { return Removing.attribute(copy) }
        return .changes(
            "Remove '@\(attribute.attributeName.trimmedDescription)'",
            [.replace(oldNode: Syntax(attribute), newNode: Syntax(AttributeListSyntax([])))])
    }

    /// Removes `attribute` from the declaration that carries it.
    static func attribute(_ attribute: AttributeSyntax) -> FixIt? {
        guard let list = attribute.parent?.as(AttributeListSyntax.self) else { return nil }
        let name = attribute.attributeName.trimmedDescription
        var rest = list.filter { $0.id != attribute.id }
        // The indentation before the first attribute belongs to the line.
        if let first = rest.first, list.first?.id == attribute.id {
            rest = AttributeListSyntax(
                [first.with(\.leadingTrivia, list.leadingTrivia)] + Array(rest.dropFirst()))
        }
        let text = "Remove '@\(name)'"
        if rest.isEmpty, let next = list.nextToken(viewMode: .sourceAccurate) {
            return .changes(
                text,
                [
                    .replace(oldNode: Syntax(list), newNode: Syntax(AttributeListSyntax([]))),
                    .replaceLeadingTrivia(token: next, newTrivia: list.leadingTrivia),
                ])
        }
        return .changes(text, [.replace(oldNode: Syntax(list), newNode: Syntax(rest))])
    }

    /// Removes `argument` from a list, with the comma that it leaves over.
    static func argument(_ argument: LabeledExprSyntax, _ message: String) -> FixIt? {
        guard let list = argument.parent?.as(LabeledExprListSyntax.self) else { return nil }
        var rest = Array(list.filter { $0.id != argument.id })
        if rest.isEmpty, let attribute = list.parent?.as(AttributeSyntax.self) {
            // `@Column()` says no more than `@Column`.
            let bare = AttributeSyntax(attribute.attributeName.trimmed)
            return .replace(attribute, with: bare, message)
        }
        if let last = rest.indices.last {
            rest[last] = rest[last].with(\.trailingComma, nil).with(\.trailingTrivia, [])
        }
        if let first = rest.indices.first, list.first?.id == argument.id {
            rest[first] = rest[first].with(\.leadingTrivia, list.leadingTrivia)
        }
        return .changes(
            message, [.replace(oldNode: Syntax(list), newNode: Syntax(LabeledExprListSyntax(rest)))])
    }

    /// Removes `modifier`, such as `private`, from its declaration.
    static func modifier(_ modifier: DeclModifierSyntax, _ message: String) -> FixIt? {
        guard let list = modifier.parent?.as(DeclModifierListSyntax.self) else { return nil }
        let rest = list.filter { $0.id != modifier.id }
        guard let next = modifier.nextToken(viewMode: .sourceAccurate) else { return nil }
        return .changes(
            message,
            [
                .replace(oldNode: Syntax(list), newNode: Syntax(rest)),
                .replaceLeadingTrivia(token: next, newTrivia: modifier.leadingTrivia),
            ])
    }
}
