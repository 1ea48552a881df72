import Foundation
import Testing

@testable import CipherStore

/// Files of a version that this program does not know: exit code 15, and the way out.
@Suite struct NewerFormatTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
    }

    /// Changes the first byte after some bytes of a file.
    private func change(_ name: String, after start: [UInt8], to byte: UInt8) throws {
        let url = URL(fileURLWithPath: place.path(name))
        var data = try Data(contentsOf: url)
        let range = try #require(data.range(of: Data(start)))
        data[range.upperBound] = byte
        try data.write(to: url)
    }

    private func expectNewer(_ arguments: [String]) throws {
        let result = try place.run(arguments)
        #expect(result.status == 15, "\(result.errors)")
        #expect(result.errors.contains("use a newer syncctl"), "\(result.errors)")
        #expect(!result.errors.contains("SQLCipher 4"))
        #expect(!result.errors.contains("another copy"))
    }

    @Test func aBundle() throws {
        let own = ["--passphrase-file", place.secret("a")]
        let create = ["bundle", "create", place.path("a.db"), "--since-nothing", "--plaintext"]
        try place.succeed(create + ["--to", place.path("b")] + own)
        try change("b", after: Array("CSBN".utf8), to: 3)
        try expectNewer(["bundle", "show", place.path("b"), "--plaintext"])
        try expectNewer(["bundle", "apply", place.path("a.db"), place.path("b"), "--plaintext"] + own)
    }

    @Test func anArchive() throws {
        let lock = ["--to-passphrase-file", place.secret("b"), "--cost", "14"]
        let export = ["export", place.path("a.db"), "--passphrase-file", place.secret("a")]
        try place.succeed(export + ["--to", place.path("a.csa")] + lock)
        try change("a.csa", after: ArchiveHeader.magic, to: 2)
        try expectNewer(["verify", place.path("a.csa"), "--archive-passphrase-file", place.secret("b")])
    }

    @Test func aKeyring() throws {
        try StoreRekey.makeKeyring(
            path: place.path("a.db"), from: Passphrase(Workplace.passphrase("a")), cost: .minimum)
        try change("a.db.keys", after: KeyringFile.magic, to: 3)
        try expectNewer(["status", place.path("a.db"), "--passphrase-file", place.secret("a")])
    }
}
