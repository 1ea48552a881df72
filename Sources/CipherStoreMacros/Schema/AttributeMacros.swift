import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Column` and `@Ephemeral` declare nothing: `@Table` and `@Selection` read them. They report where they stand alone.
protocol MarkerMacro: PeerMacro {}

extension MarkerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        Markers.checkPlace(of: node, on: declaration, in: context)
        return []
    }
}

/// `@Column(_:as:generated:primaryKey:lazyInitializable:)`.
enum ColumnMacro: MarkerMacro {}

/// `@Ephemeral`.
enum EphemeralMacro: MarkerMacro {}

/// `@Columns`, the old name of `@Column` for a group.
enum ColumnsMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        context.warning(
            "columns-renamed", at: node.attributeName, "'@Columns' is called '@Column'",
            fixIts: [.replace(node.attributeName, with: TypeSyntax("Column"), "Use '@Column'")])
        Markers.checkPlace(of: node, on: declaration, in: context)
        return []
    }
}

enum Markers {
    private static let readers = ["Table", "Selection", "_Draft"]

    /// Reports an attribute in a type that no macro reads.
    static func checkPlace(
        of node: AttributeSyntax, on declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) {
        let owner = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
        if let owner, readers.contains(where: { owner.attributes.named($0) != nil }) { return }
        let name = node.attributeName.trimmedDescription
        context.error(
            "marker-alone", at: node, "'@\(name)' belongs in a type with '@Table' or '@Selection'",
            fixIts: [Removing.attribute(node, of: declaration)].compactMap { $0 })
    }
}
