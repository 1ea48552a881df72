import SwiftSyntax

/// The type of a property from what it is initialised with, where its declaration names none.
///
/// A macro sees source, no types. So these are the forms whose type the source itself says.
enum LiteralTypes {
    /// The type of `expression`, or nil where the source doesn't tell.
    static func type(of expression: ExprSyntax) -> TypeSyntax? {
        if let named = literal(expression) { return "\(raw: named)" }
        if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
            let only = tuple.elements.first, only.label == nil
        {
            return type(of: only.expression)
        }
        if let cast = expression.as(AsExprSyntax.self), cast.questionOrExclamationMark == nil {
            return cast.type.trimmed
        }
        if let array = expression.as(ArrayExprSyntax.self) {
            return common(array.elements.map(\.expression)).map { "[\($0)]" }
        }
        if let dictionary = expression.as(DictionaryExprSyntax.self) { return type(of: dictionary) }
        if let call = expression.as(FunctionCallExprSyntax.self) { return type(of: call) }
        if let member = expression.as(MemberAccessExprSyntax.self), let base = member.base {
            // A constant of a type is nearly always of that type: `Color.red`, `Date.distantPast`, `Int.max`.
            return typeName(base)
        }
        if let ternary = expression.as(TernaryExprSyntax.self) {
            return common([ternary.thenExpression, ternary.elseExpression])
        }
        if let prefix = expression.as(PrefixOperatorExprSyntax.self) {
            if ranging.contains(prefix.operator.text) { return nil }
            return prefix.operator.text == "!" ? "Bool" : type(of: prefix.expression)
        }
        if let infix = expression.as(InfixOperatorExprSyntax.self) { return type(of: infix) }
        if let sequence = expression.as(SequenceExprSyntax.self) { return type(of: sequence) }
        return nil
    }

    private static func literal(_ expression: ExprSyntax) -> String? {
        switch expression.kind {
        case .stringLiteralExpr, .simpleStringLiteralExpr: "String"
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .booleanLiteralExpr: "Bool"
        default: nil
        }
    }

    private static func type(of dictionary: DictionaryExprSyntax) -> TypeSyntax? {
        guard case .elements(let elements) = dictionary.content,
            let key = common(elements.map(\.key)), let value = common(elements.map(\.value))
        else { return nil }
        return "[\(key): \(value)]"
    }

    /// `UUID()`, `Set<Int>()`, `[String]()`, `Optional<Int>.none`, `Color.rgb(1, 2, 3)`.
    private static func type(of call: FunctionCallExprSyntax) -> TypeSyntax? {
        let called = call.calledExpression
        if isGeneric(called) { return nil }
        if let array = called.as(ArrayExprSyntax.self), array.elements.count == 1,
            let element = array.elements.first.flatMap({ typeName($0.expression) })
        {
            return "[\(element)]"
        }
        if let dictionary = called.as(DictionaryExprSyntax.self),
            case .elements(let elements) = dictionary.content, elements.count == 1, let only = elements.first,
            let key = typeName(only.key), let value = typeName(only.value)
        {
            return "[\(key): \(value)]"
        }
        if let name = typeName(called) { return name }
        if let member = called.as(MemberAccessExprSyntax.self), let base = member.base {
            return typeName(base)
        }
        return nil
    }

    private static func type(of infix: InfixOperatorExprSyntax) -> TypeSyntax? {
        guard let sign = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return nil }
        return result(of: sign, [infix.leftOperand, infix.rightOperand])
    }

    /// A macro gets `5 * 60` unfolded: operands and signs in a row.
    private static func type(of sequence: SequenceExprSyntax) -> TypeSyntax? {
        let parts = Array(sequence.elements)
        if parts.count == 3, let cast = parts[1].as(UnresolvedAsExprSyntax.self) {
            return cast.questionOrExclamationMark == nil
                ? parts[2].as(TypeExprSyntax.self)?.type.trimmed : nil
        }
        if parts.count == 3, let choice = parts[1].as(UnresolvedTernaryExprSyntax.self) {
            return common([choice.thenExpression, parts[2]])
        }
        var operands: [ExprSyntax] = []
        var found: TypeSyntax?
        for (index, part) in parts.enumerated() {
            if index.isMultiple(of: 2) {
                operands.append(part)
            } else if let sign = part.as(BinaryOperatorExprSyntax.self)?.operator.text {
                if ranging.contains(sign) { return nil }
                if comparing.contains(sign) { found = "Bool" }
            } else {
                return nil
            }
        }
        return found ?? common(operands)
    }

    private static let comparing: Set<String> = ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "===", "!=="]

    /// What makes ranges, whose types have arguments that depend on what they are used for.
    private static let ranging: Set<String> = ["...", "..<"]

    private static func result(of sign: String, _ operands: [ExprSyntax]) -> TypeSyntax? {
        if ranging.contains(sign) { return nil }
        return comparing.contains(sign) ? "Bool" : common(operands)
    }

    /// The type that all of `expressions` have; numbers with and without a point are `Double` together.
    private static func common(_ expressions: [ExprSyntax]) -> TypeSyntax? {
        var names: Set<String> = []
        for expression in expressions {
            guard let type = type(of: expression) else { return nil }
            names.insert(type.trimmedDescription)
        }
        if names == ["Int", "Double"] { return "Double" }
        guard names.count == 1, let name = names.first else { return nil }
        return "\(raw: name)"
    }

    /// `expression` as the name of a type: each part begins with a capital.
    private static func typeName(_ expression: ExprSyntax) -> TypeSyntax? {
        if isGeneric(expression) { return nil }
        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            return reference.baseName.text.first?.isUppercase == true
                ? "\(raw: reference.baseName.text)" : nil
        }
        if let generic = expression.as(GenericSpecializationExprSyntax.self) {
            let isName = isGeneric(generic.expression) || typeName(generic.expression) != nil
            return isName ? "\(raw: generic.trimmedDescription)" : nil
        }
        if let member = expression.as(MemberAccessExprSyntax.self), let base = member.base {
            guard typeName(base) != nil, member.declName.baseName.text.first?.isUppercase == true else {
                return nil
            }
            return "\(raw: member.trimmedDescription)"
        }
        return nil
    }

    /// The types of Swift's library that are none without arguments, as properties have them.
    private static let generics: Set<String> = [
        "Array", "ArraySlice", "ClosedRange", "ContiguousArray", "Dictionary", "KeyValuePairs", "Optional",
        "Range", "Result", "Set",
    ]

    /// Whether `expression` is the name of such a type alone: `Set([1])` says nothing of its element.
    private static func isGeneric(_ expression: ExprSyntax) -> Bool {
        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            return generics.contains(reference.baseName.text)
        }
        guard let member = expression.as(MemberAccessExprSyntax.self) else { return false }
        return member.base?.trimmedDescription == "Swift" && generics.contains(member.declName.baseName.text)
    }
}
