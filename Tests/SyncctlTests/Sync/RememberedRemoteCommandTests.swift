import CipherStore
import Foundation
import Testing

@testable import SyncEngine
@testable import SyncctlCommands

/// `sync` without a name of a remote, its repetitions, and what it would do.
@Suite struct RememberedRemoteCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
        try place.makeReplica("b.db", "b", of: "a.db", "a")
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }
    private var both: [String] { own + ["--remote-passphrase-file", place.secret("b")] }

    private func insert(_ name: String, _ passphrase: String, _ rows: Range<Int>) throws {
        let queue = try place.open(name, passphrase)
        try StoreProbe.insert(rows, into: queue)
        try queue.close()
    }

    @Test func theOnlyRemoteIsTakenWhenNoneIsNamed() throws {
        let first = try place.run(["sync", place.path("a.db")] + own)
        #expect(first.status == 64 && first.errors.contains("the store knows none"))
        #expect(first.errors.contains("syncctl share"))
        // There is no server that could need none.
        let secret = ["--remote-passphrase-file", place.secret("b")]
        for words in [["sync"], ["watch"]] {
            let result = try place.run(words + [place.path("a.db")] + own + secret)
            #expect(result.status == 64 && result.errors.contains("the store knows none"), "\(result.errors)")
        }
        try place.succeed(["sync", place.path("a.db"), "--remote", place.path("b.db")] + both)
        try insert("b.db", "b", 10..<12)
        let again = try place.succeed(["sync", place.path("a.db"), "--json"] + both).document()
        #expect(again["pulled"] as? Int == 2 && again["remote"] as? String == place.path("b.db"))
    }

    @Test func onlyACommandThatTakesAllRemotesNamesThatOption() throws {
        let queue = try place.open("a.db", "a")
        for name in ["x", "y"] {
            try Synchronizer(existing: queue).remember(
                remote: .init(name: "dir:\(name)", location: "dir:/\(name)"))
        }
        try queue.close()
        for (command, takesAll) in [("sync", true), ("watch", false)] {
            let result = try place.run([command, place.path("a.db")] + own)
            #expect(result.status == 64 && result.errors.contains("knows several"), "\(result.errors)")
            #expect(result.errors.contains("name one with --remote"), "\(result.errors)")
            #expect(result.errors.contains("--all") == takesAll, "\(result.errors)")
        }
    }

    @Test func theFolderThatAStoreBeganFromIsRemembered() throws {
        let folder = ["dir:" + place.path("shared"), "--remote-passphrase-file", place.secret("c")]
        try place.succeed(
            ["sync", place.path("a.db"), "--create", "--snapshot", "--cost", "14", "--remote"] + folder + own)
        try place.succeed(["init", place.path("c.db"), "--join"] + folder + own)
        try insert("a.db", "a", 10..<12)
        try place.succeed(["sync", place.path("a.db"), "--remote"] + folder + own)
        let words = ["sync", place.path("c.db"), "--json", "--remote-passphrase-file", place.secret("c")]
        let result = try place.succeed(words + own).document()
        #expect(result["pulled"] as? Int == 2 && result["remote"] as? String == folder[0])
    }

    #if os(Linux)
        @Test func theFolderThatAStoreBeganFromIsRememberedWhenTheFirstSynchronizationFails() throws {
            let folder = ["dir:" + place.path("shared"), "--remote-passphrase-file", place.secret("c")]
            try place.succeed(
                ["sync", place.path("a.db"), "--create", "--snapshot", "--cost", "14", "--remote"] + folder
                    + own)
            // The snapshot is only read.
            let joined = try Interposer().run(
                ["init", place.path("c.db"), "--join"] + folder + own, below: place.path("shared") + "/",
                fault: Fault(mode: .full, call: 1)
            ).result
            #expect(joined.status == 1, "\(joined.errors)")
            #expect(joined.errors.contains("syncctl sync \(place.path("c.db"))"), "\(joined.errors)")
            try insert("a.db", "a", 10..<12)
            try place.succeed(["sync", place.path("a.db"), "--remote"] + folder + own)
            let words = ["sync", place.path("c.db"), "--json", "--remote-passphrase-file", place.secret("c")]
            let result = try place.succeed(words + own).document()
            #expect(result["pulled"] as? Int == 2 && result["remote"] as? String == folder[0])
        }
    #endif

    @Test func optionsOfAPlaceGoWithTheOneThatIsRemembered() throws {
        let both = own + ["--remote-passphrase-file", place.secret("c")]
        let folder = ["--remote", "dir:" + place.path("shared"), "--create", "--cost", "14"]
        try place.succeed(["sync", place.path("a.db")] + folder + both)
        let more = ["--snapshot", "--cost", "14", "--padding", "padme"]
        #expect(
            try place.succeed(["sync", place.path("a.db")] + more + both).output.contains("snapshot added"))
        let wrong = try place.run(["sync", place.path("a.db"), "--s3-profile", "x"] + both)
        #expect(wrong.status == 64 && wrong.errors.contains("go with a bucket"))
        let all = try place.run(["sync", place.path("a.db"), "--all", "--snapshot"] + both)
        #expect(all.status == 64 && all.errors.contains("--all excludes --snapshot"))
    }

    @Test func whatDoesNotGoWithTheRememberedRemoteIsRefused() throws {
        try place.succeed(["sync", place.path("a.db"), "--remote", place.path("b.db")] + both)
        for words in [["--snapshot"], ["--cost", "14"], ["--s3-region", "x"]] {
            let result = try place.run(["sync", place.path("a.db")] + words + both)
            #expect(result.status == 64, "\(words): \(result.errors)")
        }
    }

    @Test(
        arguments: [
            ("s3:/my-bucket/notes", "s3://my-bucket/notes"), ("s3:my-bucket/notes", "s3://my-bucket/notes"),
            ("ssh:/host/a.db", "ssh://host/a.db"), ("s3.db", nil), ("s3:", nil), ("s3://b", nil),
        ] as [(String, String?)])
    func anAddressThatLacksASlashIsSuggestedWhole(path: String, address: String?) {
        #expect(RemoteArgument.address(meantBy: path) == address)
    }

    @Test func oneThatFailedIsNotRemembered() throws {
        let result = try place.run(["sync", place.path("a.db"), "--remote", place.path("none.db")] + both)
        #expect(result.status == 10)
        #expect(try place.run(["sync", place.path("a.db")] + both).status == 64)
    }

    @Test func statusSaysHowAMistypedRemoteIsForgotten() throws {
        // As an exchange does when ssh or a server can't be reached.
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try SyncAttempts.record(
                db, failure: SyncError.changedMeanwhile, name: "hbu", at: 1_700_000_000_000)
        }
        try queue.close()
        let words = "syncctl remote remove \(place.path("a.db")) hbu"
        let status = try place.succeed(["status", place.path("a.db")] + own)
        #expect(status.output.contains(words), "\(status.output)")
        try place.succeed(["remote", "remove", place.path("a.db"), "hbu"] + own)
        #expect(try !place.succeed(["status", place.path("a.db")] + own).output.contains("hbu"))
        // One with which it went well once is no mistake.
        try place.succeed(["sync", place.path("a.db"), "--remote", place.path("b.db")] + both)
        try FileManager.default.removeItem(atPath: place.path("b.db"))
        _ = try place.run(["sync", place.path("a.db"), "--remote", place.path("b.db")] + both)
        #expect(try !place.succeed(["status", place.path("a.db")] + own).output.contains("remote remove"))
    }

    @Test func ofSeveralOneIsNamedOrAllAreTaken() throws {
        try place.succeed(["sync", place.path("a.db"), "--remote", place.path("b.db")] + both)
        let folder = ["--remote", "dir:" + place.path("shared"), "--create", "--cost", "14"]
        try place.succeed(["sync", place.path("a.db")] + folder + both)
        let unclear = try place.run(["sync", place.path("a.db")] + both)
        #expect(unclear.status == 64 && unclear.errors.contains("--all"))
        try insert("a.db", "a", 20..<21)
        let all = try place.succeed(["sync", place.path("a.db"), "--all", "--json"] + both)
        #expect(all.output.split(separator: "\n").count == 2)
        // What is gone is reported, and keeps nobody from the others.
        try FileManager.default.removeItem(atPath: place.path("b.db"))
        try insert("a.db", "a", 30..<31)
        let rest = try place.run(["sync", place.path("a.db"), "--all"] + both)
        #expect(rest.status == 10 && rest.errors.contains("b.db"))
        #expect(rest.output.contains("dir:") && rest.output.contains("pushed 1 row"))
    }

    /// The sizes of the bundles in the folder, without what is before their content.
    private func bundleSizes() throws -> Set<Int> {
        let files =
            FileManager.default.enumerator(atPath: place.path("shared"))?.allObjects as? [String] ?? []
        return Set(
            try files.filter { $0.hasSuffix(".bundle") }.map {
                try Data(contentsOf: URL(fileURLWithPath: place.path("shared/" + $0))).count
            })
    }

    @Test func whatAStoreWritesIsPaddedFromThenOn() throws {
        let folder = ["--remote", "dir:" + place.path("shared"), "--cost", "14"]
        try place.succeed(["sync", place.path("a.db"), "--create", "--padding", "padme"] + folder + both)
        for row in 40..<43 {
            try insert("a.db", "a", row..<row + 1)
            try place.succeed(["sync", place.path("a.db")] + folder + both)
        }
        // Three edits and one of everything, which is longer by less than a step.
        let padded = try bundleSizes()
        #expect(padded.allSatisfy { ($0 - padded.min()!) % 256 == 0 } && padded.count <= 2)
        let other = ["--passphrase-file", place.secret("b"), "--remote-passphrase-file", place.secret("b")]
        try place.succeed(["sync", place.path("b.db")] + folder + other)
        #expect(try place.rows("b.db", "b").count == place.rows("a.db", "a").count)

        try insert("a.db", "a", 50..<51)
        try place.succeed(["sync", place.path("a.db"), "--padding", "none"] + folder + both)
        let all = try bundleSizes()
        #expect(all.count == padded.count + 1 && all.min()! < padded.min()!)
    }

    @Test func paddingGoesWithAPlaceOfFiles() throws {
        for words in [
            ["--remote", place.path("b.db"), "--padding", "padme"], ["--padding", "much"],
            ["--remote", "dir:" + place.path("shared"), "--padding", "padme", "--dry-run"],
        ] {
            #expect(try place.run(["sync", place.path("a.db")] + words + both).status == 64)
        }
    }

    @Test func aDryRunCountsAndWritesNothing() throws {
        try insert("a.db", "a", 10..<12)
        let words = ["sync", place.path("a.db"), "--remote", place.path("b.db")] + both
        let document = try place.succeed(words + ["--dry-run", "--json"]).document()
        let outgoing = try #require(document["outgoing"] as? [[String: Any]])
        #expect(outgoing.first?["table"] as? String == "person" && outgoing.first?["rows"] as? Int == 2)
        #expect((document["incoming"] as? [Any])?.isEmpty == true)
        #expect(try place.rows("b.db", "b").count == 3)
        #expect(try place.succeed(words + ["--dry-run"]).output.contains("WOULD GO"))
        #expect(try place.succeed(words).output.contains("pushed 2 rows"))
        #expect(try place.run(words + ["--dry-run", "--every", "5m"]).status == 64)
    }

    @Test func pausesGrowWhileItFails() throws {
        #expect(PauseArgument(argument: "5m")?.seconds == 300)
        let wrong = try place.run(["sync", place.path("a.db"), "--every", "0s"] + own)
        #expect(wrong.status == 64 && wrong.errors.contains("write it as 30s, 5m, 2h or 1d"))
        for text in ["", "5", "0s", "m", "-1s", "5x", "99999999999d"] {
            #expect(PauseArgument(argument: text) == nil, "\(text)")
        }
    }

    @Test func eachOptionOfABucketIsRememberedByItself() throws {
        let earlier = try #require(
            BucketArgument("s3://b/p?endpoint=http://127.0.0.1:9&region=here&profile=work&path-style"))
        let bare = try #require(BucketArgument("s3://b/p"))
        #expect(bare.completed(by: earlier) == earlier)
        var profiled = bare
        profiled.profile = "play"
        let completed = profiled.completed(by: earlier)
        #expect(completed.profile == "play" && completed.endpoint == earlier.endpoint)
        #expect(completed.region == "here" && completed.isPathStyle)
        #expect(earlier.completed(by: profiled) == earlier)
    }
}
