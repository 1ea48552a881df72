import CipherStore
import Foundation
import Testing

/// A file of another kind than the one that is expected is called what it is, and is no damage.
@Suite struct WrongFileTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
        try place.folder.write("title\nBooks\n", to: "note.csv")
    }

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

    @Test(arguments: [[], ["--create"], ["--create", "--snapshot"]])
    func aFileIsNoSharedFolder(options: [String]) throws {
        try expect(
            1, "note.csv: it is a file, and no folder", without: ["Cocoa"],
            running: ["sync", place.path("a.db"), "--remote", "dir:" + place.path("note.csv")] + options
                + own("a") + ["--remote-passphrase-file", place.secret("c")])
        // Nor is it noted as a remote that failed.
        let status = try place.succeed(["status", place.path("a.db")] + own("a"))
        #expect(!status.output.contains("note.csv"), "\(status.output)")
    }

    @Test func whatIsNoBundleIsCalledThatByEachCommand() throws {
        try place.succeed(
            ["export", place.path("a.db"), "--to", place.path("b.csa"), "--cost", "14"] + own("a")
                + ["--to-passphrase-file", place.secret("c")])
        try place.folder.write("", to: "empty")
        for file in ["note.csv", "a.db", "b.csa", "empty"].map(place.path) {
            for secret in [["--plaintext"], ["--bundle-passphrase-file", place.secret("c")]] {
                let commands = [
                    ["bundle", "show", file], ["bundle", "apply", place.path("a.db"), file] + own("a"),
                    ["bundle", "create", place.path("a.db"), "--known-by", file, "--to", place.path("x")]
                        + own("a"),
                ]
                for command in commands {
                    try expect(
                        1, "\(file): it is no bundle", "syncctl bundle create", running: command + secret)
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: place.path("x")))
    }

    @Test func aBundleThatWasCutOffIsADamagedOne() throws {
        let bundle = place.path("x.bundle")
        try place.succeed(
            ["bundle", "create", place.path("a.db"), "--since-nothing", "--plaintext", "--to", bundle]
                + own("a"))
        let whole = try Data(contentsOf: URL(fileURLWithPath: bundle))
        for count in [3, 40, whole.count - 1] {
            try whole.prefix(count).write(to: URL(fileURLWithPath: bundle))
            try expect(16, "is damaged", running: ["bundle", "show", bundle, "--plaintext"])
        }
    }

    @Test func theDamagedHeadOfAFolderIsNamed() throws {
        let shared = place.path("shared")
        let sync =
            ["sync", place.path("a.db"), "--remote", "dir:" + shared, "--create", "--cost", "14"] + own("a")
            + ["--remote-passphrase-file", place.secret("c")]
        try place.succeed(sync)
        let files = FileManager.default.enumerator(atPath: shared)?.allObjects as? [String] ?? []
        let head = try shared + "/" + #require(files.first { $0.hasSuffix("/head") })
        var data = try Data(contentsOf: URL(fileURLWithPath: head))
        data[60] ^= 1
        try data.write(to: URL(fileURLWithPath: head))
        try expect(
            12, "does not open the files of the folder", "this file is damaged: \(head);", running: sync)
    }

    @Test func aJoinIsToldThatAllReplicasOfAFolderUseOnePassphrase() throws {
        let shared = "dir:" + place.path("shared")
        try place.succeed(
            ["sync", place.path("a.db"), "--remote", shared, "--create", "--snapshot", "--cost", "14"]
                + own("a") + ["--remote-passphrase-file", place.secret("c")])
        try expect(
            12, "does not open the files of the folder", "all replicas use the same one",
            without: ["--clone-passphrase-file"],
            running: ["init", place.path("b.db"), "--join", shared] + own("b")
                + ["--remote-passphrase-file", place.secret("wrong")])
        #expect(!FileManager.default.fileExists(atPath: place.path("b.db")))
    }

    @Test func aTextIsNoStoreAndNoDamage() throws {
        let text = place.path("note.csv")
        let long = try place.folder.write(
            String(repeating: "words, and äöü; no pages. ", count: 400), to: "long.txt")
        let short = try place.folder.write("xy", to: "short.txt")
        for file in [text, long, short] {
            for command in [
                ["status", file], ["verify", file], ["export", file, "--to", place.path("x.db")],
                ["sql", file, "SELECT 1"], ["sql", file, "DELETE FROM person", "--write"],
            ] {
                try expect(
                    12, "\(file): it is a text, and no store", "syncctl import", running: command + own("a"))
            }
            try expect(
                12, "\(file): it is a text, and no store",
                running: ["sync", place.path("a.db"), "--remote", file] + own("a"))
            try expect(
                12, "\(file): it is a text, and no store",
                running: ["init", place.path("x.db"), "--clone", file] + own("a"))
            try expect(
                1, "\(file): it is a text, and no archive", "syncctl import",
                running: ["restore", file, place.path("x.db")] + own("a")
                    + ["--archive-passphrase-file", place.secret("c")])
        }
        #expect(!FileManager.default.fileExists(atPath: place.path("x.db")))
    }

    @Test func whatIsNoArchiveIsNoDamagedOne() throws {
        let plain = try DatabaseQueue(path: place.path("plain"))
        try plain.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try plain.close()
        let secret = ["--archive-passphrase-file", place.secret("c")]
        for (file, hint) in [("a.db", "--clone"), ("plain", "--from")] {
            let path = place.path(file)
            try expect(
                1, "\(path): it is no archive", "\(hint) \(path)",
                running: ["restore", path, place.path("x.db")] + own("a") + secret)
        }
        // What has the name of an archive was one.
        try FileManager.default.copyItem(atPath: place.path("a.db"), toPath: place.path("b.csa"))
        let restored = ["restore", place.path("b.csa"), place.path("x.db")] + own("a") + secret
        try expect(16, running: restored)
    }

    private static let noStores: [(name: String, status: Int32, words: String)] = [
        ("folder", 1, "not a regular file"), ("empty", 10, "the file is empty"),
        ("note.csv", 12, "it is a text, and no store"), ("plain", 12, "the database is not encrypted"),
    ]

    @Test(arguments: noStores)
    func whatIsNoStoreIsNotSaidToHaveAPassphraseOnly(name: String, status: Int32, words: String) throws {
        let file = place.path(name)
        try FileManager.default.createDirectory(
            atPath: place.path("folder"), withIntermediateDirectories: false)
        try place.folder.write("", to: "empty")
        let plain = try DatabaseQueue(path: place.path("plain"))
        try plain.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try plain.close()
        for command in [
            ["key", "list", file], ["key", "backup", file, "--to", place.path("copy")],
            ["key", "remove", file, "00"] + own("a"),
            ["key", "passwd", file, "--new-passphrase-file", place.secret("b")] + own("a"),
        ] {
            try expect(status, "\(file): \(words)", without: ["key slots"], running: command)
        }
    }

    @Test func aFolderOrAnEmptyFileIsNoOriginalBeforeAnybodyIsAsked() throws {
        try FileManager.default.createDirectory(
            atPath: place.path("folder"), withIntermediateDirectories: false)
        for name in ["empty", "empty.csa"] { try place.folder.write("", to: name) }
        let (new, folder) = (place.path("x.db"), place.path("folder"))
        for command in [["init", new, "--from", folder], ["restore", folder, new]] {
            try expect(1, "\(folder): not a regular file", without: ["--clone"], running: command + own("a"))
        }
        let empty = place.path("empty")
        try expect(
            10, "\(empty): the file is empty", "--from takes an archive", without: ["--clone"],
            running: ["init", new, "--from", empty] + own("a"))
        // No passphrase of an archive is given, and none is asked for.
        let archive = place.path("empty.csa")
        for command in [
            ["restore", archive, new] + own("a"), ["init", new, "--from", archive] + own("a"),
            ["verify", archive],
        ] {
            try expect(
                10, "\(archive): the file is empty, it holds no archive", "archives are made with",
                without: ["syncctl init"], running: command)
        }
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test func aFolderInPlaceOfANewFileIsCalledOne() throws {
        let folder = place.path("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let (graph, export) = (["graph", place.path("a.db")], ["export", place.path("a.db"), "--format"])
        for command in [graph, export + ["sql"], export + ["csv", "--table", "person"]] {
            try expect(
                1, "\(folder): there is a folder already", without: ["remove"],
                running: command + ["--to", folder] + own("a"))
        }
        try expect(
            1, "no/x.svg: there is no such folder", "make the folder first",
            running: graph + ["--to", place.path("no/x.svg")] + own("a"))
    }

    @Test func aStoreOfWhichLittleIsLeftIsDamaged() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path("a.db")))
        // A byte that no text has, whatever the salt of the store is.
        try (Data([0x81]) + whole.prefix(99)).write(to: URL(fileURLWithPath: place.path("cut.db")))
        try expect(16, "cut.db", "too short", running: ["status", place.path("cut.db")] + own("a"))
    }
}
