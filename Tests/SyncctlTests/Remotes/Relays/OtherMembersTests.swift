#if os(Linux)
    import CipherStore
    import Foundation
    import TestSupport
    import Testing

    /// A link of members of the same database, who were founded apart from those that a store knows.
    @Suite(.serialized) struct OtherMembersTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<3)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
        }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        /// Shares a store through a channel of its own, which gives its database members, and returns the file of the link.
        private func share(_ store: String, _ name: String, _ relay: RelayProcess) throws -> String {
            let result = try place.succeed(
                ["share", place.path(store), "--relay", relay.url, "--fingerprint", relay.fingerprint]
                    + own(name))
            return try place.folder.writePassphrase(
                result.output.trimmingCharacters(in: .newlines), to: "link-\(UUID().uuidString)")
        }

        private func insert(_ rows: Range<Int>, _ store: String, _ passphrase: String) throws {
            let queue = try place.open(store, passphrase)
            try StoreProbe.insert(rows, into: queue)
            try queue.close()
        }

        @Test func aLinkOfOtherMembersIsGivenBackUnlessTheStoreIsToldToGoOver() throws {
            let relay = try RelayProcess(place)
            let link = try share("a.db", "a", relay)
            _ = try share("b.db", "b", relay)
            let add =
                ["remote", "add", place.path("b.db"), "--invitation-file", link, "--name", "other"] + own("b")
            let refused = try place.run(add)
            #expect(refused.status == 14 && refused.errors.contains("founded apart"), "\(refused.errors)")
            #expect(refused.errors.contains("- --name other --replace-members"), "\(refused.errors)")
            let list = try place.succeed(["remote", "list", place.path("b.db"), "--json"] + own("b"))
            #expect((try list.document()["relays"] as? [Any])?.count == 1)
            // What is replaced may be damaged.
            let queue = try place.open("b.db", "b")
            try queue.write { try $0.execute(sql: "UPDATE _sync_epoch_key SET key = x'00'") }
            try queue.close()
            // The link was given back.
            try place.succeed(add + ["--replace-members"])
            try insert(100..<102, "b.db", "b")
            try place.succeed(["sync", place.path("b.db"), "--remote", "other"] + own("b"))
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
            #expect(relay.stop() == 0)
        }

        @Test func anInvitationOfOtherMembersIsRefusedWithWhatHelps() throws {
            for (store, name) in [("a.db", "a"), ("b.db", "b")] {
                try place.succeed(["member", "found", place.path(store), "--as", name] + own(name))
            }
            let invited = try place.succeed(["member", "invite", place.path("a.db")] + own("a"))
            let file = try place.folder.writePassphrase(
                invited.output.trimmingCharacters(in: .newlines), to: "invitation")
            let shared = [
                "--remote", "dir:\(place.path("shared"))", "--remote-passphrase-file", place.secret("c"),
            ]
            try place.succeed(
                ["sync", place.path("a.db"), "--create", "--cost", "14"] + shared + own("a"))
            let accept =
                ["member", "accept", place.path("b.db"), "--membership-file", file] + shared + own("b")
            let refused = try place.run(accept)
            #expect(refused.status == 14 && refused.errors.contains("--replace"), "\(refused.errors)")
            // It is told by a synchronization, too.
            let met = try place.run(["sync", place.path("b.db")] + shared + own("b"))
            #expect(met.status == 3 && met.errors.contains("founded twice"), "\(met.errors)")
            try place.succeed(accept + ["--replace"])
            try insert(100..<102, "b.db", "b")
            try place.succeed(["sync", place.path("b.db")] + shared + own("b"))
            #expect(try place.run(["sync", place.path("a.db")] + shared + own("a")).status != 64)
            #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
        }
    }
#endif
