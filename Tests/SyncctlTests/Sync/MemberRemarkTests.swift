import Foundation
import Testing

/// What a synchronization says of members.
@Suite struct MemberRemarkTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    @discardableResult
    private func sync(_ store: String, _ name: String) throws -> CommandResult {
        let remote = [
            "--remote", "dir:\(place.path("shared"))", "--remote-passphrase-file", place.secret("c"),
        ]
        return try place.run(["sync", place.path(store), "--create"] + remote + own(name))
    }

    @Test func whoRecoversIsToldWhatBecameOfTheFormerMember() throws {
        let found = try place.succeed(
            ["member", "found", place.path("a.db"), "--as", "anna", "--json"] + own("a"))
        let text = try #require(found.document()["recovery_key"] as? String)
        let key = try place.folder.writePassphrase(text, to: "recovery")
        try sync("a.db", "a")
        let words = ["member", "recover", place.path("a.db"), "--as", "anna again", "--recovery-key-file"]
        let recovered = try place.succeed(words + [key] + own("a"))
        #expect(recovered.errors.contains("syncctl member remove"))
        let result = try sync("a.db", "a")
        #expect(result.errors.contains("another member") && !result.errors.contains("is a copy"))
    }
}
