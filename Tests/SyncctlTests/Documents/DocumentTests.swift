import Foundation
import Testing

/// What the documents say of the repository itself: files, folders, tests.
@Suite struct DocumentTests {
    private let root: URL

    init() {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        self.root = root
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The files of a folder that have a suffix, as paths in the repository.
    private func files(in folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }.sorted()
    }

    private func section(_ name: String, of text: String) throws -> String {
        let start = try #require(text.range(of: "\n## \(name)\n"))
        let rest = text[start.upperBound...]
        return String(rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)])
    }

    @Test func linksToFilesLeadSomewhere() throws {
        let documents =
            ["README.md", "CONTRIBUTING.md"] + (try files(in: "docs", ".md"))
            + (try files(in: "Schemas", ".md"))
        for document in documents {
            let folder = document.split(separator: "/").dropLast().joined(separator: "/")
            for match in try text(document).matches(of: /\]\(([^)#\s]+)[^)]*\)/) {
                let target = String(match.1)
                guard !target.contains(":") else { continue }
                #expect(exists(folder.isEmpty ? target : "\(folder)/\(target)"), "\(document): \(target)")
            }
        }
    }

    @Test func theFoldersOfTheCodemapAreThere() throws {
        let map = try section("Codemap", of: text("docs/ARCHITECTURE.md"))
        var base = ""
        var count = 0
        for line in map.split(separator: "\n") where line.hasPrefix("| `") {
            for match in try #require(line.dropFirst().split(separator: "|").first).matches(of: /`([^`]+)`/) {
                let name = String(match.1)
                if name.hasPrefix("Sources/") { base = name }
                let path = name.replacing("…", with: base)
                #expect(exists(path), "\(path)")
                count += 1
            }
        }
        #expect(count > 50)
    }

    @Test func eachFolderOfSourcesIsInTheCodemap() throws {
        let map = try section("Codemap", of: text("docs/ARCHITECTURE.md"))
        let folders = Set(
            try files(in: "Sources", ".swift").map { $0.split(separator: "/") }.filter { $0.count > 3 }
                .map { String($0[2]) })
        for folder in folders {
            #expect(map.contains("`…/\(folder)`") || map.contains("`\(folder)`"), "\(folder)")
        }
    }

    @Test func theTestsThatHoldTheInvariantsAreThere() throws {
        let invariants = try section("Invariants", of: text("docs/ARCHITECTURE.md"))
        let tests = Dictionary(
            try files(in: "Tests", "Tests.swift").map { path in
                (String(path.split(separator: "/").last?.dropLast(6) ?? ""), path)
            }, uniquingKeysWith: { first, _ in first })
        var count = 0
        for match in invariants.matches(of: /`(\w+Tests)(?:\.(\w+))?`/) {
            let path = tests[String(match.1)]
            #expect(path != nil, "\(match.1)")
            count += 1
            guard let path, let test = match.2 else { continue }
            #expect(try text(path).contains("func \(test)("), "\(match.1).\(test)")
        }
        #expect(count > 40)
    }

    @Test func decisionsHaveANumberADateAndAStatus() throws {
        for path in try files(in: "docs/decisions", ".md") {
            let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false)
            let number = path.split(separator: "/").last?.prefix(4) ?? ""
            #expect(lines.first?.hasPrefix("# \(number): ") == true, "\(path)")
            let date = try #require(lines.dropFirst(2).first, "\(path)")
            #expect(date.contains(/^Date: \d{4}-\d\d-\d\d\. Status: [a-z].*\.$/), "\(path)")
        }
    }
}
