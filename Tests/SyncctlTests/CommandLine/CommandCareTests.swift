import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import CipherStore
@testable import SyncctlCommands

/// What commands refuse, so that nobody finds it out too late.
@Suite struct CommandCareTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    @Test func aFolderThatIsMissingIsMadeOnlyWhenSomebodySaysSo() throws {
        try place.makeStore("a.db", "a", rows: 0..<2)
        func sync(_ folder: String) -> [String] {
            ["sync", place.path("a.db"), "--remote", "dir:" + place.path(folder), "--cost", "14"] + own("a")
                + ["--remote-passphrase-file", place.secret("c")]
        }
        let missing = try place.run(sync("shared"))
        #expect(missing.status == 1 && missing.errors.contains("--create"), "\(missing.errors)")
        #expect(try place.contents() == ["a.db"])
        try place.succeed(sync("shared") + ["--create"])
        try place.succeed(sync("shared"))
        let mistyped = try place.run(sync("shraed"))
        #expect(mistyped.status == 1)
        #expect(mistyped.errors.contains("did you mean: dir:\(place.path("shared"))"), "\(mistyped.errors)")
        try place.folder.write("title\n", to: "note.csv")
        let file = try place.run(sync("note.csv"))
        #expect(file.status == 1 && file.errors.contains("it is a file"), "\(file.errors)")
        let status = try place.run(
            ["sync", place.path("a.db"), "--remote", place.path("b.db"), "--create"] + own("a"))
        #expect(status.status == 64)
    }

    /// Foundation takes a name of one letter apart wrongly.
    @Test(arguments: ["Z", "é", "./Z", "zz"]) func aMissingFolderOfOneLetterIsMissing(folder: String) throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        let program = try #require(CommandRunner.program)
        let result = try CommandRunner.run(
            "/bin/sh",
            [
                "-c",
                #"cd "$2" && exec "$1" sync a.db --remote "dir:$3" --passphrase-file "$4" --remote-passphrase-file "$4""#,
                "sh", program, place.folder.path, folder, place.secret("a"),
            ], environment: CommandRunner.inherited)
        #expect(result.status == 1 && result.errors.contains("there is no such folder"), "\(result.errors)")
    }

    @Test func aRemoteIsForgottenUnderEitherName() throws {
        let usage = try place.run(["remote", "forget"])
        #expect(usage.status == 64 && !usage.errors.contains("no command"), "\(usage.errors)")
    }

    @Test func namesThatAreNoneAreRefused() throws {
        for words in [["init", ""], ["status", ""]] {
            let result = try place.run(words + own("a"))
            #expect(result.status == 64 && result.errors.contains("empty"), "\(words): \(result.errors)")
        }
        let keyed = try place.run(["init", place.path("n.db"), "--key-file", place.path("k")])
        #expect(keyed.status == 64 && keyed.errors.contains("key add"), "\(keyed.errors)")
    }

    @Test func aPassphraseThatOpensASlotGetsNoSecondOne() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        func add(_ name: String) -> [String] {
            ["key", "add", place.path("a.db"), "--new-passphrase-file", place.secret(name), "--cost", "14"]
                + own("a")
        }
        let first = try place.run(add("a"))
        #expect(first.status == 1 && first.errors.contains("already"), "\(first.errors)")
        #expect(!Keyring(store: place.path("a.db")).exists)
        try place.succeed(add("b"))
        for name in ["a", "b"] {
            let again = try place.run(add(name))
            #expect(again.status == 1 && again.errors.contains("opens slot"), "\(again.errors)")
        }
        let changed = try place.run(
            ["key", "passwd", place.path("a.db"), "--new-passphrase-file", place.secret("b")] + own("a"))
        #expect(changed.status == 1 && changed.errors.contains("opens slot"), "\(changed.errors)")
        #expect(try Keyring(store: place.path("a.db")).information().slots.count == 2)
    }

    @Test func aMissingKeyringIsSaid() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        try place.succeed(
            ["key", "add", place.path("a.db"), "--new-passphrase-file", place.secret("b"), "--cost", "14"]
                + own("a"))
        try FileManager.default.moveItem(atPath: place.path("a.db.keys"), toPath: place.path("away"))
        for words in [["status", place.path("a.db")] + own("a"), ["key", "list", place.path("a.db")]] {
            let result = try place.run(words)
            #expect(result.status == 12)
            let copy = "cp \(place.path("a.db.keys.bak")) \(place.path("a.db.keys"))"
            #expect(result.errors.contains(copy), "\(result.errors)")
        }
    }

    @Test func aTableThatIsNamedTwiceIsTrackedOnce() throws {
        try place.succeed(["init", place.path("a.db")] + own("a"))
        let queue = try place.open("a.db", "a")
        try queue.write {
            try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY); CREATE TABLE rest (a)")
        }
        try queue.close()
        let result = try place.succeed(
            ["track", place.path("a.db"), "note", "NOTE", "note", "--json"] + own("a"))
        #expect(try result.document()["tracked"] as? [String] == ["note"])
        let status = try place.succeed(["status", place.path("a.db")] + own("a"))
        #expect(status.output.contains("not tracked: rest"), "\(status.output)")
        let document = try place.succeed(["status", place.path("a.db"), "--json"] + own("a")).document()
        #expect(document["untracked"] as? [String] == ["rest"])
    }

    @Test func whatIsNoStoreIsNotedAsNoRemote() throws {
        try place.makeStore("a.db", "a", rows: 0..<1)
        try FileManager.default.createDirectory(
            atPath: place.path("folder"), withIntermediateDirectories: false)
        try place.folder.write("", to: "empty.db")
        for (name, status) in [("folder", 1), ("empty.db", 10), ("none.db", 10)] as [(String, Int32)] {
            let result = try place.run(
                ["sync", place.path("a.db"), "--remote", place.path(name)] + own("a"))
            #expect(result.status == status, "\(result.errors)")
        }
        let queue = try place.open("a.db", "a")
        let synchronizer = try Synchronizer(existing: queue)
        #expect(try synchronizer.status().remotes.isEmpty)
        // One that was noted is forgotten when somebody says so.
        try place.makeStore("other.db", "b", rows: 0..<1)
        _ = try place.run(
            ["sync", place.path("a.db"), "--remote", place.path("other.db")] + own("a")
                + ["--remote-passphrase-file", place.secret("wrong")])
        let noted = try #require(try synchronizer.status().remotes.first)
        #expect(noted.lastError?.contains("SELECT") == false)
        #expect(try synchronizer.forgetAttempts(withRemote: noted.name))
        #expect(try !synchronizer.forgetAttempts(withRemote: noted.name))
        #expect(try synchronizer.status().remotes.isEmpty)
        try queue.close()
    }
}

@Suite(.anyEngine) struct ProblemLineTests {
    private func page(_ number: Int, _ table: String?) -> StoreProblem {
        StoreProblem(.page, "page \(number) is not authentic", page: number, table: table)
    }

    @Test func pagesThatFollowEachOtherAreOneLine() {
        let problems =
            [page(2, "a"), page(3, "a"), page(4, "b"), page(6, "b")] + (7...9).map { page($0, "b") }
            + [StoreProblem(.structure, "an index"), page(12, nil)]
        let lines = ProblemLine.lines(problems, presentPageCount: nil).map(\.text)
        #expect(
            lines == [
                "pages 2 to 3 are not authentic", "page 4 is not authentic", "pages 6 to 9 are not authentic",
                "an index", "page 12 is not authentic",
            ])
        let cut = ProblemLine.lines(problems, presentPageCount: 7).map(\.text)
        #expect(cut.contains("pages 6 to 7 are not authentic") && cut.contains("pages 8 to 9 are missing"))
        #expect(cut.contains("page 12 is missing"))
    }
}
