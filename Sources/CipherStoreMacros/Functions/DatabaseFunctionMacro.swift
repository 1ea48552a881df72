import SwiftSyntax
import SwiftSyntaxMacros

/// `@DatabaseFunction("name", as: ((A) -> B).self, isDeterministic: true)`: a Swift function that queries call as `$name`.
enum DatabaseFunctionMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let model = DatabaseFunctionReader.model(of: declaration, node, in: context) else { return [] }
        let type = context.makeUniqueName(model.name.text).text
        let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
        let emission = DatabaseFunctionEmission(
            model, type: type, availability: attributes.map(Availability.ofPeer) ?? "")
        return ["\(raw: emission.projection)", "\(raw: emission.declaration)"]
    }
}
