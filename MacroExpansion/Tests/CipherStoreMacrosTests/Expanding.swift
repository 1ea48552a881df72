import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import CipherStoreMacros

/// What the macros make of a source, without the compiler and without the plug-in's process.
struct Expansion {
    let text: String
    let diagnostics: [Diagnostic]
    let context: BasicMacroExpansionContext

    init(_ source: String) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "test.swift")])
        self.context = context
        text =
            file.expand(
                macroSpecs: specs,
                contextGenerator: {
                    BasicMacroExpansionContext(
                        sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
                }, indentationWidth: .spaces(4)
            ).description
        diagnostics = context.diagnostics
    }
}

/// A diagnostic that a test expects, with the titles of its fix-its.
struct Expected {
    let message: String
    let severity: DiagnosticSeverity
    let fixIts: [String]

    static func error(_ message: String, _ fixIts: String...) -> Self {
        Self(message: message, severity: .error, fixIts: fixIts)
    }

    static func warning(_ message: String, _ fixIts: String...) -> Self {
        Self(message: message, severity: .warning, fixIts: fixIts)
    }
}

/// Expands `source`, in which `👉` marks where a diagnostic is expected, and compares the diagnostics in their order.
/// - Parameters:
///   - fix: The title of the fix-it that is applied.
///   - fixed: The source after it.
func expectDiagnostics(
    _ source: String, _ expected: Expected..., fix: String? = nil, fixed: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let (plain, places) = Marks.extract(source)
    #expect(places.count == expected.count, "each message needs a mark", sourceLocation: sourceLocation)
    assertMacroExpansion(
        plain, expandedSource: Expansion(plain).text,
        diagnostics: zip(expected, places).map { expected, place in
            DiagnosticSpec(
                message: expected.message, line: place.line, column: place.column,
                severity: expected.severity,
                fixIts: expected.fixIts.map { FixItSpec(message: $0) })
        },
        macroSpecs: specs, applyFixIts: fix.map { [$0] }, fixedSource: fix == nil ? nil : fixed
    ) { Issue.record(Comment(rawValue: $0.message), sourceLocation: sourceLocation) }
}

/// Expects that `source` expands without a diagnostic, to a text that has each of `parts`.
@discardableResult
func expectExpansion(
    _ source: String, has parts: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation
) -> String {
    let expansion = Expansion(source)
    #expect(expansion.diagnostics.map(\.message) == [], sourceLocation: sourceLocation)
    let text = expansion.text.squeezed
    for part in parts where !text.contains(part.squeezed) {
        Issue.record("lacks \(part)\nin\n\(expansion.text)", sourceLocation: sourceLocation)
    }
    let damage = Parser.parse(source: expansion.text)
    #expect(!damage.hasError, "the expansion is no Swift:\n\(expansion.text)", sourceLocation: sourceLocation)
    return expansion.text
}

extension String {
    /// The text with each run of blanks as one, so that a test doesn't depend on indentation.
    var squeezed: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Places in a source.
enum Marks {
    static func extract(_ marked: String) -> (String, [(line: Int, column: Int)]) {
        var places: [(line: Int, column: Int)] = []
        var plain = ""
        var line = 1
        var column = 1
        for character in marked {
            if character == "👉" {
                places.append((line, column))
                continue
            }
            plain.append(character)
            if character.isNewline {
                line += 1
                column = 1
            } else {
                column += String(character).utf8.count
            }
        }
        return (plain, places)
    }
}
