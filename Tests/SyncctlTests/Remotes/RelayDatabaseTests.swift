#if os(Linux)
    import CipherStore
    import Foundation
    import SyncEngine
    import TestSupport
    import Testing

    /// Relays on a PostgreSQL database.
    @Suite(
        .serialized,
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed: run Scripts/setup --tests"))
    struct RelayDatabaseTests {
        private let place: Workplace
        private let address: String

        init() throws {
            place = try Workplace()
            let server = try PostgresServer.shared()
            address = server.address(of: try server.makeDatabase())
        }

        private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

        private func share(_ relay: RelayProcess) throws -> Any? {
            let words = [
                "share", place.path("a.db"), "--relay", relay.url, "--fingerprint", relay.fingerprint,
                "--json",
            ]
            return try place.succeed(words + own("a")).document()["link"]
        }

        @Test func whatAKilledRelayHasAnsweredIsAtAnotherOne() throws {
            try place.makeStore("a.db", "a")
            let port = LoopbackPort.lasting()
            let first = try RelayProcess(place, port: port, storage: address)
            let link = try #require(try share(first) as? String)
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            first.kill()
            // Another one on the database is the same to clients: it has the certificate, the channel and the invitation.
            let second = try RelayProcess(place, port: port, storage: address)
            #expect(second.fingerprint == first.fingerprint, "\(second.errors)")
            let file = try place.folder.writePassphrase(link, to: "link")
            try place.succeed(["init", place.path("b.db"), "--invitation-file", file] + own("b"))
            let queue = try place.open("b.db", "b")
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == 20)
            try queue.close()
        }

        @Test func twoRelaysServeOneChannelAtOnce() throws {
            try place.makeStore("a.db", "a")
            let one = try RelayProcess(place, storage: address)
            let two = try RelayProcess(place, storage: address)
            let link = try #require(try share(one) as? String)
            // The store that joins knows the other relay.
            let other = link.replacingOccurrences(of: ":\(one.port)/", with: ":\(two.port)/")
            let file = try place.folder.writePassphrase(other, to: "link")
            try place.succeed(["init", place.path("b.db"), "--invitation-file", file] + own("b"))
            let queue = try place.open("a.db", "a")
            try StoreProbe.insert(100..<110, into: queue)
            try queue.close()
            try place.succeed(["sync", place.path("a.db")] + own("a"))
            try place.succeed(["sync", place.path("b.db")] + own("b"))
            let there = try place.open("b.db", "b")
            #expect(try there.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == 30)
            try there.close()
        }

        @Test(arguments: [
            "postgresql://anna:s3cret@db.example/relay", "postgres:///relay?password=s3cret&host=/tmp",
        ])
        func aPasswordAmongTheArgumentsIsRefused(_ storage: String) throws {
            let result = try place.run(["relay", "--storage", storage])
            #expect(result.status == 64 && result.errors.contains("--storage-file"))
            #expect(!result.errors.contains("s3cret"))
        }

        @Test func aConnectionStringInAFileIsTakenWhenNobodyElseReadsIt() throws {
            let file = try place.folder.writePassphrase(address + "&password=s3cret", to: "storage")
            let relay = try RelayProcess(place, storage: nil, ["--storage-file", file])
            #expect(relay.port > 0, "\(relay.errors)")
            #expect(relay.document["storage"] as? String != nil && !"\(relay.document)".contains("s3cret"))
            relay.kill()
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let result = try place.run(["relay", "--storage-file", file])
            #expect(result.status != 0 && result.errors.contains("chmod 600"))
        }

        @Test func oneStorageIsNeeded() throws {
            for words in [[], ["--storage", "a.db", "--storage-file", "b"]] {
                #expect(try place.run(["relay"] + words).status == 64)
            }
        }

        @Test func aDatabaseThatIsNotThereIsSaid() throws {
            let result = try place.run(["relay", "--storage", "postgresql:///relay?host=/tmp/no-such-folder"])
            #expect(result.status != 0 && result.errors.contains("no-such-folder"))
        }
    }
#endif
