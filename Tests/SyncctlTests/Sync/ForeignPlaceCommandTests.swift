#if os(Linux)
    import Foundation
    import SyncEngine
    import TestSupport
    import Testing

    /// A member's store that is sent where another database lives: nobody there is to be disturbed by it.
    @Suite(.serialized) struct ForeignPlaceCommandTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try Self.fill(place)
        }

        /// Makes the store of the place, a replica of it, and the store of a member of another database.
        private static func fill(_ place: Workplace, makesOwn: Bool = true) throws {
            if makesOwn { try place.makeStore("a.db", "a", rows: 0..<3) }
            try place.makeReplica("c.db", "a", of: "a.db", "a")
            // The keys that tests remember are those of two groups of databases, which these are not to share.
            repeat {
                try? FileManager.default.removeItem(atPath: place.path("member.db"))
                try place.makeStore("member.db", "a", rows: 5..<6)
            } while try group(of: "member.db", place) == group(of: "a.db", place)
            try place.succeed(
                ["member", "found", place.path("member.db"), "--as", "olga"]
                    + ["--passphrase-file", place.secret("a")])
        }

        private static func group(of store: String, _ place: Workplace) throws -> UInt8? {
            let queue = try place.open(store, "a")
            defer { try? queue.close() }
            return try Synchronizer(existing: queue).status().store.bytes.last.map { $0 % 2 }
        }

        private var own: [String] { ["--passphrase-file", place.secret("a")] }

        private func sync(_ store: String) throws -> CommandResult {
            try place.run(
                ["sync", place.path(store), "--create", "--remote", "dir:\(place.path("shared"))"]
                    + ["--remote-passphrase-file", place.secret("c")] + own)
        }

        private func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: place.path("shared")).sorted()
        }

        private func expectRefusal(_ result: CommandResult) {
            #expect(result.status == 14 && result.errors.contains("another database"), "\(result.errors)")
        }

        @Test(arguments: [false, true]) func aFolderOfAnotherDatabaseIsRefused(hasMembers: Bool) throws {
            if hasMembers {
                try place.succeed(["member", "found", place.path("a.db"), "--as", "anna"] + own)
            }
            #expect(try sync("a.db").status == 0)
            let before = try files()
            for _ in 0..<2 { expectRefusal(try sync("member.db")) }
            #expect(try files() == before)
            let undisturbed = try sync("a.db")
            #expect(undisturbed.status == 0)
            #expect(!undisturbed.errors.contains("another database"), "\(undisturbed.errors)")
            #expect(!undisturbed.errors.contains("not taken in"), "\(undisturbed.errors)")
        }

        @Test(arguments: [false, true]) func aLinkIntoAnotherDatabaseIsRefusedAndStays(hasMembers: Bool)
            throws
        {
            let relay = try RelayProcess(place)
            // A store that folders have carried founds no members when it is shared.
            if !hasMembers { #expect(try sync("a.db").status == 0) }
            let shared = try place.succeed(
                ["share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint]
                    + (hasMembers ? ["--label", "carl"] : []) + own)
            let link = try place.folder.writePassphrase(
                shared.output.trimmingCharacters(in: .newlines), to: "link")
            func add(_ store: String) -> [String] {
                ["remote", "add", place.path(store), "--invitation-file", link] + own
            }
            for _ in 0..<2 { expectRefusal(try place.run(add("member.db"))) }
            let list = try place.succeed(["remote", "list", place.path("member.db"), "--json"] + own)
            #expect(try (list.document()["relays"] as? [Any])?.isEmpty == true)
            // The link was given back, and nothing of the other database is in the channel.
            try place.succeed(add("c.db"))
            for store in ["a.db", "c.db"] {
                let result = try place.succeed(
                    ["sync", place.path(store), "--remote", "relay"] + own)
                #expect(!result.errors.contains("another database"), "\(result.errors)")
                #expect(!result.errors.contains("not taken in"), "\(result.errors)")
            }
            #expect(relay.stop() == 0)
        }

        @Test(
            .enabled(if: S3Server.isInstalled, "the S3 server is not installed: run Scripts/setup --tests"),
            arguments: [false, true])
        func aBucketOfAnotherDatabaseIsRefused(hasMembers: Bool) throws {
            let bucket = try BucketPlace()
            try Self.fill(bucket.place, makesOwn: false)
            if hasMembers {
                try bucket.succeed(
                    ["member", "found", bucket.place.path("a.db"), "--as", "anna"]
                        + ["--passphrase-file", bucket.place.secret("a")])
            }
            try bucket.succeed(bucket.words("sync", "a.db"))
            _ = try bucket.server.reset()
            for _ in 0..<2 { expectRefusal(try bucket.run(bucket.words("sync", "member.db"))) }
            let writes = try bucket.server.requests().filter { $0.method != "GET" && $0.method != "HEAD" }
            #expect(writes.isEmpty, "\(writes)")
            let undisturbed = try bucket.succeed(bucket.words("sync", "a.db"))
            #expect(!undisturbed.errors.contains("another database"), "\(undisturbed.errors)")
        }
    }
#endif
