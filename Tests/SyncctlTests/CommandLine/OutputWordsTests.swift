import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncctlCommands

/// What commands print about what they did.
@Suite struct OutputWordsTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }
    private var store: String { place.path("a.db") }

    @Test func aTransferWithoutRowsIsNothingNew() {
        let empty = SyncReport.Transfer(rowCount: 0, byteCount: 120, applied: ApplySummary())
        let full = SyncReport.Transfer(rowCount: 2, byteCount: 120, applied: ApplySummary())
        let parts = ExchangeText(direction: .both, pulled: empty, pushed: full).parts
        #expect(parts.prefix(2) == ["pulled nothing new", "pushed 2 rows (120 B)"])
    }

    @Test func eachCommandThatMakesAStoreSaysHowItIsEncrypted() throws {
        let clone = try place.succeed(
            ["clone", store, place.path("b.db"), "--to-passphrase-file", place.secret("b")] + own)
        #expect(clone.output.contains("(replica of \(store), AES-256, replica "), "\(clone.output)")
        try place.succeed(
            ["export", store, "--to", place.path("b.csa"), "--cost", "14"] + own
                + ["--to-passphrase-file", place.secret("c")])
        let restored = try place.succeed(
            ["restore", place.path("b.csa"), place.path("c.db")] + own
                + ["--archive-passphrase-file", place.secret("c")])
        #expect(restored.output.contains("b.csa, AES-256, replica "), "\(restored.output)")
    }

    @Test func theMomentOfABundleIsShownInTheZoneOfPeople() throws {
        let secret = ["--bundle-passphrase-file", place.secret("c")]
        try place.succeed(
            ["bundle", "create", store, "--since-nothing", "--to", place.path("x"), "--cost", "14"] + own
                + secret)
        let show = ["bundle", "show", place.path("x")] + secret
        let universal = try place.succeed(show + ["--utc"]).output
        let moment = #"at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d"#
        #expect(try universal.contains(Regex(moment + "Z")), "\(universal)")
        let local = try place.run(show, environment: ["TZ": "JST-9"]).output
        #expect(try local.contains(Regex(moment + #"\+09:00"#)), "\(local)")
        let created = try #require(try place.succeed(show + ["--json"]).document()["created"] as? String)
        #expect(created.dropFirst(10).first == "T" && created.hasSuffix("Z"), "\(created)")
    }

    @Test func rowsThatFoundTheirPlaceInNewTablesAreCounted() throws {
        try place.makeStore("new.db", "a", rows: 0..<0)
        let queue = try place.open("new.db", "a")
        try queue.write { try $0.execute(sql: "DROP TABLE person") }
        try queue.close()
        try place.makeReplica("b.db", "b", of: "new.db", "a")
        let rows = try place.folder.write("name,size\nOslo,7\nRoma,9\n", to: "city.csv")
        try place.succeed(["import", place.path("new.db"), rows, "--track"] + own)
        let secret = ["--passphrase-file", place.secret("b")]
        let sync =
            ["sync", place.path("b.db"), "--remote", place.path("new.db"), "--remote-passphrase-file"]
            + [place.secret("a")] + secret
        #expect(try place.run(sync).status == 3)
        let list = try place.succeed(["parked", "list", place.path("b.db")] + secret).output
        let waiting = list.split(separator: "\n").filter { $0.hasPrefix("city") }
        #expect(waiting.count == 2)
        #expect(waiting.allSatisfy { $0.contains("  -  ") }, "\(list)")
        let made = try place.succeed(sync + ["--create-tables"])
        #expect(made.errors.contains("made and tracked: city"))
        #expect(made.errors.contains("2 rows that waited found their place"), "\(made.errors)")
        let again = try place.succeed(sync + ["--create-tables"])
        #expect(!again.errors.contains("their place"))
    }

    @Test func aLimitOfTheShellIsNoFullDisk() throws {
        let queue = try place.open("a.db", "a")
        try queue.write {
            try $0.execute(sql: "CREATE TABLE big (a); INSERT INTO big VALUES (randomblob(3000000))")
        }
        try queue.close()
        let program = try #require(CommandRunner.program)
        func run(_ limit: Int, _ arguments: [String]) throws -> CommandResult {
            try CommandRunner.run(
                "/bin/sh",
                ["-c", #"ulimit -f "$1"; shift; "$@""#, "sh", "\(limit)", program] + arguments + own,
                environment: CommandRunner.inherited)
        }
        let to = ["--to-passphrase-file", place.secret("b")]
        let commands = [
            ["clone", store, place.path("b.db")] + to, ["export", store, "--to", place.path("b.db")] + to,
            ["export", store, "--to", place.path("b.sqlite"), "--plaintext"],
            ["export", store, "--to", place.path("b.csv"), "--format", "csv", "--table", "big"],
        ]
        for command in commands {
            let result = try run(300, command)
            #expect(result.status == 1 && result.errors.contains("ulimit -f"), "\(command): \(result.errors)")
            #expect(!result.errors.contains("ls -ld"), "\(result.errors)")
        }
        // SQLite says of both that the disk is full.
        let small = try run(16, ["init", place.path("b.db")])
        #expect(small.status == 1 && small.errors.contains("ulimit -f"), "\(small.errors)")
        #expect(!small.errors.contains("the disk is full"), "\(small.errors)")
        #expect(try place.contents() == ["a.db"])
    }
}
