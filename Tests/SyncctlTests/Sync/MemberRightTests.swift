import Foundation
import Testing

/// What members may not do, in words.
@Suite struct MemberRightTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private var shared: [String] {
        ["dir:\(place.path("shared"))", "--remote-passphrase-file", place.secret("c")]
    }

    /// Founds members in one store, and makes another one a reader's.
    private func makeReader() throws {
        try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own("a"))
        let invited = try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", "ben", "--role", "reader"] + own("a"))
        let file = try place.folder.writePassphrase(
            invited.output.trimmingCharacters(in: .newlines), to: "invitation")
        try place.succeed(
            ["sync", place.path("a.db"), "--create", "--snapshot", "--cost", "14", "--remote"] + shared
                + own("a"))
        let joined = try place.succeed(
            ["init", place.path("b.db"), "--membership-file", file, "--join"] + shared + own("b"))
        #expect(!joined.errors.contains("nothing is sent"), "\(joined.errors)")
    }

    @Test func whoIsNoAdminIsToldThatAndNotToMakeAdmins() throws {
        try makeReader()
        let store = place.path("b.db")
        for words in [
            ["remove", store, "anna"], ["role", store, "anna", "reader"], ["role", store, "ben", "admin"],
            ["invite", store, "--label", "carl"], ["remove", store, "anna", "--last-admin"],
        ] {
            let refused = try place.run(["member"] + words + own("b"))
            #expect(refused.status == 14, "\(refused.errors)")
            #expect(
                refused.errors.contains("only an admin may do that, and this store's role is reader"),
                "\(refused.errors)")
            #expect(!refused.errors.contains("--last-admin"), "\(refused.errors)")
        }
    }

    @Test func whoWasRemovedIsToldThatAndNotToGoOnWithoutAnAdmin() throws {
        try makeReader()
        let store = place.path("b.db")
        // The admin hears of the store before.
        try place.succeed(["sync", place.path("a.db"), "--remote"] + shared + own("a"))
        try place.succeed(["member", "remove", place.path("a.db"), "ben"] + own("a"))
        try place.succeed(["sync", place.path("a.db"), "--remote"] + shared + own("a"))
        _ = try place.run(["sync", store, "--remote"] + shared + own("b"))
        for words in [
            ["remove", store, "anna"], ["remove", store, "anna", "--last-admin"],
            ["role", store, "anna", "reader"], ["invite", store, "--label", "carl"],
        ] {
            let refused = try place.run(["member"] + words + own("b"))
            #expect(refused.status == 14, "\(refused.errors)")
            #expect(refused.errors.contains("this store's member, ben, was removed"), "\(refused.errors)")
            #expect(refused.errors.contains("syncctl member recover"), "\(refused.errors)")
            #expect(!refused.errors.contains("--last-admin"), "\(refused.errors)")
        }
    }

    @Test func aStoreThatIsNoDeviceOfAMemberIsTold() throws {
        try place.makeReplica("c.db", "c", of: "a.db", "a")
        try makeReader()
        _ = try place.run(["sync", place.path("c.db"), "--remote"] + shared + own("c"))
        let result = try place.run(["member", "invite", place.path("c.db")] + own("c"))
        #expect(result.status == 14, "\(result.errors)")
    }

    @Test func aRoleThatSomebodyHasIsSaid() throws {
        try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own("a"))
        try place.succeed(["member", "invite", place.path("a.db"), "--label", "ben"] + own("a"))
        let result = try place.run(["member", "role", place.path("a.db"), "ben", "writer"] + own("a"))
        #expect(result.status == 1 && result.errors.contains("ben is writer already"), "\(result.errors)")
    }
}
