import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncctlCommands

/// A bucket on loopback, and the stores of people who share nothing else.
final class BucketPlace {
    let place: Workplace
    let server: S3Server
    let remote = "s3://test/notes"

    init() throws {
        place = try Workplace()
        server = try S3Server()
        try place.makeStore("a.db", "a", rows: 0..<20)
    }

    /// The variables of a run: the right to use the bucket, and a cache of its own.
    func variables(_ more: [String: String] = [:]) -> [String: String] {
        server.environment.merging(["XDG_CACHE_HOME": place.path("cache"), "HOME": place.path("home")]) { $1 }
            .merging(more) { $1 }
    }

    func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> CommandResult {
        let result = try place.run(arguments, environment: variables(more))
        for text in [result.output, result.errors] {
            #expect(!text.contains(server.secretKey) && !text.contains(server.session.token))
        }
        return result
    }

    /// What tells a store, the bucket and their passphrases.
    func words(_ command: String, _ store: String, _ more: [String] = []) -> [String] {
        [command, place.path(store), "--remote", remote, "--s3-endpoint", server.endpoint]
            + ["--passphrase-file", place.secret("a"), "--remote-passphrase-file", place.secret("c")] + more
    }

    @discardableResult
    func succeed(
        _ arguments: [String], _ more: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let result = try run(arguments, more)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return result
    }

    func names(_ store: String) throws -> [String] {
        let queue = try place.open(store, "a")
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT name FROM person ORDER BY name") }
    }

    func insert(_ rows: Range<Int>, into store: String) throws {
        let queue = try place.open(store, "a")
        try StoreProbe.insert(rows, into: queue)
        try queue.close()
    }
}

@Suite(.enabled(if: S3Server.isInstalled, "the S3 server is not installed: run Scripts/setup --tests"))
struct BucketCommandTests {
    @Test func twoStoresAndANewOneMeetInABucket() throws {
        let bucket = try BucketPlace()
        try bucket.place.makeReplica("b.db", "a", of: "a.db", "a")
        try bucket.insert(20..<25, into: "b.db")
        let first = try bucket.succeed(bucket.words("sync", "a.db", ["--snapshot", "--json"])).document()
        #expect(first["pushed"] as? Int == 20 && first["remote"] as? String == bucket.remote)
        // One of them lists the bucket again before the snapshot gets into the head.
        #expect(first["requests"] as? Int == 7)
        let second = try bucket.succeed(bucket.words("sync", "b.db", ["--json"])).document()
        #expect(second["pushed"] as? Int == 5)
        // From now on the store knows how the bucket is reached.
        let passphrases = ["--passphrase-file", bucket.place.secret("a")]
        let remote = ["--remote-passphrase-file", bucket.place.secret("c")]
        let pulled = try bucket.succeed(["pull", bucket.place.path("a.db"), "--json"] + passphrases + remote)
        #expect(try pulled.document()["pulled"] as? Int == 5)
        let named = ["sync", bucket.place.path("a.db"), "--remote", bucket.remote, "--json"]
        let idle = try bucket.succeed(named + passphrases + remote).document()
        #expect(idle["pulled"] as? Int == 0 && idle["requests"] as? Int == 1)
        try bucket.succeed(
            [
                "init", bucket.place.path("c.db"), "--join", bucket.remote, "--s3-endpoint",
                bucket.server.endpoint,
            ]
                + passphrases + remote)
        #expect(try bucket.names("c.db").count == 25 && bucket.names("c.db") == bucket.names("a.db"))
        // How it is reached is remembered by who began there, too.
        let known = ["remote", "list", bucket.place.path("c.db"), "--json"]
        let joined = try bucket.succeed(known + passphrases)
        #expect(joined.output.contains("\"bucket\"") && joined.output.contains("s3:"), "\(joined.output)")
        let list = try bucket.succeed(["remote", "list", bucket.place.path("a.db"), "--json"] + passphrases)
        #expect(list.output.contains("\"bucket\"") && list.output.contains("s3:"))
        #expect(!list.output.contains(bucket.server.keyID))
    }

    @Test func aPreviewAsksAndChangesNothing() throws {
        let bucket = try BucketPlace()
        let result = try bucket.succeed(bucket.words("sync", "a.db", ["--dry-run"]))
        #expect(result.output.contains("20"))
        #expect(try bucket.server.requests().allSatisfy { $0.method == "GET" })
    }

    @Test func credentialsComeFromVariablesAProfileOrACommand() throws {
        let bucket = try BucketPlace()
        let none = ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]
        let missing = try bucket.run(bucket.words("sync", "a.db"), none)
        #expect(missing.status == 64 && missing.errors.contains("there are no credentials for the bucket"))
        #expect(missing.errors.contains("AWS_ACCESS_KEY_ID") && missing.errors.contains("--s3-profile"))
        let session = bucket.server.session
        try bucket.succeed(
            bucket.words("sync", "a.db"),
            [
                "AWS_ACCESS_KEY_ID": session.keyID, "AWS_SECRET_ACCESS_KEY": session.secretKey,
                "AWS_SESSION_TOKEN": session.token,
            ])
        let folder = bucket.place.path("home/.aws")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(
            """
            [work]
            aws_access_key_id = \(bucket.server.keyID)
            aws_secret_access_key = \(bucket.server.secretKey)
            """.utf8
        ).write(to: URL(fileURLWithPath: folder + "/credentials"))
        let document = """
            {"Version":1,"AccessKeyId":"\(bucket.server.keyID)","SecretAccessKey":"\(bucket.server.secretKey)"}
            """
        try bucket.place.folder.write(document, to: "document")
        try Data("[profile tool]\ncredential_process = cat \(bucket.place.path("document"))\n".utf8)
            .write(to: URL(fileURLWithPath: folder + "/config"))
        for profile in ["work", "tool"] {
            try bucket.succeed(bucket.words("sync", "a.db", ["--s3-profile", profile]), none)
        }
        let other = try bucket.run(bucket.words("sync", "a.db", ["--s3-profile", "play"]), none)
        #expect(other.status == 64 && other.errors.contains("there is no profile play"))
    }

    @Test func whatIsWrongWithABucketIsSaidWithWhatToDo() throws {
        let bucket = try BucketPlace()
        func failure(_ more: [String] = [], remote: String? = nil, _ variables: [String: String] = [:]) throws
            -> (status: Int32, text: String)
        {
            var words = bucket.words("sync", "a.db", more)
            if let remote { words[3] = remote }
            let result = try bucket.run(words, variables)
            return (result.status, result.errors)
        }
        let missing = try failure(remote: "s3://nowhere/notes")
        #expect(missing.status == 14 && missing.text.contains("bucket nowhere: there is no such bucket"))
        let region = try failure(["--s3-region", "eu-north-1"])
        #expect(
            region.status == 14 && region.text.contains("is in the region us-east-1, and not in eu-north-1"))
        #expect(region.text.contains("--s3-region us-east-1"))
        try bucket.server.fail(.init("denied"))
        let denied = try failure()
        #expect(denied.status == 14 && denied.text.contains("bucket test: access is denied"))
        try bucket.server.fail(.init("skew"))
        let skewed = try failure()
        #expect(
            skewed.status == 14 && skewed.text.contains("60 min behind")
                && skewed.text.contains("set the clock"))
        let wrong = try failure([], ["AWS_SECRET_ACCESS_KEY": "kestrel"])
        #expect(
            wrong.status == 14 && wrong.text.contains("SignatureDoesNotMatch")
                && !wrong.text.contains("kestrel"))
        #expect(try failure(["--s3-endpoint", "nonsense"]).status == 64)
        let passphrase = try bucket.run(bucket.words("sync", "a.db").dropLast(2) + [])
        #expect(passphrase.status == 64 && passphrase.errors.contains("no passphrase for the bucket"))
    }

    @Test func aBucketOutOfReachIsTriedAgainLater() throws {
        let bucket = try BucketPlace()
        var words = bucket.words("sync", "a.db")
        words[5] = "http://127.0.0.1:1"
        let result = try bucket.run(words)
        #expect(result.status == 13 && result.errors.contains("try again later"))
    }

    @Test func anotherPassphraseAndAnotherDatabaseAreRefused() throws {
        let bucket = try BucketPlace()
        try bucket.succeed(bucket.words("sync", "a.db"))
        var words = bucket.words("sync", "a.db")
        words[words.count - 1] = bucket.place.secret("wrong")
        let wrong = try bucket.run(words)
        #expect(wrong.status == 12 && wrong.errors.contains("does not open the files of the bucket"))
        try bucket.place.makeStore("other.db", "a", rows: 0..<1)
        let other = try bucket.run(bucket.words("sync", "other.db"))
        #expect(other.status == 14 && other.errors.contains("a prefix of its own"))
        #expect(other.errors.contains("--join"))
    }

    @Test func whatDoesNotGoWithABucketIsRefused() throws {
        let place = try Workplace()
        let store = place.path("a.db")
        for (words, text) in [
            (["sync", store, "--remote", "s3://"], "names no bucket"),
            (["sync", store, "--remote", "b.db", "--s3-endpoint", "https://x.example"], "go with a bucket"),
            (["sync", store, "--all", "--s3-profile", "x"], "--all excludes --s3-endpoint"),
            (["sync", store, "--remote", "s3://a/b", "--tables", "note"], "a bucket holds all tables"),
            (["sync", store, "--remote", "s3://a/b", "--create"], "--create goes with a folder"),
            (["sync", store, "--remote", "s3://a/b", "--compression", "always"], "--compression goes with"),
            (["init", store, "--join", "s3://"], "names no bucket"),
            (["init", store, "--s3-region", "x"], "go with a bucket"),
            (["verify", store, "--remote", "s3://a/b"], "a bucket holds changes"),
            (["schema", store, "--remote", "s3://a/b"], "a bucket does not tell"),
        ] {
            let result = try place.run(words)
            #expect(result.status == 64 && result.errors.contains(text), "\(words): \(result.errors)")
        }
    }

    /// Killed at each of its requests in turn, before the bucket did what was asked and after it.
    @Test(arguments: ["hang-before", "hang"]) func aRunThatIsKilledLosesNothing(fault: String) throws {
        let bucket = try BucketPlace()
        try bucket.place.makeReplica("b.db", "a", of: "a.db", "a")
        try bucket.succeed(bucket.words("sync", "b.db"))
        for number in 0..<4 {
            try bucket.insert((100 + number)..<(101 + number), into: "a.db")
            try bucket.server.reset()
            try bucket.server.fail(.init(fault, skip: number))
            let folder = try TemporaryFolder()
            try folder.write("", to: "input")
            let environment = CommandRunner.inherited.merging(bucket.variables()) { $1 }
            let process = try CommandRunner.spawn(
                try #require(CommandRunner.program), bucket.words("sync", "a.db"), environment, folder)
            var status: Int32 = 0
            while waitpid(process, &status, WNOHANG) == 0 {
                if try bucket.server.requests().contains(where: { $0.fault == fault }) {
                    kill(process, SIGKILL)
                }
                usleep(10_000)
            }
            try bucket.server.release()
            try bucket.server.fail()
            try bucket.succeed(bucket.words("sync", "b.db"))
        }
        try bucket.succeed(bucket.words("sync", "a.db"))
        try bucket.succeed(bucket.words("sync", "b.db"))
        #expect(try bucket.names("a.db").count == 24 && bucket.names("a.db") == bucket.names("b.db"))
        // What the killed ones left is cleared away, too.
        let idle = try bucket.succeed(bucket.words("sync", "a.db", ["--json"])).document()
        #expect(idle["requests"] as? Int == 1)
    }

    /// The clock of a machine that starts may be set only after its services run.
    @Test func aWatchSendsWhatIsWrittenThoughTheClockWasWrongAtFirst() throws {
        let bucket = try BucketPlace()
        try bucket.server.fail(.init("skew"))
        let folder = try TemporaryFolder()
        try folder.write("", to: "input")
        let process = try CommandRunner.spawn(
            "/usr/bin/timeout",
            ["-k", "5", "300", try #require(CommandRunner.program)] + bucket.words("watch", "a.db"),
            CommandRunner.inherited.merging(bucket.variables()) { $1 }, folder)
        func waitFor(_ what: String, _ isDone: () throws -> Bool) throws {
            for _ in 0..<6000 {
                if try isDone() { return }
                usleep(10_000)
            }
            Issue.record("\(what) did not come: \(try folder.text("output")) \(try folder.text("errors"))")
        }
        func putCount() throws -> Int { try bucket.server.requests().filter { $0.method == "PUT" }.count }
        try waitFor("the first exchange") { try putCount() >= 2 }
        let before = try putCount()
        try bucket.insert(50..<51, into: "a.db")
        try waitFor("the edit") { try putCount() >= before + 2 }
        kill(process, SIGTERM)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let errors = try folder.text("errors")
        #expect(status == 0, "\(errors)")
        let output = try folder.text("output")
        #expect(output.contains("60 min behind") && output.contains("watching \(bucket.remote)"))
    }
}

@Suite(.anyEngine) struct BucketArgumentTests {
    @Test func itIsReadAndRememberedWithItsOptions() throws {
        #expect(RemoteArgument("s3://b/p/q/").location == "s3://b/p/q")
        #expect(RemoteArgument("s3://b").location == "s3://b")
        var bucket = try #require(BucketArgument("s3://b/p"))
        bucket.endpoint = "https://s3.example.com:9000/a?b&c"
        (bucket.region, bucket.profile, bucket.isPathStyle) = ("eu-1", "my work", true)
        #expect(
            bucket.location
                == "s3://b/p?endpoint=https://s3.example.com:9000/a%3Fb%26c&region=eu-1&profile=my%20work&path-style"
        )
        #expect(BucketArgument(bucket.location) == bucket && bucket.name == "s3://b/p")
        #expect(BucketArgument("s3://b/p?later=1")?.name == "s3://b/p")
        #expect(BucketArgument("s3:/b") == nil && BucketArgument("dir:s3://b") == nil)
        #expect(SharedPlace(RemoteArgument("s3://")) == nil && RemoteArgument("s3://").isPlace)
    }
}
