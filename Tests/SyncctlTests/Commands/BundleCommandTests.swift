import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Changes in files and through folders, done with the binary.
@Suite struct BundleCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }
    private var bundle: [String] { ["--bundle-passphrase-file", place.secret("c")] }
    /// What a new bundle is sealed with.
    private var sealing: [String] { bundle + ["--cost", "14"] }

    private func insert(_ numbers: Range<Int>, into store: String, _ name: String) throws {
        let queue = try place.open(store, name)
        try StoreProbe.insert(numbers, into: queue)
        try queue.close()
    }

    @Test func aRequestABundleAndItsApplication() throws {
        try insert(20..<25, into: "a.db", "a")
        try place.succeed(
            ["bundle", "request", place.path("b.db"), "--to", place.path("b.request")] + own("b") + sealing)
        let created = try place.succeed(
            [
                "bundle", "create", place.path("a.db"), "--known-by", place.path("b.request"), "--to",
                place.path("x.bundle"), "--json",
            ] + own("a") + sealing)
        #expect(try created.document()["rows"] as? Int == 5)
        let shown = try place.succeed(["bundle", "show", place.path("x.bundle"), "--json"] + bundle)
            .document()
        #expect(shown["encrypted"] as? Bool == true && shown["request"] as? Bool == false)
        #expect((shown["tables"] as? [[String: Any]])?.first?["name"] as? String == "person")
        let applied = try place.succeed(
            ["bundle", "apply", place.path("b.db"), place.path("x.bundle"), "--json"] + own("b") + bundle)
        #expect(try applied.document()["rows"] as? Int == 5)
        let again = try place.succeed(
            ["bundle", "apply", place.path("b.db"), place.path("x.bundle")] + own("b") + bundle)
        #expect(again.output.contains("nothing new"))
        #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
    }

    @Test func wrongUseSaysWhatToDo() throws {
        let file = place.path("x.bundle")
        let create = ["bundle", "create", place.path("a.db"), "--to", file] + own("a")
        #expect(try place.run(create + bundle).status == 64)
        #expect(try place.run(create + bundle + ["--since-nothing", "--for", "12"]).status == 64)
        #expect(try place.run(create + bundle + ["--since-nothing", "--plaintext"]).status == 64)
        #expect(try place.run(create + ["--since-nothing", "--plaintext", "--cost", "14"]).status == 64)
        #expect(try place.run(create + bundle + ["--since-nothing", "--cost", "13"]).status == 64)
        #expect(try place.run(create + ["--since-nothing", "--recipient", "csr1-12"]).status == 64)
        let unheard = try place.run(create + bundle + ["--for", "abcd"])
        #expect(unheard.status == 1 && unheard.errors.contains("syncctl status"))
        #expect(try place.run(create + ["--since-nothing"]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: file))
        try place.succeed(create + sealing + ["--since-nothing"])
        #expect(
            try place.run(create + sealing + ["--since-nothing"]).errors.contains("there is a file already"))
        let wrong = try place.run(
            ["bundle", "show", file, "--bundle-passphrase-file", place.secret("wrong")])
        #expect(wrong.status == 12 && wrong.errors.contains("--bundle-passphrase-file"))
        #expect(try place.run(["bundle", "show", file, "--plaintext"]).status == 12)
        #expect(try place.run(["bundle", "show", place.path("none")] + bundle).status == 1)
        var data = try Data(contentsOf: URL(fileURLWithPath: file))
        data[data.count - 1] ^= 1
        try data.write(to: URL(fileURLWithPath: file))
        let damaged = try place.run(["bundle", "apply", place.path("b.db"), file] + own("b") + bundle)
        #expect(damaged.status == 16)
    }

    @Test func aBundleThatDoesNotFitNamesTheCommandsThatMakeOne() throws {
        try place.succeed(
            [
                "sync", place.path("a.db"), "--remote", place.path("b.db"), "--remote-passphrase-file",
                place.secret("b"),
            ]
                + own("a"))
        let copy = place.path("old.db")
        try FileManager.default.copyItem(atPath: place.path("b.db"), toPath: copy)
        try insert(20..<22, into: "a.db", "a")
        try place.succeed(
            [
                "sync", place.path("a.db"), "--remote", place.path("b.db"), "--remote-passphrase-file",
                place.secret("b"),
            ]
                + own("a"))
        try insert(22..<24, into: "a.db", "a")
        let queue = try place.open("b.db", "b")
        let name = try Synchronizer(existing: queue).status().replica.description
        try queue.close()
        try place.succeed(
            [
                "bundle", "create", place.path("a.db"), "--for", String(name.prefix(6)), "--to",
                place.path("x.bundle"),
            ]
                + own("a") + sealing)
        let refused = try place.run(["bundle", "apply", copy, place.path("x.bundle")] + own("b") + bundle)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("not here"))
        #expect(refused.errors.contains("syncctl bundle request \(copy)"))
        try place.succeed(
            ["bundle", "apply", place.path("b.db"), place.path("x.bundle")] + own("b") + bundle)
        #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
    }

    @Test func replicasSynchronizeThroughAFolderAndANewOneJoins() throws {
        let folder = "dir:" + place.path("shared") + "/"
        let secret = ["--remote", folder, "--remote-passphrase-file", place.secret("c"), "--cost", "14"]
        try insert(20..<22, into: "a.db", "a")
        try insert(22..<24, into: "b.db", "b")
        let needed = try place.run(["sync", place.path("a.db"), "--remote", folder, "--create"] + own("a"))
        #expect(needed.status == 64 && needed.errors.contains("--remote-passphrase-file"))
        try place.succeed(["sync", place.path("a.db"), "--create"] + secret + own("a"))
        let report = try place.succeed(["sync", place.path("b.db"), "--json"] + secret + own("b")).document()
        #expect(report["pulled"] as? Int == 22 && report["pushed"] as? Int == 2)
        let early = try place.run(
            ["init", place.path("c.db"), "--join", folder, "--remote-passphrase-file", place.secret("c")]
                + own("b"))
        #expect(early.status == 1)
        let hint = "--remote dir:\(place.path("shared")) --snapshot"
        #expect(early.errors.contains(hint), "\(early.errors)")
        #expect(!FileManager.default.fileExists(atPath: place.path("c.db")))
        try place.succeed(["sync", place.path("a.db"), "--snapshot"] + secret + own("a"))
        try insert(24..<25, into: "b.db", "b")
        try place.succeed(["push", place.path("b.db")] + secret + own("b"))
        try place.succeed(
            ["init", place.path("c.db"), "--join", folder, "--remote-passphrase-file", place.secret("c")]
                + own("b"))
        #expect(try place.rows("c.db", "b") == place.rows("b.db", "b"))
        let wrong = try place.run(
            [
                "sync", place.path("a.db"), "--remote", folder, "--remote-passphrase-file",
                place.secret("wrong"),
            ]
                + own("a"))
        #expect(wrong.status == 12)
        #expect(
            try place.run(["sync", place.path("a.db"), "--remote", "dir:/no/such/place/x"] + own("a")).status
                == 1)
        for option in [["--snapshot"], ["--cost", "14"]] {
            #expect(
                try place.run(
                    ["sync", place.path("a.db"), "--remote", place.path("b.db")] + option + own("a")
                ).status == 64)
        }
    }

    @Test func aDamagedSnapshotIsWrittenOnceByTheOptionThatAsksForOne() throws {
        let folder = place.path("shared")
        let remote = ["--remote", "dir:" + folder, "--remote-passphrase-file", place.secret("c")]
        let sync = ["sync", place.path("a.db"), "--snapshot", "--cost", "14"] + remote + own("a")
        let first = try place.succeed(sync + ["--create"])
        #expect(first.output.contains("snapshot added"))
        func snapshots() throws -> [String] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return files.filter { $0.hasSuffix(".csa") }.map { folder + "/" + $0 }
        }
        let damaged = try #require(try snapshots().first)
        try Data().write(to: URL(fileURLWithPath: damaged))
        let second = try place.succeed(sync)
        #expect(second.output.contains("snapshot renewed") && !second.output.contains("snapshot added"))
        let after = try snapshots()
        #expect(after.count == 1 && after != [damaged])
        let third = try place.succeed(sync)
        #expect(third.output.contains("snapshot added") && !third.output.contains("snapshot renewed"))
    }
}
