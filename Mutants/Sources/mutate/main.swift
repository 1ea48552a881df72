import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// usage: mutate ROOT LEFT-OUT FILE...
// Changes each FILE below ROOT, so that a variable of the environment switches one mutation on, and prints the
// mutations, a line of JSON each. LEFT-OUT names a file with the identities of mutations that are not made, a line each.

func changeFiles() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else {
        FileHandle.standardError.write(Data("usage: mutate ROOT LEFT-OUT FILE...\n".utf8))
        exit(64)
    }
    let root = URL(fileURLWithPath: arguments[1], isDirectory: true)
    let leftOut = Set(
        try String(contentsOfFile: arguments[2], encoding: .utf8).split(separator: "\n").map(String.init))
    var mutations: [Mutation] = []
    var folders: Set<String> = []
    for file in arguments[3...] {
        let url = root.appendingPathComponent(file)
        let source = try String(contentsOf: url, encoding: .utf8)
        let tree = Parser.parse(source: source)
        // Operators that only the module declares keep their place.
        let folded = OperatorTable.standardOperators.foldAll(tree) { _ in }
        let mutator = Mutator(
            file: file, first: mutations.count + 1, leftOut: leftOut,
            places: SourceLocationConverter(fileName: file, tree: tree))
        let text = mutator.rewrite(folded).description
        var made = mutator.mutations
        findWrittenLines(of: &made, in: text)
        try text.write(to: url, atomically: true, encoding: .utf8)
        mutations += made
        // The module's folder: Sources/NAME.
        folders.insert(file.split(separator: "/").prefix(2).joined(separator: "/"))
    }
    for folder in folders {
        let url = root.appendingPathComponent(folder).appendingPathComponent("MutantSwitches.swift")
        try switches(count: mutations.count).write(to: url, atomically: true, encoding: .utf8)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    for mutation in mutations { print(String(decoding: try encoder.encode(mutation), as: UTF8.self)) }
}

/// Sets the lines on which `isMutant(N)` is written.
func findWrittenLines(of mutations: inout [Mutation], in text: String) {
    var lines: [Int: Int] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        for match in line.matches(of: /isMutant\(([0-9]+)\)/) {
            if let number = Int(match.output.1), lines[number] == nil { lines[number] = index + 1 }
        }
    }
    for index in mutations.indices { mutations[index].writtenLine = lines[mutations[index].number] ?? 0 }
}

try changeFiles()
