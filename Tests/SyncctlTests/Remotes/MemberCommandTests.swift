import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine
@testable import SyncctlCommands

/// Members of a database that meets in a folder, with the commands.
@Suite struct MemberCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private var remote: [String] {
        ["--remote", "dir:\(place.path("shared"))", "--remote-passphrase-file", place.secret("c")]
    }

    @discardableResult
    private func sync(_ store: String, _ name: String, _ more: [String] = []) throws -> CommandResult {
        try place.run(["sync", place.path(store), "--create"] + remote + more + own(name))
    }

    private func found() throws -> String {
        let result = try place.succeed(
            ["member", "found", place.path("a.db"), "--as", "anna", "--json"] + own("a"))
        return try #require(result.document()["recovery_key"] as? String)
    }

    /// Makes a store of a new member, and returns the invitation.
    @discardableResult
    private func join(_ store: String, _ name: String, _ role: String = "writer") throws -> String {
        let result = try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", name, "--role", role] + own("a"))
        let text = result.output.trimmingCharacters(in: .newlines)
        let file = try place.folder.writePassphrase(text, to: "invitation-\(UUID().uuidString)")
        try sync("a.db", "a", ["--snapshot"])
        try place.succeed(
            [
                "init", place.path(store), "--join", "dir:\(place.path("shared"))",
                "--remote-passphrase-file", place.secret("c"), "--membership-file", file,
            ] + own("b"))
        return text
    }

    private func members(_ store: String = "a.db", _ name: String = "a") throws -> [[String: Any]] {
        let result = try place.succeed(["member", "list", place.path(store), "--json"] + own(name))
        return try #require(result.document()["members"] as? [[String: Any]])
    }

    private func insert(_ rows: Range<Int>, _ store: String, _ passphrase: String) throws {
        let queue = try place.open(store, passphrase)
        try StoreProbe.insert(rows, into: queue)
        try queue.close()
    }

    @Test func aDatabaseWithoutMembersIsSaid() throws {
        let result = try place.succeed(["member", "list", place.path("a.db")] + own("a"))
        #expect(result.output.contains("no members") && result.errors.contains("syncctl member found"))
        let role = try place.run(["member", "role", place.path("a.db"), "ben", "reader"] + own("a"))
        #expect(role.status == 14 && role.errors.contains("no members"), "\(role.errors)")
        let invite = try place.run(["member", "invite", place.path("a.db")] + own("a"))
        #expect(invite.status == 14 && invite.errors.contains("syncctl member found"), "\(invite.errors)")
    }

    @Test func membersMeetInAFolderAndARemovedOneIsTold() throws {
        _ = try found()
        try join("b.db", "ben")
        #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
        try insert(100..<103, "b.db", "b")
        #expect(try sync("b.db", "b").status == 0)
        #expect(try sync("a.db", "a").status == 0)
        #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
        let listed = try members()
        #expect(listed.map { $0["name"] as? String } == ["anna", "ben"])
        #expect(listed.map { $0["state"] as? String } == ["active", "active"])
        #expect(listed.map { $0["local"] as? Bool } == [true, false])
        let removed = try place.succeed(["member", "remove", place.path("a.db"), "ben"] + own("a"))
        #expect(removed.output.contains("removed ben") && removed.errors.contains("syncctl sync"))
        try insert(200..<202, "b.db", "b")
        let first = try sync("a.db", "a")
        #expect(first.status == 0 && first.errors.contains("ben was removed"), "\(first.errors)")
        let told = try sync("b.db", "b")
        #expect(told.status == 3 && told.errors.contains("2 changes are not sent"), "\(told.errors)")
        #expect(told.errors.contains("was removed"))
        let refusing = try place.run(["sync", place.path("a.db"), "--json"] + remote + own("a"))
        let refused = try #require(refusing.document()["refused"] as? [[String: Any]])
        #expect(
            refused.first?["reason"] as? String == "removed" && refused.first?["member"] as? String == "ben")
        let words = try place.run(["sync", place.path("a.db")] + remote + own("a"))
        // It is said once.
        #expect(words.status == 0 && !words.errors.contains("was removed"), "\(words.errors)")
        #expect(try place.rows("a.db", "a").count == 23)
        #expect(try members().last?["state"] as? String == "removed")
        #expect(try place.run(["member", "remove", place.path("a.db"), "ben"] + own("a")).status == 1)
        let status = try place.run(["status", place.path("b.db")] + own("b"))
        #expect(status.output.contains("was removed") || status.errors.contains("was removed"))
    }

    @Test func aReaderIsToldAndAnInvitationThatNobodyUsedIsWithdrawn() throws {
        _ = try found()
        try join("b.db", "ben", "reader")
        try sync("a.db", "a")
        try insert(100..<103, "b.db", "b")
        let result = try sync("b.db", "b")
        #expect(result.status == 3)
        #expect(result.errors.contains("3 changes are not sent: your role is reader"), "\(result.errors)")
        let refused = try place.run(["member", "invite", place.path("b.db")] + own("b"))
        #expect(refused.status == 14, "\(refused.errors)")
        try place.succeed(["member", "invite", place.path("a.db"), "--label", "carl"] + own("a"))
        #expect(try members().map { $0["state"] as? String } == ["active", "active", "invited"])
        try place.succeed(["member", "remove", place.path("a.db"), "carl"] + own("a"))
        try place.succeed(["member", "role", place.path("a.db"), "ben", "writer"] + own("a"))
        #expect(try members().map { $0["role"] as? String } == ["admin", "writer", nil])
        try sync("a.db", "a")
        #expect(try sync("b.db", "b").status == 0)
        #expect(try sync("a.db", "a").status == 0)
        #expect(try place.rows("a.db", "a").count == 23)
    }

    @Test func aNameHasOneInvitationThatCanBeUsed() throws {
        _ = try found()
        let invite = ["member", "invite", place.path("a.db"), "--label", "ben o"] + own("a")
        try place.succeed(invite)
        let second = try place.run(invite)
        #expect(second.status == 14 && second.output.isEmpty, "\(second.errors)")
        #expect(second.errors.contains("syncctl member remove") && second.errors.contains("'ben o'"))
        #expect(try members().count == 2)
        try place.succeed(["member", "remove", place.path("a.db"), "ben o"] + own("a"))
        try place.succeed(invite)
        // Without a name that was asked for, one is found that is free.
        for name in ["guest", "guest 2"] {
            let result = try place.succeed(["member", "invite", place.path("a.db"), "--json"] + own("a"))
            #expect(try result.document()["name"] as? String == name)
        }
    }

    @Test func whoHasUsedAnInvitationInTimeStaysThoughTheAdminDoesNotKnowItWhenInvitingOthers() throws {
        _ = try found()
        let text = try join("b.db", "ben")
        try sync("b.db", "b")
        // The invitation is long over, and this store has not synchronized since it was used.
        let invitation = try MemberInvitationText.invitation(of: text, "the test")
        let queue = try place.open("a.db", "a")
        try Synchronizer(existing: queue).membership.note(endOf: invitation, 1)
        try queue.close()
        for name in ["carl", "ben"] {
            let invited = try place.succeed(
                ["member", "invite", place.path("a.db"), "--label", name] + own("a"))
            #expect(invited.errors.contains("syncctl member remove"), "\(invited.errors)")
        }
        try sync("a.db", "a")
        let named = try members().filter { $0["name"] as? String == "ben" }
        let states = named.compactMap { $0["state"] as? String }
        #expect(states.sorted() == ["active", "invited"])
        #expect(try sync("b.db", "b").status == 0)
    }

    @Test func aReplicaFromBeforeAcceptsAnInvitation() throws {
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        try sync("a.db", "a")
        try sync("b.db", "b")
        _ = try found()
        let result = try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", "ben", "--json"] + own("a"))
        let text = try #require(result.document()["invitation"] as? String)
        try sync("a.db", "a")
        let stranger = try sync("b.db", "b")
        #expect(stranger.errors.contains("ask an admin for an invitation"), "\(stranger.errors)")
        let file = try place.folder.writePassphrase(text, to: "invitation")
        let accept =
            ["member", "accept", place.path("b.db"), "--membership-file", file] + remote + own("b")
        let accepted = try place.succeed(accept)
        #expect(accepted.output.contains("writer"))
        #expect(try place.run(accept).status == 14)
        try insert(100..<103, "b.db", "b")
        #expect(try sync("b.db", "b").status == 0)
        try sync("a.db", "a")
        #expect(try place.rows("a.db", "a").count == 23)
    }

    @Test func theRecoveryKeyIsShownOnceAndMakesAnAdmin() throws {
        let key = try found()
        #expect(key.split(separator: "-").count == 14)
        #expect(try place.run(["member", "found", place.path("a.db")] + own("a")).status == 14)
        try place.succeed(["member", "remove", place.path("a.db"), "anna", "--last-admin"] + own("a"))
        let file = try place.folder.writePassphrase(key, to: "recovery")
        let wrong = try place.folder.writePassphrase(String(key.reversed()), to: "wrong")
        let words = [
            "member", "recover", place.path("a.db"), "--as", "anna again", "--offline", "--recovery-key-file",
        ]
        let refused = try place.run(words + [wrong] + own("a"))
        #expect(refused.status == 1 && !refused.errors.contains(key), "\(refused.errors)")
        let recovered = try place.succeed(words + [file, "--new-key", "--json"] + own("a"))
        let next = try #require(recovered.document()["recovery_key"] as? String)
        #expect(next != key)
        #expect(try members().map { $0["role"] as? String } == [nil, "admin"])
        // The former one does not count any more.
        let former = try place.run(words + [file] + own("a"))
        #expect(former.status == 14 && former.errors.contains("does not count, or not any more"))
    }

    #if os(Linux)
        /// A key that nobody has seen would be lost for good.
        @Test func noRecoveryKeyCountsThatCouldNotBePrinted() throws {
            let words = ["member", "found", place.path("a.db"), "--as", "anna"] + own("a")
            let full = try CommandRunner.runHere(words, output: "/dev/full")
            #expect(full.status == 1 && full.errors.contains("standard output"), "\(full.errors)")
            #expect(try members().isEmpty)
            let key = try place.folder.writePassphrase(found(), to: "recovery")
            let recover =
                [
                    "member", "recover", place.path("a.db"), "--offline", "--recovery-key-file", key,
                    "--new-key",
                ]
                + own("a")
            #expect(try CommandRunner.runHere(recover, output: "/dev/full").status == 1)
            #expect(try members().count == 1)
            // The former one counts still.
            try place.succeed(recover)
            #expect(try members().count == 2)
        }
    #endif

    @Test func theLastAdminIsRemovedAndLoweredOnlyWhenToldSo() throws {
        _ = try found()
        // One who was invited and never came lets nobody in.
        try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", "ben", "--role", "admin"] + own("a"))
        for words in [
            ["remove", place.path("a.db"), "anna"], ["role", place.path("a.db"), "anna", "writer"],
        ] {
            let refused = try place.run(["member"] + words + own("a"))
            #expect(refused.status == 14 && refused.errors.contains("--last-admin"), "\(refused.errors)")
        }
        #expect(try members().map { $0["role"] as? String } == ["admin", "admin"])
        try place.succeed(["member", "remove", place.path("a.db"), "ben"] + own("a"))
        try join("c.db", "carl", "admin")
        try sync("c.db", "b")
        try sync("a.db", "a")
        try place.succeed(["member", "role", place.path("a.db"), "anna", "writer"] + own("a"))
        #expect(try members().map { $0["role"] as? String } == ["writer", nil, "admin"])
    }

    @Test func membersAreFoundedAnewWhenToldSo() throws {
        let key = try found()
        try join("b.db", "ben")
        try sync("b.db", "b")
        try sync("a.db", "a")
        let again = ["member", "found", place.path("a.db"), "--as", "anna", "--json"] + own("a")
        #expect(try place.run(again).status == 14)
        let document = try place.succeed(again + ["--replace"]).document()
        #expect(document["recovery_key"] as? String != key)
        #expect(try members().map { $0["name"] as? String } == ["anna"])
        let result = try place.succeed(
            ["member", "invite", place.path("a.db"), "--label", "ben"] + own("a"))
        let file = try place.folder.writePassphrase(
            result.output.trimmingCharacters(in: .newlines), to: "invitation")
        try sync("a.db", "a")
        let accept =
            ["member", "accept", place.path("b.db"), "--membership-file", file] + remote + own("b")
        #expect(try place.run(accept).status == 14)
        try place.succeed(accept + ["--replace"])
        try insert(100..<103, "b.db", "b")
        #expect(try sync("b.db", "b").status == 0)
        try sync("a.db", "a")
        #expect(try place.rows("a.db", "a").count == 23)
    }

    @Test func aKeyIsShownOnlyWhereOneCanCount() throws {
        _ = try found()
        let again = try place.run(["member", "found", place.path("a.db")] + own("a"))
        #expect(again.status == 14 && again.output.isEmpty, "\(again.output)")
        let key = try place.folder.writePassphrase(MembershipRecoveryKey().text, to: "other")
        let words = [
            "member", "recover", place.path("a.db"), "--offline", "--recovery-key-file", key, "--new-key",
        ]
        let refused = try place.run(words + own("a"))
        #expect(refused.status == 14 && refused.output.isEmpty, "\(refused.output)")
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        _ = try found()
        let nonsense = try place.folder.writePassphrase("cipherstore-member:12", to: "nonsense")
        for (words, status) in [
            (["member", "role", place.path("a.db"), "anna", "owner"], 64),
            (["member", "remove", place.path("a.db"), ""], 64),
            (["member", "remove", place.path("a.db"), "nobody"], 1),
            (["member", "invite", place.path("a.db"), "--label", ""], 1),
            (["member", "accept", place.path("a.db"), "--membership-file", nonsense] + remote, 64),
            (["member", "list", place.path("none.db")], 10),
        ] as [([String], Int32)] {
            let result = try place.run(words + own("a"))
            #expect(result.status == status, "\(words): \(result.status) \(result.errors)")
        }
        let joined = try place.run(
            ["init", place.path("c.db"), "--membership-file", nonsense] + own("c"))
        #expect(joined.status == 64 && joined.errors.contains("--join"))
    }
}
