import Foundation
import SyncHTTP
import TestSupport
import Testing

@testable import SyncctlCommands

/// `syncctl-local` has the commands of `syncctl` but those that need a network.
@Suite struct LocalProgramTests {
    private func run(_ arguments: [String]) throws -> CommandResult {
        let program = try #require(CommandRunner.program) + "-local"
        return try CommandRunner.run(program, arguments, environment: CommandRunner.inherited)
    }

    @Test func itHasNoCommandsForServers() throws {
        let help = try run(["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("SYNC SUBCOMMANDS") && !help.output.contains("SERVE SUBCOMMANDS"))
        #expect(try run(["serve", "a.db"]).status == 64)
    }

    @Test(arguments: [
        ["sync"], ["sync", "--remote", "hub"], ["sync", "--remote", "ssh://host/a.db"],
        ["verify", "--remote", "hub"],
    ]) func aRemoteOfTheNetworkIsRefusedWithTheWayToTheWholeProgram(words: [String]) throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<1)
        let result = try run(
            [words[0], place.path("a.db")] + words.dropFirst() + ["--passphrase-file", place.secret("a")])
        #expect(result.status == 64)
        #expect(result.errors.contains("without servers and ssh"))
        #expect(result.errors.contains("swift build -c release --product syncctl"))
    }

    @Test(arguments: [["sync", "a.db", "--remote", "s3://b/p"], ["init", "b.db", "--join", "s3://b/p"]])
    func aBucketIsRefusedWithTheWayToTheWholeProgram(words: [String]) throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<1)
        let files = ["--passphrase-file", place.secret("a"), "--remote-passphrase-file", place.secret("c")]
        let result = try run([words[0], place.path(words[1])] + words.dropFirst(2) + files)
        #expect(result.status == 64 && result.errors.contains("without buckets"))
        #expect(result.errors.contains("swift build -c release --product syncctl"))
        #expect(try place.contents() == ["a.db"])
    }

    @Test func anInvitationIsRefusedBeforeAPassphraseIsRead() throws {
        let place = try Workplace()
        let result = try run(["init", place.path("a.db"), "--join", "cipherstore://host:1/x"])
        #expect(result.status == 64)
        #expect(result.errors.contains("without servers and ssh"))
        #expect(try place.contents().isEmpty)
    }
}

@Suite(.anyEngine) struct RemoteArgumentTests {
    @Test func itIsReadByItsForm() throws {
        #expect(RemoteArgument(nil) == .server("default"))
        #expect(RemoteArgument("hub") == .server("hub"))
        #expect(RemoteArgument("hub.db") == .file("hub.db"))
        #expect(RemoteArgument("./hub") == .file("./hub"))
        #expect(RemoteArgument("dir:/media/stick/") == .folder("/media/stick"))
        #expect(RemoteArgument("dir:/").folder == "/")
        #expect(RemoteArgument("dir:").isFolder && RemoteArgument("dir:").folder == nil)
        #expect(!RemoteArgument("dir:a").isNetwork && RemoteArgument("a.db").folder == nil)
        #expect(RemoteArgument("ssh://host/a.db") == .ssh("ssh://host/a.db"))
    }

    @Test func aFileOfThatNameIsNoServer() throws {
        #expect(RemoteArgument("/") == .file("/"))
        let name = "remote-argument-\(UUID().uuidString)"
        try Data().write(to: URL(fileURLWithPath: name))
        defer { try? FileManager.default.removeItem(atPath: name) }
        #expect(RemoteArgument(name) == .file(name))
    }

    @Test func theFirstServerHasTheNameThatTheBookGivesIt() {
        #expect(RemoteArgument.defaultServer == RemoteBook.defaultName)
    }
}
