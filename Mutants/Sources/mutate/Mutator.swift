import SwiftSyntax

/// Writes mutations beside what they change: `(isMutant(7) ? a <= b : a < b)`.
///
/// One build has all of them that way, and one of them at most is switched on, so the changed branch can have its
/// operands as they were. See Untch, Offutt, Harrold: Mutation Analysis Using Mutant Schemata (ISSTA 1993).
final class Mutator: SyntaxRewriter {
    private let file: String
    private let leftOut: Set<String>
    private let places: SourceLocationConverter
    private var next: Int
    private(set) var mutations: [Mutation] = []
    /// Initializers have to set all that is stored, so nothing of that is left out.
    private var initializerDepth = 0
    private var codeDepth = 0

    init(file: String, first: Int, leftOut: Set<String>, places: SourceLocationConverter) {
        self.file = file
        self.leftOut = leftOut
        self.places = places
        next = first
    }

    // MARK: - Where

    override func visit(_ node: CodeBlockSyntax) -> CodeBlockSyntax {
        codeDepth += 1
        defer { codeDepth -= 1 }
        return super.visit(node)
    }

    override func visit(_ node: AccessorBlockSyntax) -> AccessorBlockSyntax {
        codeDepth += 1
        defer { codeDepth -= 1 }
        return super.visit(node)
    }

    override func visit(_ node: InitializerDeclSyntax) -> DeclSyntax {
        initializerDepth += 1
        defer { initializerDepth -= 1 }
        return super.visit(node)
    }

    // What says what holds, and how values look in logs, is not what is checked.
    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
        let name = node.calledExpression.trimmedDescription
        if ["assert", "precondition", "isMutant"].contains(name) || name.hasPrefix("assert") {
            return ExprSyntax(node)
        }
        let isExtreme = name == "max" || name == "min"
        let changed = (name == "max" ? "min" : "max") + String(node.trimmedDescription.dropFirst(3))
        let visited = super.visit(node)
        return isExtreme ? choice(node, visited, changed) : visited
    }

    override func visit(_ node: SwitchCaseItemSyntax) -> SwitchCaseItemSyntax { node }
    override func visit(_ node: AttributeListSyntax) -> AttributeListSyntax { node }
    override func visit(_ node: FunctionParameterClauseSyntax) -> FunctionParameterClauseSyntax { node }

    // MARK: - What

    /// The node, or what is to be instead of it when the mutation is on.
    private func choice(_ node: some SyntaxProtocol, _ visited: some ExprSyntaxProtocol, _ changed: String)
        -> ExprSyntax
    {
        guard codeDepth > 0, let number = note(node, changed) else { return ExprSyntax(visited) }
        let text = "(isMutant(\(number)) ? \(changed) : \(visited.trimmedDescription))"
        return ExprSyntax(
            DeclReferenceExprSyntax(
                leadingTrivia: node.leadingTrivia, baseName: .identifier(text),
                trailingTrivia: node.trailingTrivia))
    }

    private func note(_ node: some SyntaxProtocol, _ changed: String) -> Int? {
        let mutation = Mutation(
            number: next, file: file, line: node.startLocation(converter: places).line,
            original: oneLine(node.trimmedDescription), changed: oneLine(changed))
        // Of two of one kind in one file, both are left out.
        guard !leftOut.contains(mutation.identity) else { return nil }
        mutations.append(mutation)
        next += 1
        return mutation.number
    }

    private func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> ExprSyntax {
        guard let name = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else {
            return super.visit(node)
        }
        let left = node.leftOperand.trimmedDescription
        let right = node.rightOperand.trimmedDescription
        var result = super.visit(node)
        for changed in Self.replacements[name] ?? [] {
            // Texts and arrays are added, too, and can't be subtracted.
            if name == "+", left.hasPrefix("\"") || right.hasPrefix("\"") || left.hasPrefix("[") { continue }
            result = choice(node, result, "\(left) \(changed) \(right)")
        }
        return result
    }

    private static let replacements = [
        "&&": ["||"], "||": ["&&"], "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"],
        ">": [">=", "<="],
        ">=": [">", "<"], "+": ["-"], "-": ["+"], "&+": ["&-"], "&-": ["&+"], "*": ["+"], "/": ["*"],
        "%": ["/"],
    ]

    override func visit(_ node: PrefixOperatorExprSyntax) -> ExprSyntax {
        let visited = super.visit(node)
        return node.operator.text == "!" ? choice(node, visited, node.expression.trimmedDescription) : visited
    }

    override func visit(_ node: ConditionElementSyntax) -> ConditionElementSyntax {
        var visited = super.visit(node)
        guard case .expression(let condition) = node.condition, case .expression(let new) = visited.condition,
            condition.is(FunctionCallExprSyntax.self) || condition.is(MemberAccessExprSyntax.self)
                || condition.is(DeclReferenceExprSyntax.self) || condition.is(TryExprSyntax.self)
        else { return visited }
        visited.condition = .expression(choice(condition, new, "!(\(condition.trimmedDescription))"))
        return visited
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> ExprSyntax {
        choice(node, node, node.literal.text == "true" ? "false" : "true")
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> ExprSyntax {
        guard let value = Int(node.literal.text) else { return ExprSyntax(node) }
        return choice(node, node, "\(value + 1)")
    }

    // MARK: - SQL

    private static let sqlWords = [
        "SELECT ", "UPDATE ", "DELETE ", "INSERT ", "WHERE ", "EXISTS", "JOIN ", "ORDER BY ",
    ]

    override func visit(_ node: StringLiteralExprSyntax) -> ExprSyntax {
        let text = node.trimmedDescription
        guard Self.sqlWords.contains(where: text.contains) else { return ExprSyntax(node) }
        var result = ExprSyntax(node)
        for changed in (try? SQLMutations.texts(of: text)) ?? [] {
            guard codeDepth > 0, let number = note(node, changed.description, as: changed) else { continue }
            let written = "(isMutant(\(number)) ? \(changed.text) : \(result.trimmedDescription))"
            result = ExprSyntax(
                DeclReferenceExprSyntax(
                    leadingTrivia: node.leadingTrivia, baseName: .identifier(written),
                    trailingTrivia: node.trailingTrivia))
        }
        return result
    }

    private func note(_ node: StringLiteralExprSyntax, _ description: String, as change: SQLMutations.Change)
        -> Int?
    {
        let line = node.startLocation(converter: places).line + change.line
        let mutation = Mutation(
            number: next, file: file, line: line, original: change.original, changed: change.changed)
        guard !leftOut.contains(mutation.identity) else { return nil }
        mutations.append(mutation)
        next += 1
        return mutation.number
    }

    // MARK: - Statements

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        let isOnly = node.count == 1
        let items = node.map { item -> CodeBlockItemSyntax in
            let visited = super.visit(item)
            guard codeDepth > 0, !isOnly || isInVoidFunction(node), isRemovable(item) else { return visited }
            guard let number = note(item, "") else { return visited }
            let text = "if !isMutant(\(number)) { \(visited.trimmedDescription) }"
            return CodeBlockItemSyntax(
                leadingTrivia: item.leadingTrivia,
                item: .expr(ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(text)))),
                trailingTrivia: item.trailingTrivia)
        }
        return CodeBlockItemListSyntax(items)
    }

    /// A call or an assignment whose absence the compiler need not notice.
    private func isRemovable(_ item: CodeBlockItemSyntax) -> Bool {
        guard case .expr(var expression) = item.item else { return false }
        while let inner = expression.as(TryExprSyntax.self)?.expression
            ?? expression.as(AwaitExprSyntax.self)?.expression
        {
            expression = inner
        }
        if let call = expression.as(FunctionCallExprSyntax.self) {
            let name = call.calledExpression.trimmedDescription
            return !name.hasPrefix("assert")
                && !["precondition", "super.init", "self.init", "fatalError"].contains(name)
        }
        guard initializerDepth == 0, let infix = expression.as(InfixOperatorExprSyntax.self) else {
            return false
        }
        return infix.operator.is(AssignmentExprSyntax.self)
            || infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text.hasSuffix("=") == true
    }

    /// Whether the statements are those of a block after which something can follow, or of a function without a result.
    private func isInVoidFunction(_ node: CodeBlockItemListSyntax) -> Bool {
        guard let block = node.parent?.as(CodeBlockSyntax.self) else { return false }
        if let function = block.parent?.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause == nil
        }
        return block.parent?.is(GuardStmtSyntax.self) != true
            && block.parent?.is(AccessorDeclSyntax.self) != true
    }
}
