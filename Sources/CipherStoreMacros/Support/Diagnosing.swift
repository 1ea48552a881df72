import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What a diagnostic says. `id` is stable, so that tools can tell one from another.
struct MacroMessage: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    let severity: DiagnosticSeverity

    init(_ id: String, _ message: String, severity: DiagnosticSeverity = .error) {
        self.message = message
        self.diagnosticID = MessageID(domain: "CipherStoreMacros", id: id)
        self.severity = severity
    }
}

/// What the button of a fix-it says.
struct MacroFixIt: FixItMessage {
    let message: String
    let fixItID: MessageID

    init(_ message: String) {
        self.message = message
        self.fixItID = MessageID(domain: "CipherStoreMacros", id: message)
    }
}

extension FixIt {
    /// A fix that puts `new` in the place of `old` and keeps the comments and blanks around it.
    static func replace(_ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String) -> FixIt
    {
        FixIt(
            message: MacroFixIt(message),
            changes: [
                .replace(
                    oldNode: Syntax(old),
                    newNode: Syntax(
                        new.with(\.leadingTrivia, old.leadingTrivia).with(
                            \.trailingTrivia, old.trailingTrivia)))
            ])
    }

    /// A fix of several changes at once.
    static func changes(_ message: String, _ changes: [FixIt.Change]) -> FixIt {
        FixIt(message: MacroFixIt(message), changes: changes)
    }
}

extension MacroExpansionContext {
    /// Reports an error at `node`, the smallest piece of source that is wrong.
    func error(
        _ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
        diagnose(Diagnostic(node: Syntax(node), message: MacroMessage(id, message), fixIts: fixIts))
    }

    /// Reports a warning at `node`.
    func warning(
        _ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
        diagnose(
            Diagnostic(
                node: Syntax(node), message: MacroMessage(id, message, severity: .warning), fixIts: fixIts))
    }
}
