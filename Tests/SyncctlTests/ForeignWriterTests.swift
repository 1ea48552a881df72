import Foundation
import Testing

@testable import CipherStore
@testable import SyncEngine

/// The plain `sqlcipher` shell, which knows nothing of synchronization.
private enum Shell {
    private static let program = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { $0 + "/sqlcipher" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs statements. The shell gets the library that it was made for, not that of the tests.
    static func run(_ sql: String, on path: String) throws -> CommandResult {
        guard let program else { throw CommandRunner.Problem(text: "there is no sqlcipher shell") }
        return try CommandRunner.run(
            program, ["-batch", "-bail", path], environment: ["HOME": "/"], input: sql)
    }

    /// The major version of the shell's SQLCipher.
    private static let majorVersion: Int? = {
        let output = try? run("PRAGMA cipher_version;", on: ":memory:").output
        return output.flatMap { Int($0.prefix(while: { $0 != "." })) }
    }()

    private static var formatOfTheTests: Int { CipherSettings.default.format.rawValue }

    /// Whether the shell is there and reads the format that the tests write.
    static var isUsable: Bool { majorVersion.map { $0 >= formatOfTheTests } ?? false }

    /// The statements that open a store of the tests.
    static func keying(_ passphrase: String) -> String {
        let isOlder = (majorVersion ?? 0) > formatOfTheTests
        return "PRAGMA key = '\(passphrase)';\n"
            + (isOlder ? "PRAGMA cipher_compatibility = \(formatOfTheTests);\n" : "")
            + "PRAGMA cipher_page_size = 4096;\n"
    }
}

/// What other programs write to a store is synchronized like everything else.
@Suite(.enabled(if: Shell.isUsable, "no sqlcipher shell that reads the files of the linked SQLCipher"))
struct ForeignWriterTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
    }

    private func write(_ sql: String) throws {
        let result = try Shell.run(Shell.keying(Workplace.passphrase("a")) + sql, on: place.path("a.db"))
        #expect(result.status == 0)
        #expect(result.errors.isEmpty, "\(result.errors)")
    }

    private func push(expecting status: Int32 = 0) throws -> Int? {
        let result = try place.run(
            [
                "push", place.path("a.db"), "--passphrase-file", place.secret("a"), "--remote",
                place.path("b.db"),
            ]
                + ["--remote-passphrase-file", place.secret("b"), "--json"])
        #expect(result.status == status, "\(result.errors)")
        return try result.document()["pushed"] as? Int
    }

    @Test func aRowOfTheShellIsReplicated() throws {
        try write(
            "INSERT INTO person VALUES (x'00112233445566778899aabbccddeeff', 'written by the shell', 5);\n")
        #expect(try push() == 1)
        let rows = try place.rows("b.db", "b")
        #expect(rows.count == 21)
        #expect(rows.first == #"x00112233445566778899aabbccddeeff | "written by the shell" | 5"#)
        #expect(try rows == place.rows("a.db", "a"))
    }

    @Test func updatesAndDeletesOfTheShellAreReplicated() throws {
        try write("UPDATE person SET stars = 99 WHERE stars = 3; DELETE FROM person WHERE stars = 4;\n")
        #expect(try push() == 2)
        let rows = try place.rows("b.db", "b")
        #expect(rows.count == 19)
        #expect(rows.filter { $0.hasSuffix("| 99") }.count == 1)
        #expect(try rows == place.rows("a.db", "a"))
    }

    @Test func aSchemaThatTheShellChangedShowsInTheStatus() throws {
        try write(
            "ALTER TABLE person ADD COLUMN colour TEXT; UPDATE person SET colour = 'red' WHERE stars = 3;\n")
        let arguments = ["status", place.path("a.db"), "--passphrase-file", place.secret("a"), "--json"]
        let before = try place.run(arguments)
        #expect(before.status == 3)
        let remark = try #require((try before.document()["schema"] as? [[String: String]])?.first)
        #expect(remark["table"] == "person")
        #expect(remark["text"]?.contains("column colour was added by another program") == true)
        try write("ALTER TABLE person RENAME TO people;\n")
        // The other store has the table under its old name, and the column not at all.
        #expect(try push(expecting: 3) == 1)
        let status = try place.run(
            ["status", place.path("b.db"), "--passphrase-file", place.secret("b")])
        #expect(status.status == 3)
        #expect(status.output.contains("person: other replicas have a column colour"))
        #expect(try place.succeed(arguments).document()["schema"] as? [[String: String]] == [])
    }

    @Test func theShellReadsWhatCameByAPush() throws {
        try write("INSERT INTO person VALUES (x'00112233445566778899aabbccddeeff', 'there and back', 5);\n")
        #expect(try push() == 1)
        let sql = Shell.keying(Workplace.passphrase("b")) + "SELECT name FROM person WHERE stars = 5;\n"
        let output = try Shell.run(sql, on: place.path("b.db")).output
        #expect(output.contains("there and back\n"))
    }
}
