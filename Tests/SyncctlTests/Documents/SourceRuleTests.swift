import Foundation
import TestSupport
import Testing

/// Rules that the compiler doesn't know.
@Suite(.anyEngine) struct SourceRuleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of code in some folders of `Sources`, with their places.
    private func lines(_ folders: [String]) throws -> [(place: String, text: String)] {
        var lines: [(place: String, text: String)] = []
        for folder in folders {
            let base = Self.root.appendingPathComponent("Sources/" + folder)
            let files = try FileManager.default.subpathsOfDirectory(atPath: base.path)
            for file in files.sorted() where file.hasSuffix(".swift") {
                let text = try String(contentsOf: base.appendingPathComponent(file), encoding: .utf8)
                for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                    .enumerated()
                {
                    let code = line.drop { $0 == " " }
                    if !code.hasPrefix("//") {
                        lines.append(("\(folder)/\(file):\(number + 1)", String(code)))
                    }
                }
            }
        }
        #expect(lines.count > 1000)
        return lines
    }

    /// SQLite folds ASCII letters only, and takes no two texts for one that have other bytes: names are compared by
    /// `isSameIdentifier(as:)`, and kept in sets by `identifierKey`.
    @Test func namesAreFoldedAsSQLiteFoldsThem() throws {
        let strays = try lines(["SyncEngine", "SyncWire", "SyncTesting"]).filter {
            ($0.text.contains(".lowercased()") || $0.text.contains("caseInsensitiveCompare"))
                && !$0.text.contains("uuidString.lowercased()")
        }
        #expect(strays.isEmpty, "\(strays)")
    }

    /// Any program can write the metadata: what is read of them is decoded with an error, never with a trap.
    @Test func rowsAreDecodedWithErrors() throws {
        let cast = try Regex(#"\w\[("\w+"|\d+)\] as [A-Z]"#)
        let assignment = try Regex(#"let \w+: (Int64|Int|String|Data|Double|Bool)\?? = \w+\[("\w+"|\d+)\]"#)
        let strays = try lines(["SyncEngine", "SyncHTTP", "SyncctlCommands", "syncctl"]).filter {
            $0.text.contains(cast) || $0.text.contains(assignment)
        }
        #expect(strays.isEmpty, "\(strays)")
    }
}
