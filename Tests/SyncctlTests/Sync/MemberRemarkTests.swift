import Foundation
import SyncMembers
import Testing

@testable import SyncEngine
@testable import SyncctlCommands

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

    @Test func aSecondMemberOfANameIsToldAndARemovedOneIsCalledThat() throws {
        try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own("a"))
        let second = try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", "anna"] + own("a"))
        #expect(second.errors.contains("called anna already"), "\(second.errors)")
        try place.succeed(["member", "invite", place.path("a.db"), "--label", "ben"] + own("a"))
        let remove = ["member", "remove", place.path("a.db"), "ben"] + own("a")
        try place.succeed(remove)
        let again = try place.run(remove)
        #expect(again.status == 1 && again.errors.contains("ben was removed already"), "\(again.errors)")
    }

    @Test func aStoreThatKnowsSeveralRemotesIsToldToTakeAll() throws {
        try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own("a"))
        let invite = ["member", "invite", place.path("a.db")] + own("a")
        #expect(try !place.succeed(invite).errors.contains("--all"))
        let queue = try place.open("a.db", "a")
        for name in ["x", "y"] {
            try Synchronizer(existing: queue).remember(
                remote: .init(name: "dir:\(name)", location: "dir:/\(name)"))
        }
        try queue.close()
        #expect(
            try place.succeed(invite).errors.contains(
                "it counts after: syncctl sync \(place.path("a.db")) --all"))
    }

    @Test func anInvitationWhoseTimeIsOverIsListedAsThat() throws {
        try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own("a"))
        let queue = try place.open("a.db", "a")
        let membership = try Synchronizer(existing: queue).membership
        try membership.note(endOf: membership.invite(MemberName("ben"), as: .writer), 1)
        try queue.close()
        let list = try place.succeed(["member", "list", place.path("a.db")] + own("a"))
        #expect(list.output.contains("invited, expired"), "\(list.output)")
        let document = try place.succeed(["member", "list", place.path("a.db"), "--json"] + own("a"))
            .document()
        let members = try #require(document["members"] as? [[String: Any]])
        #expect(members.first { $0["name"] as? String == "ben" }?["expired"] as? Bool == true)
        #expect(members.first { $0["name"] as? String == "anna" }?["expired"] == nil)
    }

    @Test func whoRecoversIsToldWhatBecameOfTheFormerMember() throws {
        let found = try place.succeed(
            ["member", "found", place.path("a.db"), "--as", "anna", "--json"] + own("a"))
        let text = try #require(found.document()["recovery_key"] as? String)
        let key = try place.folder.writePassphrase(text, to: "recovery")
        try sync("a.db", "a")
        let words = ["member", "recover", place.path("a.db"), "--as", "anna again", "--recovery-key-file"]
        let remote = ["--remote-passphrase-file", place.secret("c")]
        let recovered = try place.succeed(words + [key] + remote + own("a"))
        #expect(recovered.errors.contains("syncctl member remove"))
        #expect(recovered.output.contains("is a device of anna again now"), "\(recovered.output)")
        let renewed = try place.succeed(words + [key, "--new-key"] + remote + own("a"))
        #expect(renewed.errors.contains("a device of anna again now, who is admin"), "\(renewed.errors)")
        let next = try place.folder.writePassphrase(
            renewed.output.trimmingCharacters(in: .newlines), to: "next")
        let document = try place.succeed(words + [next, "--json"] + remote + own("a")).document()
        #expect(document["role"] as? String == "admin" && document["name"] as? String == "anna again")
        let result = try sync("a.db", "a")
        #expect(result.errors.contains("another member") && !result.errors.contains("is a copy"))
    }

    @Test func identifiersAreToldApartByTheirBeginnings() {
        #expect(MemberNames.beginnings(of: ["4a0012", "79bc34"]) == ["4a00", "79bc"])
        #expect(MemberNames.beginnings(of: ["4a0012", "4a0034"]) == ["4a001", "4a003"])
        #expect(MemberNames.beginnings(of: ["4a00", "4a00"]) == ["4a00", "4a00"])
    }
}
