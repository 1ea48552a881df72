import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Types whose source shows that SQLite can't store their values.
///
/// The compiler finds the others: it says in the expansion that they don't conform to `QueryRepresentable`.
enum StorableTypes {
    /// What is wrong with a type.
    enum Problem: Equatable {
        /// An array, a set or a dictionary: as JSON it can be stored.
        case collection
        case tuple
        case function
    }

    static func problem(of type: TypeSyntax) -> Problem? {
        if let optional = type.as(OptionalTypeSyntax.self) { return problem(of: optional.wrappedType) }
        if let attributed = type.as(AttributedTypeSyntax.self) { return problem(of: attributed.baseType) }
        if let array = type.as(ArrayTypeSyntax.self) {
            // Bytes are a blob.
            return ["UInt8", "Swift.UInt8"].contains(array.element.trimmedDescription) ? nil : .collection
        }
        if type.is(DictionaryTypeSyntax.self) { return .collection }
        if type.is(FunctionTypeSyntax.self) { return .function }
        if let tuple = type.as(TupleTypeSyntax.self) {
            guard tuple.elements.count == 1, let only = tuple.elements.first else { return .tuple }
            return problem(of: only.type)
        }
        if let name = type.as(IdentifierTypeSyntax.self), name.genericArgumentClause != nil {
            if ["Array", "Set", "Dictionary", "ContiguousArray"].contains(name.name.text) {
                return .collection
            }
        }
        return nil
    }

    /// The representation as JSON: that of an optional type is optional.
    static func json(_ type: TypeSyntax) -> String {
        if let optional = type.as(OptionalTypeSyntax.self) { return json(optional.wrappedType) + "?" }
        return "\(type.trimmedDescription).JSONRepresentation"
    }

    /// A fix that adds `as:` to the property's `@Column`, or such an attribute.
    static func fixIt(
        _ type: TypeSyntax, _ variable: VariableDeclSyntax, _ attribute: AttributeSyntax?
    ) -> FixIt {
        let message = "Store it as JSON"
        let representation = "\(json(type)).self"
        if let attribute {
            var arguments: [LabeledExprSyntax] = []
            if case .argumentList(let list) = attribute.arguments { arguments = Array(list) }
            // The name stays first.
            let place = arguments.first?.label == nil ? min(1, arguments.count) : 0
            arguments.insert(
                LabeledExprSyntax(label: "as", expression: ExprSyntax("\(raw: representation)")), at: place)
            let texts = arguments.map { $0.with(\.trailingComma, nil).trimmedDescription }
            let name = attribute.attributeName.trimmedDescription
            let fixed: AttributeSyntax = "@\(raw: name)(\(raw: texts.joined(separator: ", ")))"
            return .replace(attribute, with: fixed, message)
        }
        let added: AttributeSyntax = "@Column(as: \(raw: representation))"
        var marked = variable.with(\.leadingTrivia, [])
        marked.attributes.insert(
            .attribute(added.with(\.trailingTrivia, .space)), at: marked.attributes.startIndex)
        return .replace(variable, with: marked, message)
    }
}
