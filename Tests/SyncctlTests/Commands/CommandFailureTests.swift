import Foundation
import Testing

@testable import CipherStore

/// What a wrong command line or a wrong file gives: the documented exit code, words that help, one
/// JSON document for programs, and files that are as they were.
@Suite struct CommandFailureTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private func secret(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func remote(_ path: String, _ name: String) -> [String] {
        ["--remote", path, "--remote-passphrase-file", place.secret(name)]
    }

    /// Runs a command that must fail, once for people and once for programs.
    ///
    /// - parameter words: What the message must contain.
    private func expectFailure(
        _ status: Int32, _ words: String..., running arguments: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try snapshot()
        let text = try place.run(arguments, sourceLocation: sourceLocation)
        #expect(text.status == status, "\(text.errors)", sourceLocation: sourceLocation)
        #expect(text.output.isEmpty, sourceLocation: sourceLocation)
        for word in words {
            #expect(text.errors.contains(word), "\(text.errors)", sourceLocation: sourceLocation)
        }
        let json = try place.run(arguments + ["--json"], sourceLocation: sourceLocation)
        #expect(json.status == status, sourceLocation: sourceLocation)
        #expect(json.output.isEmpty, sourceLocation: sourceLocation)
        let document = try json.errorDocument()
        #expect(document["message_type"] as? String == "exit_error", sourceLocation: sourceLocation)
        #expect(document["code"] as? Int32 == status, sourceLocation: sourceLocation)
        let message = "\(document["message"] ?? "")\n\(document["hint"] ?? "")"
        for word in words { #expect(message.contains(word), "\(message)", sourceLocation: sourceLocation) }
        #expect(try snapshot() == before, "the files changed", sourceLocation: sourceLocation)
    }

    /// The names and sizes of all files.
    private func snapshot() throws -> [String: Int] {
        let names = try place.contents()
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: place.path(name))
                return (name, attributes[.size] as? Int ?? 0)
            })
    }

    // MARK: Stores

    private static let readers: [[String]] = [["status"], ["log"], ["export", "--format", "sql"]]

    @Test(arguments: readers) func aWrongPassphrase(command: [String]) throws {
        try place.makeStore("a.db", "a")
        try expectFailure(
            12, "a.db", "passphrase", running: command + [place.path("a.db")] + secret("wrong"))
        #expect(try place.rows("a.db", "a").count == 20)
    }

    @Test func aWrongPassphraseOfARekeyOrOfTheRemote() throws {
        try place.makeStore("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        try expectFailure(
            12, "a.db",
            running: ["rekey", place.path("a.db"), "--new-passphrase-file", place.secret("c")]
                + secret("wrong"))
        try expectFailure(
            12, "b.db",
            running: ["sync", place.path("a.db")] + secret("a") + remote(place.path("b.db"), "wrong"))
        try expectFailure(
            12, "a.db",
            running: ["init", place.path("c.db"), "--clone", place.path("a.db")] + secret("c")
                + ["--clone-passphrase-file", place.secret("wrong")])
    }

    @Test(arguments: readers + [["rekey"]]) func aMissingStore(command: [String]) throws {
        try expectFailure(10, "no.db", "no such file", running: command + [place.path("no.db")] + secret("a"))
    }

    @Test func aMissingRemoteOrOriginal() throws {
        try place.makeStore("a.db", "a")
        try expectFailure(
            10, "no.db",
            running: ["push", place.path("a.db")] + secret("a") + remote(place.path("no.db"), "b"))
        try expectFailure(
            10, "no.db", running: ["init", place.path("c.db"), "--clone", place.path("no.db")] + secret("a"))
    }

    @Test func anEmptyFileGivenAsAStore() throws {
        try place.folder.write("", to: "empty.db")
        try expectFailure(
            10, "empty.db", "empty", "syncctl init",
            running: ["status", place.path("empty.db")] + secret("a"))
        try place.makeStore("a.db", "a")
        try expectFailure(
            10, "empty.db",
            running: ["pull", place.path("a.db")] + secret("a") + remote(place.path("empty.db"), "b"))
    }

    @Test func aPlaintextDatabaseGivenAsAStore() throws {
        let plain = try DatabaseQueue(path: place.path("plain.db"))
        try plain.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try plain.close()
        try expectFailure(
            12, "plain.db", "not encrypted", "init <store> --from",
            running: ["status", place.path("plain.db")] + secret("a"))
        try place.makeStore("a.db", "a")
        try expectFailure(
            12, "plain.db",
            running: ["sync", place.path("a.db")] + secret("a") + remote(place.path("plain.db"), "b"))
        try expectFailure(
            1, "not a CSV file",
            running: ["import", place.path("a.db"), place.path("plain.db")] + secret("a"))
    }

    @Test func aFileThatIsNoDatabase() throws {
        try place.folder.write(String(repeating: "these are words, not pages. ", count: 400), to: "text.db")
        try expectFailure(12, "text.db", running: ["status", place.path("text.db")] + secret("a"))
        try place.folder.write("short", to: "short.db")
        try expectFailure(
            12, "short.db", "text", running: ["status", place.path("short.db")] + secret("a"))
    }

    @Test func anEncryptedDatabaseThatIsNoStore() throws {
        let queue = try StoreProbe.open(place.path("other.db"), Workplace.passphrase("a"), isNew: true)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        try expectFailure(15, "syncctl init", running: ["status", place.path("other.db")] + secret("a"))
    }

    // MARK: Remotes

    @Test func aStoreOfAnotherDatabaseAsRemote() throws {
        try place.makeStore("a.db", "a")
        try place.makeStore("other.db", "b")
        for command in ["push", "pull", "sync"] {
            try expectFailure(
                14, "another database", "--clone",
                running: [command, place.path("a.db")] + secret("a") + remote(place.path("other.db"), "b"))
        }
        #expect(try place.rows("other.db", "b").count == 20)
    }

    @Test func theStoreItselfAsRemote() throws {
        try place.makeStore("a.db", "a")
        try expectFailure(
            14, "this file itself", "--clone",
            running: ["sync", place.path("a.db")] + secret("a") + remote(place.path("a.db"), "a"))
    }

    // MARK: Targets

    @Test(arguments: ["a.db", "any.txt"]) func anExistingTargetIsNeverOverwritten(name: String) throws {
        try place.makeStore("a.db", "a")
        try place.folder.write("precious", to: "any.txt")
        let (store, target) = (place.path("a.db"), place.path(name))
        let commands = [
            ["init", target], ["init", target, "--clone", store],
            ["export", store, "--to", target, "--plaintext"],
            ["export", store, "--to", target, "--to-passphrase-file", place.secret("b")],
            ["export", store, "--to", target, "--format", "csv"],
            ["export", store, "--to", target, "--format", "csv", "--table", "person"],
        ]
        for command in commands { try expectFailure(1, name, "already", running: command + secret("a")) }
        #expect(try place.folder.text("any.txt") == "precious")
    }

    /// A folder that nobody can write to; the superuser can write to any but the kernel's own.
    private func unwritableFolder() throws -> String {
        if geteuid() == 0 { return "/sys" }
        let path = place.path("locked")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
        return path
    }

    @Test func aFolderThatIsMissingOrCannotBeWritten() throws {
        try place.makeStore("a.db", "a")
        let store = place.path("a.db")
        for folder in [place.path("nowhere"), try unwritableFolder()] {
            let target = folder + "/new.db"
            let commands = [
                ["init", target], ["init", target, "--clone", store],
                ["export", store, "--to", target, "--plaintext"],
                ["export", store, "--to", target, "--to-passphrase-file", place.secret("b")],
                ["export", store, "--to", target, "--format", "csv"],
                ["export", store, "--to", target, "--format", "jsonl", "--table", "person"],
            ]
            for command in commands { try expectFailure(1, folder, running: command + secret("a")) }
        }
        #expect(try place.rows("a.db", "a").count == 20)
    }

    // MARK: Two processes

    @Test(arguments: ["import", "push", "rekey"]) func aStoreThatAnotherProcessIsWriting(command: String)
        throws
    {
        try place.makeStore("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        try place.folder.write("name\nAda\n", to: "pet.csv")
        let arguments =
            switch command {
            case "import": ["import", place.path("b.db"), place.path("pet.csv")] + secret("b")
            case "push": ["push", place.path("a.db")] + secret("a") + remote(place.path("b.db"), "b")
            default: ["rekey", place.path("b.db"), "--new-passphrase-file", place.secret("c")] + secret("b")
            }
        let other = try place.open("b.db", "b")
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM person")
            let result = try place.run(arguments + ["--json"])
            #expect(result.status == 11, "\(result.errors)")
            #expect(try result.errorDocument()["code"] as? Int == 11)
            try db.execute(sql: "ROLLBACK")
        }
        try other.close()
        #expect(try place.contents() == ["a.db", "b.db", "pet.csv"])
        #expect(try place.rows("b.db", "b").count == 20)
        try place.succeed(arguments)
    }
}
