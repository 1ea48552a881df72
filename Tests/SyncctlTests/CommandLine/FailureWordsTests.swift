import Foundation
import SyncEngine
import Testing

@testable import CipherStore
@testable import SyncctlCommands

/// A failure says which file it is about, why, and what to do.
@Suite struct FailureWordsTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func expect(
        _ status: Int32, _ words: String..., without: [String] = [], running arguments: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try place.run(arguments, sourceLocation: sourceLocation)
        #expect(result.status == status, "\(result.errors)", sourceLocation: sourceLocation)
        for word in words {
            #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: sourceLocation)
        }
        for word in without {
            #expect(!result.errors.contains(word), "\(result.errors)", sourceLocation: sourceLocation)
        }
    }

    @Test func anErrorOfSQLiteNamesTheFileOfItsConnection() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        let queue = try place.open("a.db", "a")
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try $0.execute(sql: "SELECT nothing FROM nowhere") }
        }
        #expect(error?.file == place.path("a.db"))
        // Where it happened is no part of what it is.
        let other = DatabaseError(
            resultCode: .SQLITE_ERROR, message: error?.message, sql: error?.sql, arguments: error?.arguments)
        #expect(error == other)
        let words = Failure(explaining: try #require(error))
        #expect(words.message.hasPrefix(place.path("a.db") + ": ") && !words.message.contains("SELECT"))
        try queue.close()
    }

    /// The disk here has nothing to do with it.
    @Test func aPlaceWithoutRoomIsNoFullDisk() {
        let relay = Failure(
            StoreError(
                .full, "127.0.0.1:7444 has no room in the channel: it would hold 2 bytes, and may hold 1",
                path: "https://127.0.0.1:7444/52/0001.csa"), store: "a.db")
        #expect(relay.message.hasPrefix("127.0.0.1:7444 has no room") && relay.status == .failure)
        #expect(relay.hints.joined().contains("syncctl relay --quota"))
        let bucket = Failure(
            StoreError(.full, "the bucket takes no more (QuotaExceeded)", path: "s3://test/notes/52/head"),
            store: "a.db")
        #expect(bucket.message == "s3://test/notes/52/head: the bucket takes no more (QuotaExceeded)")
        #expect(!bucket.hints.joined().contains("free some space"))
        let disk = Failure(StoreError(.full, "the disk is full", path: place.path("a.db")), store: "a.db")
        #expect(disk.message.contains("the disk is full"))
        #expect(disk.hints == ["free some space and try again"])
    }

    @Test func aStoreThatIsInUseIsNamed() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let queue = try place.open("b.db", "b")
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction(.immediate)
            defer { try? db.rollback() }
            try expect(
                11, "b.db", "in use by another process",
                running: ["sync", place.path("a.db"), "--remote", place.path("b.db")] + own("a")
                    + ["--remote-passphrase-file", place.secret("b")])
        }
        try queue.close()
    }

    @Test func aDamagedStoreIsNamedWithTheWayOut() throws {
        try place.makeStore("a.db", "a", rows: 0..<400)
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path("b.db")))
        try whole.prefix(8192).write(to: URL(fileURLWithPath: place.path("cut.db")))
        try expect(
            16, "cut.db", "syncctl verify", "--clone <replica>",
            running: ["sync", place.path("a.db"), "--remote", place.path("cut.db")] + own("a")
                + ["--remote-passphrase-file", place.secret("b")])
        let verified = try place.run(["verify", place.path("cut.db")] + own("b"))
        #expect(verified.status == 16)
        #expect(verified.output.contains("pages 3 to "), "\(verified.output)")
        #expect(verified.output.contains("are missing"))
    }

    @Test func aFileThatTheSystemDoesNotOpenIsExplained() throws {
        // The superuser may open any file.
        guard geteuid() != 0 else { return }
        try place.makeStore("a.db", "a", rows: 0..<1)
        chmod(place.path("a.db"), 0)
        try expect(
            1, "a.db", "permission denied", "chmod u+rw", running: ["status", place.path("a.db")] + own("a"))
        #expect(FileObstacle.find(place.path("a.db"))?.code == EACCES)
        chmod(place.path("a.db"), 0o600)
        #expect(FileObstacle.find(place.path("a.db")) == nil)
    }

    @Test func inputsThatAreMissingHaveTheirOwnHints() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        let none = place.path("none")
        try expect(
            1, "none", "key add", without: ["syncctl init"],
            running: ["status", place.path("a.db"), "--key-file", none])
        try expect(
            10, "none", "syncctl export", without: ["syncctl init \(none)"],
            running: ["restore", none, place.path("r.db")] + own("a"))
        try expect(
            10, "none", "--clone takes", running: ["init", place.path("r.db"), "--clone", none] + own("a"))
        try expect(
            10, "none", "--from takes", running: ["init", place.path("r.db"), "--from", none] + own("a"))
    }

    @Test func aLinkToNowhereIsToldFromAFileThatIsThere() throws {
        try FileManager.default.createSymbolicLink(
            atPath: place.path("link.db"), withDestinationPath: "nowhere.db")
        try expect(
            1, "link to", "nowhere.db", without: ["there is a file already"],
            running: ["init", place.path("link.db")] + own("a"))
        try expect(
            10, "nowhere.db", "link.db is a link", without: ["syncctl init"],
            running: ["status", place.path("link.db")] + own("a"))
    }

    @Test func aLinkInACircleIsToldFromOneToNowhere() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        try FileManager.default.createSymbolicLink(
            atPath: place.path("loop"), withDestinationPath: "loop")
        try FileManager.default.createSymbolicLink(
            atPath: place.path("dead"), withDestinationPath: "nowhere")
        let loop = place.path("loop")
        try expect(
            1, "leads back to itself", without: ["not there", "name the file itself"],
            running: ["init", loop] + own("a"))
        for words in [
            ["status", loop], ["sync", place.path("a.db"), "--remote", loop],
            ["init", place.path("b.db"), "--clone", loop],
        ] { try expect(10, "leads back to itself", running: words + own("a")) }
        try expect(
            10, "dead is a link",
            running: ["init", place.path("b.db"), "--clone", place.path("dead")] + own("a"))
    }

    @Test func anAddressIsNoFile() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        for words in [
            ["status", "ssh://host/x.db"], ["init", "ssh://host/x.db"],
            ["init", place.path("b.db"), "--clone", "https://host"],
        ] {
            try expect(
                64, "is an address", without: ["init ssh", "init https"], running: words + own("a"))
        }
        for command in ["sync", "schema", "verify"] {
            try expect(
                64, "https://… is an address", "syncctl remote list", without: ["syncctl init", "secret"],
                running: [command, place.path("a.db"), "--remote", "https://host/secret"] + own("a"))
        }
        // A path can have the same letters.
        try FileManager.default.createDirectory(
            atPath: place.path("https:"), withIntermediateDirectories: false)
        #expect(StoreFileCheck.obstacle(toName: place.path("https:") + "//x.db") == nil)
    }

    @Test func anEmptyNameIsAWrongCommandLine() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        for words in [
            ["init", ""], ["init", place.path("b.db"), "--clone", ""],
            ["sync", place.path("a.db"), "--remote", ""],
            ["schema", place.path("a.db"), "--remote", ""], ["verify", place.path("a.db"), "--remote", ""],
        ] { try expect(64, "is empty", without: ["./"], running: words + own("a")) }
    }

    @Test func anArchiveIsKnownByItsHead() throws {
        try place.makeStore("a.db", "a", rows: 0..<2)
        try place.succeed(
            ["export", place.path("a.db"), "--to", place.path("b.csa"), "--cost", "14"] + own("a")
                + ["--to-passphrase-file", place.secret("b")])
        try FileManager.default.moveItem(atPath: place.path("b.csa"), toPath: place.path("backup"))
        let secret = ["--archive-passphrase-file", place.secret("b")]
        try expect(12, "an archive", "syncctl restore", running: ["status", place.path("backup")] + own("b"))
        try place.succeed(["verify", place.path("backup")] + secret)
        try place.succeed(["init", place.path("c.db"), "--from", place.path("backup")] + secret + own("c"))
        #expect(try place.rows("c.db", "c") == place.rows("a.db", "a"))
    }

    @Test func textThatIsNotEncryptedGetsNoNameOfAnArchive() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        for how in [["--plaintext"], ["--format", "csv", "--table", "person"]] {
            try expect(
                64, ".csa", "not encrypted",
                running: ["export", place.path("a.db"), "--to", place.path("x.csa")] + how + own("a"))
        }
        #expect(try place.contents() == ["a.db"])
    }

    @Test func hintsNameTheStore() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        try expect(
            1, "syncctl conflicts list \(place.path("a.db")) --resolved",
            running: ["conflicts", "show", place.path("a.db"), "9"] + own("a"))
        try expect(
            1, "no table nope", "person",
            running: ["parked", "list", place.path("a.db"), "--table", "nope"] + own("a"))
    }

    @Test func aSchemaOfANewerSQLiteIsNoDamageOfTheNewStore() throws {
        // Rows of a table that this library can't parse can't be made with it: the definition is written as it is.
        let queue = try DatabaseQueue(path: place.path("new.sqlite"))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)")
            db.setDefensive(false)
            try db.execute(sql: "PRAGMA writable_schema = 1")
            try db.execute(
                sql: "UPDATE sqlite_master SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY) LATER'")
        }
        try queue.close()
        try expect(
            15, "new.sqlite", "newer SQLite",
            running: ["init", place.path("a.db"), "--from", place.path("new.sqlite")] + own("a"))
        #expect(try place.contents() == ["new.sqlite"])
    }

    @Test func oneThingIsNotSeveral() throws {
        #expect(ExchangeText.conflicts(1) == "1 conflict resolved by last writer, the losing value kept")
        #expect(
            ExchangeText.conflicts(2).hasSuffix("2 conflicts resolved by last writer, the losing values kept")
        )
        try place.succeed(["init", place.path("a.db")] + own("a"))
        let queue = try place.open("a.db", "a")
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('no UUID')")
        }
        try expect(1, "has 1 row whose key", running: ["track", place.path("a.db"), "t"] + own("a"))
        try queue.write { try $0.execute(sql: "DELETE FROM t") }
        try place.succeed(["track", place.path("a.db"), "t"] + own("a"))
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES ('no UUID')") }
        try queue.close()
        let status = try place.run(["status", place.path("a.db")] + own("a"))
        #expect(status.output.contains("1 key is no UUID"), "\(status.output)")
    }

    @Test func rowsThatWereKnownBeforeAreTold() throws {
        try place.makeStore("a.db", "a", rows: 0..<3)
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        try place.succeed(
            ["bundle", "create", place.path("a.db"), "--since-nothing", "--plaintext"] + own("a")
                + ["--to", place.path("x.bundle")])
        let queue = try place.open("a.db", "a")
        try StoreProbe.insert(10..<11, into: queue)
        try queue.close()
        try place.succeed(
            ["bundle", "create", place.path("a.db"), "--since-nothing", "--plaintext"] + own("a")
                + ["--to", place.path("y.bundle")])
        let applied = try place.succeed(
            ["bundle", "apply", place.path("b.db"), place.path("y.bundle"), "--plaintext"] + own("b"))
        #expect(applied.output.hasPrefix("applied 1 row to"), "\(applied.output)")
        #expect(applied.output.contains("3 known before"))
    }

    @Test func aFileThatMayNotGrowIsAnErrorOfTheWrite() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        let rows = (0..<60_000).map { "name \($0),\($0)" }.joined(separator: "\n")
        try place.folder.write("name,stars\n" + rows + "\n", to: "many.csv")
        let program = try #require(CommandRunner.program)
        let result = try CommandRunner.run(
            "/bin/sh",
            [
                "-c", #"ulimit -f 600; "$0" "$@""#, program, "import", place.path("a.db"),
                place.path("many.csv"),
            ]
                + own("a"),
            environment: CommandRunner.inherited)
        #expect(result.status == 1 && result.errors.contains("ulimit -f"), "\(result.errors)")
        #expect(try place.rows("a.db", "a").count == 1)
    }
}
