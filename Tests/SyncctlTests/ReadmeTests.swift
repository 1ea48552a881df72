import CipherStore
import Foundation
import SyncEngine
import Testing

// The Swift code of README.md between the markers, as it stands there: it compiles, and is run below.

// README: begin
func exchangeNotes(_ path: String, with remotePath: String) async throws -> SyncReport {
    var configuration = Configuration()
    configuration.encryption = .required
    configuration.prepareDatabase { db in try db.usePassphrase("correct horse") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try await queue.write { db in
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY, title TEXT, body TEXT)")
    }
    let synchronizer = try Synchronizer(queue, tables: ["note"])  // tracked from now on, whoever writes
    if !FileManager.default.fileExists(atPath: remotePath) {
        try synchronizer.clone(to: remotePath, passphrase: Passphrase("battery staple"))
    }
    try await queue.write { db in
        try db.execute(sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [UUID.v7(), "Groceries", "milk"])
    }
    configuration = Configuration()
    configuration.prepareDatabase { db in try db.usePassphrase("battery staple") }
    return try await synchronizer.sync(with: StoreTransport(path: remotePath, configuration: configuration))
}
// README: end

// In the serial suite, because these tests start processes.
extension ProcessWideTests {
    /// README.md and docs/tour.md show what happens: the commands are run, and the code is compiled and run.
    @Suite struct ReadmeTests {
        /// The walk is typed into a shell, block by block, and each command must print what docs/tour.md
        /// shows, stderr included, and exit with 0 (it adds `echo` where it does not). Only what a passphrase costs to
        /// try is less than shown.
        ///
        /// A block marked ```` ```console sqlcipher ```` needs the `sqlcipher` shell, of the SQLCipher that this
        /// process runs on, and of version 3, whose output is shown; it is passed over otherwise.
        @Test(.timeLimit(.minutes(20))) func theWalkPrintsWhatTheTourShows() throws {
            let shell = try WalkShell()
            let blocks = try Document.load("docs/tour.md").blocks(of: "console")
            #expect(blocks.count >= 4)
            for block in blocks {
                if block.argument == "sqlcipher", try !shell.hasMatchingSQLCipher() { continue }
                for step in try Walk.steps(of: block) {
                    let (output, status) = try shell.run(Walk.cheaper(step.command))
                    #expect(
                        Walk.comparable(output) == Walk.comparable(step.output),
                        "docs/tour.md:\(step.line): \(step.command)")
                    #expect(status == 0, "docs/tour.md:\(step.line): \(step.command)")
                }
            }
        }

        @Test func theCodeOfTheReadmeIsTheCodeAbove() throws {
            let blocks = try Document.load("README.md").blocks(of: "swift")
            let shown = try #require(blocks.first).lines
            let source = try String(contentsOfFile: #filePath, encoding: .utf8).components(separatedBy: "\n")
            let begin = try #require(source.firstIndex(of: "// README: begin"))
            let end = try #require(source.firstIndex(of: "// README: end"))
            let imports = shown.prefix { $0.hasPrefix("import ") || $0.isEmpty }
            #expect(Array(shown.dropFirst(imports.count)) == Array(source[(begin + 1)..<end]))
            #expect(source.contains(imports.filter { !$0.isEmpty }), "the imports")
            #expect(blocks.count == 1)
        }

        @Test func theCodeOfTheReadmeSynchronizes() async throws {
            let folder = try WalkFolder()
            let first = try await exchangeNotes(folder.path + "/notes.db", with: folder.path + "/stick.db")
            #expect(first.pushed?.rowCount == 1)
            let second = try await exchangeNotes(folder.path + "/notes.db", with: folder.path + "/stick.db")
            #expect(second.pushed?.rowCount == 1 && second.pulled == nil)
        }

        /// What the comparison lets pass, and what it does not.
        @Test func onlyWhatChangesBetweenRunsIsEqual() {
            let shown = "pulled 2 rows (327 B) from 8952, just now  2026-11-21 03:39:33"
            #expect(
                Walk.comparable(shown)
                    == Walk.comparable("pulled 2 rows (1.2 KiB) from 01ff, 3 s ago 2027-01-02 11:00:59"))
            #expect(Walk.comparable(shown) != Walk.comparable(shown.replacing("2 rows", with: "3 rows")))
            #expect(Walk.comparable(shown) != Walk.comparable(shown.replacing("pulled", with: "pushed")))
            #expect(Walk.comparable(shown) != Walk.comparable(shown + "\nmore"))
        }
    }
}

/// The lines of a document of the repository.
private struct Document {
    /// A fenced block: its lines, where the first is (from 1), and what follows the language.
    struct Block {
        let argument: String
        let line: Int
        var lines: [String] = []
    }

    let lines: [String]

    static func load(_ path: String) throws -> Document {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        return Document(lines: text.components(separatedBy: "\n"))
    }

    func blocks(of language: String) -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        var isInside = false
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(block) }
                open = nil
                isInside.toggle()
                let words = line.dropFirst(3).split(separator: " ", maxSplits: 1)
                if isInside, let first = words.first, first == language {
                    open = Block(argument: words.count > 1 ? String(words[1]) : "", line: index + 2)
                }
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }
}

/// The commands of a block, and the rule by which outputs are compared.
private enum Walk {
    struct Step {
        let line: Int
        var command: String
        var output = ""
    }

    /// A line after `$ ` is a command; lines after `> ` that follow it belong to it; what comes until
    /// the next command is its output.
    static func steps(of block: Document.Block) throws -> [Step] {
        var steps: [Step] = []
        for (index, line) in block.lines.enumerated() {
            if line.hasPrefix("$ ") {
                steps.append(Step(line: block.line + index, command: String(line.dropFirst(2))))
            } else if line.hasPrefix("> "), steps.last?.output == "" {
                steps[steps.count - 1].command += "\n" + line.dropFirst(2)
            } else {
                try #require(!steps.isEmpty, "docs/tour.md:\(block.line): output without a command")
                steps[steps.count - 1].output += line + "\n"
            }
        }
        return steps
    }

    /// The command with the least cost of the passphrases that it writes. The tour would spend ten seconds on them.
    static func cheaper(_ command: String) -> String {
        command.replacing(/syncctl (?:key add|key passwd|export(?=.*--to ))/) { "\($0.output) --cost 14" }
    }

    /// The output with a word in place of what changes between two runs: UUIDs, times, ages of less
    /// than a minute, sizes, slots and the four hexadecimal digits of a replica. Because these can differ in
    /// length, several spaces count as one. Nothing else may differ.
    static func comparable(_ output: String) -> String {
        output
            .replacing(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "<uuid>")
            .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?/, with: "<time>")
            .replacing(/\b[0-9a-f]{16}\b/, with: "<slot>")
            .replacing(/just now|\d+ s ago/, with: "<age>")
            .replacing(/[\d.,]+ (?:B|KiB|MiB)\b/, with: "<size>")
            .replacing(/\b[0-9a-f]{4}\b/, with: "<id>")
            .replacing(/[ ]+/, with: " ")
    }
}

/// A folder that is removed with the value.
private final class WalkFolder {
    let path = NSTemporaryDirectory() + "readme-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Runs commands like a shell that finds `syncctl` of this build on its path.
///
/// Each command has a shell of its own, in one folder. `export` of variables is carried over to later
/// commands. Nothing of this process's environment gets in that could change what `syncctl` does.
private final class WalkShell {
    private let folder: WalkFolder
    private var environment: [String: String]

    init() throws {
        folder = try WalkFolder()
        let inherited = ProcessInfo.processInfo.environment
        let names = ["HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"]
        environment = inherited.filter { names.contains($0.key) }
        environment["LANG"] = "C.UTF-8"
        let build = try Self.buildFolder().path
        try #require(
            FileManager.default.isExecutableFile(atPath: build + "/syncctl"), "no syncctl in \(build)")
        environment["PATH"] = build + ":" + (inherited["PATH"] ?? "/usr/bin:/bin")
    }

    /// The folder that the tests and `syncctl` are built in.
    private static func buildFolder() throws -> URL {
        #if canImport(Darwin)
            Bundle(for: WalkShell.self).bundleURL.deletingLastPathComponent()
        #else
            try #require(Bundle.main.executableURL).deletingLastPathComponent()
        #endif
    }

    /// Runs a command to its end: its output, with that to stderr, and its exit status.
    func run(_ command: String) throws -> (output: String, status: Int32) {
        if command.hasPrefix("export ") {
            for word in command.dropFirst(7).split(separator: " ") {
                let parts = word.split(separator: "=", maxSplits: 1)
                environment[String(parts[0])] = String(try #require(parts.last))
            }
            return ("", 0)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }

    /// Whether there is a `sqlcipher` shell of version 3 on the library of this process.
    func hasMatchingSQLCipher() throws -> Bool {
        let version = EngineFeatures.current.cipherVersion ?? ""
        let (output, status) = try run("sqlcipher :memory: 'PRAGMA cipher_version'")
        return status == 0 && version.hasPrefix("3.") && output == version + "\n"
    }
}
