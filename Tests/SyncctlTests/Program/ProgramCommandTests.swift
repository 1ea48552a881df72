import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// What the program tells of itself.
@Suite struct ProgramCommandTests {
    @Test func versionsAreThoseOfTheLibrariesThatRun() throws {
        let result = try CommandRunner.runHere(["version", "--json"])
        let document = try result.document()
        #expect(document["version"] as? String == CommandLineProgram.version)
        #expect(document["sqlcipher"] as? String == EngineFeatures.current.cipherVersion)
        let sqlite = try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
        #expect(document["sqlite"] as? String == sqlite)
        let formats = try #require(document["formats"] as? [String: Int])
        #expect(Set(formats.keys) == ["wire", "bundle", "metadata", "keyring", "archive", "folder"])
        #expect(try CommandRunner.runHere(["version"]).output.contains("SQLCipher"))
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func theShellCompletesCommands(shell: String) throws {
        let script = try CommandRunner.runHere(["completion", "print", shell])
        let document = try CommandRunner.runHere(["completion", "print", shell, "--json"]).document()
        #expect(document["shell"] as? String == shell)
        #expect((document["script"] as? String).map { $0 + "\n" } == script.output)
        #expect(script.status == 0 && script.output.contains("syncctl") && script.output.contains("compact"))
        let folder = try TemporaryFolder()
        let file = folder.file("deep/er/script")
        let result = try CommandRunner.runHere(["completion", "install", shell, "--to", file, "--json"])
        #expect(try result.document()["to"] as? String == file)
        #expect(try folder.text("deep/er/script") + "\n" == script.output)
    }

    @Test func theScriptGoesWhereTheShellLooks() throws {
        let variables = ["HOME": "/home/ann", "SHELL": "/usr/bin/fish", "XDG_DATA_HOME": "/data"]
        func path(_ shell: CompletingShell) throws -> String { try shell.path(of: "syncctl", variables) }
        #expect(try path(.bash) == "/data/bash-completion/completions/syncctl")
        #expect(try path(.zsh) == "/home/ann/.zfunc/_syncctl")
        #expect(try path(.fish) == "/home/ann/.config/fish/completions/syncctl.fish")
        #expect(try CompletingShell.chosen(nil, variables) == .fish)
        #expect(throws: Failure.self) { _ = try CompletingShell.chosen(nil, ["SHELL": "/bin/tcsh"]) }
    }

    @Test func aFileInPlaceOfTheFolderForManualPagesIsCalledThat() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("mine", to: "man1")
        let result = try CommandRunner.runHere(["manual", "--to", file])
        #expect(result.status == 1)
        #expect(result.errors.contains("\(file): it is a file, and no folder"), "\(result.errors)")
        #expect(try folder.text("man1") == "mine")
    }

    @Test func thereIsAManualPageForEachCommand() throws {
        let folder = try TemporaryFolder()
        let result = try CommandRunner.runHere(["manual", "--to", folder.file("man1"), "--json"])
        let pages = try #require(try result.document()["pages"] as? [String])
        #expect(Set(["syncctl.1", "syncctl-sync.1", "syncctl-key-add.1"]).isSubset(of: pages))
        let page = try folder.text("man1/syncctl-import.1")
        #expect(page.hasPrefix(".TH \"SYNCCTL\\-IMPORT\" 1"))
        for part in [".SH \"NAME\"", ".SH \"SYNOPSIS\"", "\\-\\-table <table>", ".nf"] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(!page.split(separator: "\n").contains { $0.hasPrefix("'") })
    }
}
