import SwiftSyntax

/// Names that mean something else inside of a type that a macro nests in another: `Self`, and, in a type that has members
/// of the same names, those of its neighbours.
final class NestedNames: SyntaxRewriter {
    private let owner: String
    private let nested: Set<String>

    /// - parameters:
    ///     - owner: What the outer type is called.
    ///     - nested: The names of types in it that are to be named in full.
    init(owner: String, nested: Set<String> = []) {
        self.owner = owner
        self.nested = nested
        super.init(viewMode: .sourceAccurate)
    }

    func rewrite(_ type: TypeSyntax) -> TypeSyntax {
        super.rewrite(Syntax(type)).as(TypeSyntax.self) ?? type
    }

    func rewrite(_ expression: ExprSyntax) -> ExprSyntax {
        super.rewrite(Syntax(expression)).as(ExprSyntax.self) ?? expression
    }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        let inner = super.visit(node)
        if node.name.text == "Self" { return Self.place("\(raw: owner)", at: node) }
        if nested.contains(node.name.text) { return Self.place("\(raw: owner).\(inner.trimmed)", at: node) }
        return inner
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        if node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id { return ExprSyntax(node) }
        if node.baseName.text == "Self" { return Self.place("\(raw: owner)", at: node) }
        if nested.contains(node.baseName.text) {
            return Self.place("\(raw: owner).\(raw: node.baseName.text)", at: node)
        }
        return ExprSyntax(node)
    }

    /// Puts a type where another node was, with the blanks around it: `x as? Self ?? y` needs them.
    private static func place(_ type: TypeSyntax, at node: some SyntaxProtocol) -> TypeSyntax {
        type.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    private static func place(_ expression: ExprSyntax, at node: some SyntaxProtocol) -> ExprSyntax {
        expression.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }
}
