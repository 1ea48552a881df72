import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import CipherStore
@testable import SyncctlCommands
@testable import syncctl

/// A wrong command line ends with 64 in the form of all failures, and says how it is written rightly.
@Suite struct CommandLineUsageTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    @Test(arguments: [
        ["import", "a.db", "-dash.csv"], ["status", "-horse.db"], ["verify", "-h.db", "--deep"],
        ["track", "a.db", "-sh"],
    ]) func aNameThatBeginsWithADashIsNoRequestForHelp(words: [String]) throws {
        let result = try place.run(words)
        #expect(result.status == 64 && result.output.isEmpty)
        let name = try #require(words.first { $0.hasPrefix("-") })
        #expect(result.errors.contains("./\(name)"), "\(result.errors)")
        let document = try place.run(words + ["--json"]).errorDocument()
        #expect(document["code"] as? Int == 64)
    }

    /// A longer one is wrapped, and can't be pasted.
    @Test func anExampleOfHelpFitsIntoALine() {
        func examples(_ command: any ParsableCommand.Type) -> [Substring] {
            let text = command.configuration.discussion.components(separatedBy: "EXAMPLE").dropFirst()
            return text.flatMap { $0.split(separator: "\n") }
                + command.configuration.subcommands.flatMap(examples)
        }
        // Sentences that follow are filled.
        let all = examples(Syncctl.self).filter { $0.hasPrefix("  ") }
        let long = all.filter { $0.count > 80 }
        #expect(all.count > 50 && long.isEmpty, "\(long)")
    }

    @Test func helpIsPrintedForWhoAsks() throws {
        for words in [
            ["--help"], ["-h"], ["status", "-h"], ["status", "--help"], ["help", "key", "add"],
            ["status", "-qh"],
        ] {
            let result = try CommandRunner.runHere(words)
            #expect(result.status == 0 && result.output.contains("USAGE:"), "\(words)")
        }
    }

    @Test func hintsNameFilesAndTablesThatBeginWithADashSoThatTheyWork() throws {
        #expect(CommandWords.path("-dash.db") == "./-dash.db")
        #expect(CommandWords.path("-a b.db") == "'./-a b.db'")
        #expect(CommandWords.path("notes.db") == "notes.db")
        #expect(CommandWords.operand("-dash") == "-- -dash")
        try place.makeStore("a.db", "a", rows: 0..<1)
        try place.folder.write("title\nBooks\n", to: "-dash.csv")
        let result = try place.succeed(["import", place.path("a.db"), place.path("-dash.csv")] + own)
        #expect(result.errors.contains("syncctl track \(place.path("a.db")) -- -dash"))
        try place.succeed(["track"] + own + [place.path("a.db"), "--", "-dash"])
    }

    @Test(arguments: [
        (["statsu", "a.db"], "did you mean: syncctl status"),
        (["help", "nonsense"], "no command syncctl nonsense"), (["key"], "add, list"),
        (["key", "lst", "a.db"], "did you mean: syncctl key list"),
        (["help", "key", "nonsense"], "syncctl key nonsense"),
        (["parked", "resolve", "a.db"], "no command syncctl parked resolve"),
        (["parked", "retyr", "a.db"], "did you mean: syncctl parked retry"),
        (["conflicts", "reslove", "a.db", "12"], "did you mean: syncctl conflicts resolve"),
    ]) func anUnknownCommandIsNamedWithTheNearestOne(words: [String], text: String) throws {
        let result = try CommandRunner.runHere(words)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains(text), "\(result.errors)")
    }

    @Test func oneColumnWithTwoPoliciesIsRefused() throws {
        let words = ["track", "a.db", "note", "--max", "note.stars", "--min", "note.STARS"]
        let result = try CommandRunner.runHere(words)
        #expect(result.status == 64, "\(result.errors)")
        let text = "--max and --min exclude each other for one column: note.STARS"
        #expect(result.errors.contains(text), "\(result.errors)")
    }

    /// A group of commands that takes a store goes on to do so.
    @Test func aStoreWithoutADotIsNoCommand() throws {
        try place.makeStore("store", "a", rows: 0..<1)
        for words in [["parked", place.path("store")], ["conflicts", place.path("store"), "--limit", "3"]] {
            try place.succeed(words + own)
        }
        for words in [["parked", "nothing"], ["conflicts", "nothing", "--limit", "3"]] {
            #expect(try place.run(words + own).status == 10)
        }
    }

    /// The message is about something else than the option, even when a file has the option's name.
    @Test func anOptionIsNoNameThatBeginsWithADash() {
        let usage = CommandLineUsage(
            root: InitCommand.self, arguments: ["", "--json"], isFile: { _ in true })
        let empty = usage.failure("The name of a file is empty", explanation: "")
        #expect(!empty.hints.contains { $0.contains("--json") })
        let unknown = usage.failure("Unknown option '--json'", explanation: "")
        #expect(unknown.hints.contains { $0.contains("./--json") })
    }

    @Test(arguments: [
        ["log", "a.db", "--since", "-5m"], ["log", "a.db", "--limit", "-1"],
        ["sync", "a.db", "--wait", "-1"],
        ["compact", "a.db", "--history-count", "-5"],
    ]) func aNegativeNumberIsSaidToBeNone(words: [String]) throws {
        let result = try CommandRunner.runHere(words)
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains("\(words[3]) is taken for an option"), "\(result.errors)")
        #expect(!result.errors.contains("begins with a dash"), "\(result.errors)")
    }

    /// A key or a name can look like a number below 0.
    @Test(arguments: ["--row", "--table", "--by"]) func aNegativeValueIsWrittenBehindItsOption(
        option: String
    ) throws {
        let result = try CommandRunner.runHere(["log", place.path("none.db"), option, "-5"])
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains("is written as \(option)=-5"), "\(result.errors)")
        let written = try CommandRunner.runHere(["log", place.path("none.db"), "\(option)=-5"])
        #expect(written.status == 10, "\(written.errors)")
    }

    @Test func errorsOfTheParserHaveTheFormOfAllOthers() throws {
        let result = try place.run(["status"])
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("syncctl: error: missing expected argument '<store>'"))
        #expect(result.errors.contains("hint: usage: syncctl status <store>"))
        #expect(result.errors.contains("hint: see: syncctl help status"))
        let json = try place.run(["status", "--json"]).errorDocument()
        #expect((json["hint"] as? String)?.contains("see: syncctl help status") == true)
    }

    @Test func aNameThatIsNoFileIsRefused() throws {
        for words in [
            ["init", ":memory:"], ["status", ":memory:"], ["serve", ":memory:"], ["doctor", ":memory:"],
            ["clone", "a.db", ":memory:"],
        ] {
            #expect(try place.run(words + own).status == (words[0] == "clone" ? 10 : 64), "\(words)")
        }
        try place.makeStore("a.db", "a", rows: 0..<1)
        let copy = try place.run(
            ["clone", place.path("a.db"), ":memory:", "--to-passphrase-file", place.secret("b")] + own)
        #expect(copy.status == 64 && copy.errors.contains("is no file"))
        let before = try place.contents()
        // A shell makes the byte that is no text: no text could hold it.
        let program = try #require(CommandRunner.program)
        let bytes = try CommandRunner.run(
            "/bin/sh",
            ["-c", #"cd "$2" && exec "$1" init "$(printf 'bad\377.db')""#, "sh", program, place.folder.path],
            environment: CommandRunner.inherited)
        #expect(bytes.status == 64 && bytes.errors.contains("not UTF-8"), "\(bytes.errors)")
        #expect(try place.contents() == before)
    }

    @Test func examplesOfHelpCanBePasted() throws {
        let commands = [
            ["init"], ["import"], ["export"], ["rekey"], ["key", "add"], ["restore"], ["verify"], ["doctor"],
            ["compact"], ["track"], ["push"], ["pull"], ["sync"], ["watch"], ["bundle"],
            ["bundle", "create"],
            ["status"], ["conflicts"], ["parked"], ["clone"], ["replica"], ["serve"], ["invite"], ["device"],
            ["device", "scope"], ["console"], ["remote"], ["relay"], ["share"],
        ]
        for command in commands {
            let help = try CommandRunner.runHere(["help"] + command).output
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
            guard let start = lines.firstIndex(where: { $0.hasPrefix("EXAMPLE") }) else { continue }
            // A line that was wrapped goes on in the first column.
            let wrapped = lines[(start + 1)...].prefix { !$0.isEmpty }.filter { !$0.hasPrefix("  ") }
            #expect(wrapped.isEmpty, "\(command): \(wrapped)")
        }
    }

    /// A line that is broken in the source goes on in the next one.
    @Test func helpShowsNoBackslashesOfItsSource() throws {
        for command in ["graph", "export", "sync", "init", "status", "track"] {
            let help = try CommandRunner.runHere(["help", command]).output
            // Examples have such lines for a shell.
            let text = help.components(separatedBy: "EXAMPLE")[0].split(whereSeparator: \.isWhitespace)
            #expect(text.count > 3 && !text.contains("\\"), "\(command)")
        }
    }

    @Test func passphraseFilesAreCompleted() throws {
        let script = try CommandRunner.runHere(["--generate-completion-script", "bash"]).output
        for option in ["", "remote-", "new-", "to-", "clone-", "archive-", "bundle-"] {
            let cases = script.components(separatedBy: "'--\(option)passphrase-file')")
            #expect(cases.count > 1, "\(option)")
            for rest in cases.dropFirst() {
                #expect(rest.prefix(80).contains("_add_completions -f"), "\(option): \(rest.prefix(80))")
            }
        }
    }
}

@Suite(.anyEngine) struct NameSuggestionTests {
    @Test(
        arguments: [
            ("statsu", "status"), ("stat", "status"), ("conficts", "conflicts"), ("Foldr", "folder"),
            ("banana", nil), ("x", nil),
        ] as [(String, String?)]) func theNearestNameIsFound(text: String, name: String?)
    {
        #expect(NameSuggestion.nearest(text, among: ["status", "conflicts", "folder", "sync"]) == name)
    }
}
