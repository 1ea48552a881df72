import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A context that forgets diagnostics. A macro with two roles reads its type twice, and reports only once.
final class SilentContext: MacroExpansionContext {
    private let base: any MacroExpansionContext

    init(_ base: some MacroExpansionContext) {
        self.base = base
    }

    func makeUniqueName(_ name: String) -> TokenSyntax { base.makeUniqueName(name) }

    func diagnose(_ diagnostic: Diagnostic) {}

    func location(
        of node: some SyntaxProtocol, at position: PositionInSyntaxNode,
        filePathMode: SourceLocationFilePathMode
    ) -> AbstractSourceLocation? {
        base.location(of: node, at: position, filePathMode: filePathMode)
    }

    var lexicalContext: [Syntax] { base.lexicalContext }
}
