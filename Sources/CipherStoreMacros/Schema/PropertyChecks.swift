import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The rules for a property's attributes and modifiers.
extension PropertyReader {
    /// An attribute that does nothing where it stands.
    func reportUseless(_ attribute: AttributeSyntax, _ why: String) {
        let name = attribute.attributeName.trimmedDescription
        context.warning(
            "useless-attribute", at: attribute, "'@\(name)' has no effect: \(why)",
            fixIts: [Removing.attribute(attribute)].compactMap { $0 })
    }

    mutating func check(
        ephemeral: AttributeSyntax, _ column: AttributeSyntax?, _ variable: VariableDeclSyntax
    ) {
        if let column {
            fail(
                "ephemeral-column", at: column, "a property is either '@Ephemeral' or a column",
                fixIts: [Removing.attribute(column), Removing.attribute(ephemeral)])
        }
        for binding in variable.bindings where binding.isStored && binding.initializer == nil {
            let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
            let isOptional = binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) == true
            if isVariable && isOptional { continue }
            let value = InitializerClauseSyntax(
                equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
                value: ExprSyntax("<#value#>"))
            let fixed = binding.with(\.trailingTrivia, []).with(\.initializer, value)
            fail(
                "ephemeral-no-default", at: binding.pattern,
                "'@Ephemeral' needs a default value: no column gives '\(binding.pattern.trimmedDescription)' one",
                fixIts: [.replace(binding, with: fixed, "Add a default value")])
        }
    }

    mutating func reportPrivate(_ modifier: DeclModifierSyntax, _ variable: VariableDeclSyntax) {
        let names = variable.bindings.map { "'\($0.pattern.trimmedDescription)'" }.joined(separator: " and ")
        let wider = modifier.with(\.name, .keyword(.fileprivate))
        let setter = modifier.with(\.name, .keyword(.private)).with(
            \.detail, DeclModifierDetailSyntax(detail: .identifier("set")))
        fail(
            "private-column", at: modifier,
            "\(names) can't be private: queries and drafts are declared beside the type and use it",
            fixIts: [
                Removing.modifier(modifier, "Remove 'private'"),
                .replace(modifier, with: wider, "Use 'fileprivate'"),
                variable.bindingSpecifier.tokenKind == .keyword(.var)
                    ? .replace(modifier, with: setter, "Use 'private(set)'") : nil,
            ])
    }

    /// `let x = 1` is the same in each row, so that no column can give it a value.
    mutating func reportConstant(
        _ name: DeclaredName, _ variable: VariableDeclSyntax, _ initializer: InitializerClauseSyntax,
        _ attribute: AttributeSyntax?
    ) {
        let useVar = FixIt.replace(
            variable.bindingSpecifier, with: TokenSyntax.keyword(.var), "Use 'var' to read it from a column")
        if let attribute {
            fail(
                "constant-column", at: variable.bindingSpecifier,
                "'\(name.text)' has a value already, so that no column can be read into it",
                fixIts: [useVar, Removing.attribute(attribute)])
            return
        }
        context.warning(
            "constant-ignored", at: variable.bindingSpecifier,
            "'\(name.text)' is no column: a constant with a value can't be read from a row",
            fixIts: [
                useVar,
                Self.ephemeral(variable, "Mark it '@Ephemeral' to silence this"),
            ])
    }

    /// Whether SQLite can store the type, as far as the source tells.
    mutating func check(
        _ type: TypeSyntax, of name: DeclaredName, _ binding: PatternBindingSyntax,
        _ variable: VariableDeclSyntax, _ attribute: AttributeSyntax?
    ) -> Bool {
        let place = binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(binding.pattern)
        switch StorableTypes.problem(of: type) {
        case nil: return true
        case .collection:
            // The attribute is for one property.
            let fixIt = variable.bindings.count == 1 ? StorableTypes.fixIt(type, variable, attribute) : nil
            fail(
                "collection-column", at: place,
                "SQLite has no '\(type.trimmedDescription)': '\(name.text)' needs a representation",
                fixIts: [fixIt ?? Splitting.fixIt(variable)])
        case .tuple:
            fail(
                "tuple-column", at: place,
                "SQLite has no tuples: make '\(name.text)' a struct with '@Selection' to store it in several columns",
                fixIts: [.replace(place, with: TypeSyntax("<#Group#>"), "Name a type")])
        case .function:
            fail(
                "function-column", at: place, "SQLite has no functions: '\(name.text)' can't be a column",
                fixIts: [attribute.flatMap { Removing.attribute($0) } ?? Self.ephemeral(variable)])
        }
        return false
    }

    private static func ephemeral(
        _ variable: VariableDeclSyntax, _ message: String = "Mark it '@Ephemeral'"
    ) -> FixIt {
        var marked = variable.with(\.leadingTrivia, [])
        let attribute = AttributeSyntax(attributeName: TypeSyntax("Ephemeral"), trailingTrivia: .space)
        marked.attributes.insert(.attribute(attribute), at: marked.attributes.startIndex)
        return .replace(variable, with: marked, message)
    }

    mutating func check(
        generated variable: VariableDeclSyntax, _ name: DeclaredName, _ binding: PatternBindingSyntax,
        _ attribute: AttributeSyntax?
    ) -> Bool {
        guard variable.bindingSpecifier.tokenKind == .keyword(.var) else { return true }
        var changes: [FixIt.Change] = [
            .replace(
                oldNode: Syntax(variable.bindingSpecifier),
                newNode: Syntax(
                    TokenSyntax.keyword(
                        .let, leadingTrivia: variable.bindingSpecifier.leadingTrivia,
                        trailingTrivia: variable.bindingSpecifier.trailingTrivia)))
        ]
        if binding.initializer != nil, binding.typeAnnotation != nil {
            let bare = binding.with(\.initializer, nil).with(\.trailingTrivia, binding.trailingTrivia)
            changes.append(.replace(oldNode: Syntax(binding), newNode: Syntax(bare)))
        }
        fail(
            "generated-variable", at: variable.bindingSpecifier,
            "SQLite computes '\(name.text)': it must be a 'let' without a value",
            fixIts: [.changes("Use 'let'", changes)])
        return false
    }
}

extension PatternBindingSyntax {
    /// Whether it holds a value by itself. Observers (`didSet`) don't change that; a getter does.
    var isStored: Bool {
        guard let block = accessorBlock else { return true }
        guard case .accessors(let accessors) = block.accessors else { return false }
        return accessors.allSatisfy {
            [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
        }
    }
}

extension AttributeListSyntax {
    /// The first attribute called `name`, with or without a module before it.
    func named(_ name: String) -> AttributeSyntax? {
        for element in self {
            guard let attribute = element.as(AttributeSyntax.self) else { continue }
            let full = attribute.attributeName.trimmedDescription
            if full == name || full.hasSuffix(".\(name)") { return attribute }
        }
        return nil
    }
}

extension AttributeListSyntax {
    /// The first `#if` that has an attribute of one of the names in it.
    func conditional(_ names: [String]) -> IfConfigDeclSyntax? {
        for element in self {
            guard let conditional = element.as(IfConfigDeclSyntax.self) else { continue }
            let hasName = conditional.clauses.contains { clause in
                guard case .attributes(let attributes) = clause.elements else { return false }
                return names.contains { attributes.named($0) != nil }
                    || attributes.conditional(names) != nil
            }
            if hasName { return conditional }
        }
        return nil
    }
}

/// Makes several declarations of one with several names.
enum Splitting {
    static func fixIt(_ variable: VariableDeclSyntax) -> FixIt? {
        guard let item = variable.parent?.as(MemberBlockItemSyntax.self),
            let list = item.parent?.as(MemberBlockItemListSyntax.self)
        else { return nil }
        var pieces: [MemberBlockItemSyntax] = []
        for (index, binding) in variable.bindings.enumerated() {
            var single = variable
            var only = binding.with(\.trailingComma, nil).with(\.trailingTrivia, [])
            if only.typeAnnotation == nil, only.initializer == nil {
                only.typeAnnotation = Array(variable.bindings)[index...].first { $0.typeAnnotation != nil }?
                    .typeAnnotation?.with(\.trailingTrivia, [])
            }
            single.bindings = PatternBindingListSyntax([only])
            if index > 0 {
                single.attributes = AttributeListSyntax([])
                single.bindingSpecifier = single.bindingSpecifier.with(\.leadingTrivia, [])
                single = single.with(\.leadingTrivia, .newline + variable.leadingTrivia.indentationOnly)
            }
            pieces.append(MemberBlockItemSyntax(decl: single))
        }
        let before = list.prefix { $0.id != item.id }
        let after = list.drop { $0.id != item.id }.dropFirst()
        return .changes(
            "Declare each property by itself",
            [
                .replace(
                    oldNode: Syntax(list),
                    newNode: Syntax(MemberBlockItemListSyntax(Array(before) + pieces + Array(after))))
            ])
    }
}

extension Trivia {
    /// The blanks after the last line break.
    var indentationOnly: Trivia {
        var found: [TriviaPiece] = []
        for piece in pieces.reversed() {
            switch piece {
            case .spaces, .tabs: found.insert(piece, at: 0)
            default: return Trivia(pieces: found)
            }
        }
        return Trivia(pieces: found)
    }
}
