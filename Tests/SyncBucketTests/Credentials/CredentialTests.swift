import Foundation
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import SyncBucket

/// A folder with files of credentials.
private final class CredentialFolder {
    let path = NSTemporaryDirectory() + "credentials-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path + "/.aws", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/" + name)
    }

    func find(_ variables: [String: String] = [:], profile: String? = nil) throws -> BucketCredentials {
        let environment = ["HOME": path, "PATH": "/usr/bin:/bin"].merging(variables) { _, new in new }
        return try CredentialSource.usual(environment: environment, profile: profile).current(now: 0) {}
    }
}

@Suite(.anyEngine) struct CredentialTests {
    private let variables = [
        "AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_SESSION_TOKEN": "TOKEN",
    ]

    @Test func theVariablesGoFirstUnlessAProfileIsNamed() throws {
        let folder = try CredentialFolder()
        try folder.write(
            """
            # of work
            [default]
            aws_access_key_id = FILE
            aws_secret_access_key=a=b/c+d

            [ other one ]
            aws_access_key_id = OTHER
            AWS_SECRET_ACCESS_KEY = x
            aws_session_token = y
            """, to: ".aws/credentials")
        let first = try folder.find(variables)
        #expect(first.keyID == "ID" && first.secretKey == "SECRET" && first.sessionToken == "TOKEN")
        let second = try folder.find()
        #expect(second.keyID == "FILE" && second.secretKey == "a=b/c+d" && second.sessionToken == nil)
        #expect(try folder.find(variables, profile: "default").keyID == "FILE")
        #expect(try folder.find(["AWS_PROFILE": "other one"]).sessionToken == "y")
        #expect(try folder.find(["AWS_PROFILE": ""]).keyID == "FILE")
    }

    @Test func bothFilesMakeAProfile() throws {
        let folder = try CredentialFolder()
        try folder.write("[work]\naws_access_key_id=ID\naws_secret_access_key=S\n", to: ".aws/credentials")
        try folder.write(
            "[profile work]\nregion = eu-west-1\nendpoint_url=https://s3.example.com\ns3 =\n    region = no\n[work]\nregion=no\n",
            to: ".aws/config")
        let profile = try ProfileFiles(environment: ["HOME": folder.path], profile: "work")
        #expect(profile.region == "eu-west-1" && profile.endpoint == "https://s3.example.com")
        #expect(try profile.credentials()?.keyID == "ID")
        let moved = ["AWS_SHARED_CREDENTIALS_FILE": folder.path + "/.aws/none", "AWS_CONFIG_FILE": "/none"]
        #expect(throws: BucketError.self) { try folder.find(moved, profile: "work") }
    }

    @Test func whatIsMissingIsNamed() throws {
        let folder = try CredentialFolder()
        for (variables, profile, word) in [
            ([:], nil, "no credentials"), (["AWS_ACCESS_KEY_ID": "a"], nil, "AWS_SECRET_ACCESS_KEY"),
            (["AWS_SECRET_ACCESS_KEY": "a"], nil, "AWS_ACCESS_KEY_ID"), ([:], "work", "no profile work"),
            (["AWS_PROFILE": "home"], nil, "no profile home"),
        ] as [([String: String], String?, String)] {
            let error = #expect(throws: BucketError.self) { try folder.find(variables, profile: profile) }
            #expect(error?.code == .noCredentials && error?.message.contains(word) == true)
            #expect(error?.hint != nil)
        }
        try folder.write("[work]\nregion=x\n", to: ".aws/credentials")
        #expect(throws: BucketError.self) { try folder.find(profile: "work") }
    }

    @Test func filesThatAreNoneAreRefused() throws {
        let folder = try CredentialFolder()
        for text in [String(repeating: "a", count: (1 << 20) + 1)] {
            try folder.write(text, to: ".aws/credentials")
            let error = #expect(throws: BucketError.self) { try folder.find() }
            #expect(error?.code == .invalidCredentials && error?.message.contains(".aws/credentials") == true)
        }
        try folder.write(
            "[default]\naws_access_key_id=a b\naws_secret_access_key=kestrel\n", to: ".aws/credentials")
        let error = #expect(throws: BucketError.self) { try folder.find() }
        #expect(error?.code == .invalidCredentials && error?.message.contains("kestrel") == false)
    }

    @Test func noSecretIsShown() throws {
        let credentials = try TestCredentials.usual
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("kestrel") && !text.contains("KEYID"))
        }
        let script = try ScriptedMailbox(.lost, .lost, .lost, .lost, .lost, .lost)
        let error = #expect(throws: (any Error).self) { try script.mailbox.folders() }
        #expect(error.map { "\($0)".contains("kestrel") } == false)
        // The secret signs, and is not sent.
        for request in script.carrier.requests {
            #expect(!"\(request.url) \(request.headers)".contains(TestCredentials.secret))
            #expect(
                request.headers.contains {
                    $0.name == "x-amz-security-token" && $0.value == TestCredentials.token
                })
        }
    }

    @Test func textThatNoHeaderCanHoldIsNoCredential() {
        for text in ["", "a b", "a\nb", "\u{FC}", String(repeating: "a", count: 20_000)] {
            #expect(throws: BucketError.self) { try BucketCredentials(keyID: text, secretKey: "s") }
            #expect(throws: BucketError.self) { try BucketCredentials(keyID: "k", secretKey: text) }
            #expect(throws: BucketError.self) {
                try BucketCredentials(keyID: "k", secretKey: "s", sessionToken: text)
            }
        }
    }
}

@Suite(.anyEngine) struct CredentialCommandTests {
    private func run(_ text: String, seconds: Double = 60) throws -> BucketCredentials {
        let quoted = "'" + text.replacingOccurrences(of: "'", with: "'\"'\"'") + "'"
        return try CredentialCommand(line: "/bin/sh -c \(quoted)", seconds: seconds).run {}
    }

    @Test func itsDocumentIsRead() throws {
        let credentials = try run(
            """
            echo '{"Version": 1, "AccessKeyId": "ID", "SecretAccessKey": "S", "SessionToken": "T",
            "Expiration": "2026-11-25T20:00:00Z"}'
            """)
        #expect(credentials.keyID == "ID" && credentials.secretKey == "S" && credentials.sessionToken == "T")
        #expect(credentials.expiryMilliseconds == 1_795_636_800_000)
        #expect(
            try CredentialCommand(
                line: "echo '{\"Version\":1,\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"S\"}'"
            ).run {}.keyID == "I")
    }

    @Test(arguments: [
        "echo kestrel; exit 3", "echo kestrel", "kill -9 $$", "true",
        "echo '{\"Version\":2,\"AccessKeyId\":\"kestrel\",\"SecretAccessKey\":\"S\"}'",
        "echo '{\"Version\":1,\"AccessKeyId\":\"kestrel\",\"SecretAccessKey\":\"S\",\"Expiration\":\"soon\"}'",
        "head -c 1000000 /dev/zero | tr '\\0' k",
    ]) func anotherOneIsRefusedAndNotShown(command: String) {
        let error = #expect(throws: BucketError.self) { try run(command) }
        #expect(error?.code == .invalidCredentials)
        #expect(error?.message.contains("kestrel") == false && error?.message.contains("command sh") == true)
    }

    @Test func oneThatDoesNotEndIsEnded() {
        let error = #expect(throws: BucketError.self) { try run("exec sleep 600", seconds: 0.2) }
        #expect(error?.message.contains("did not end") == true)
    }

    @Test func oneThatOnlyClosesItsOutputIsEnded() {
        let error = #expect(throws: BucketError.self) {
            try run("exec >&-; exec sleep 600", seconds: 0.2)
        }
        #expect(error?.message.contains("did not end") == true)
        #expect(throws: CancellationError.self) {
            try CredentialCommand(line: "/bin/sh -c 'exec >&-; exec sleep 600'").run {
                throw CancellationError()
            }
        }
    }

    @Test func oneOfAProfileGetsTheVariablesThatWereGivenAndNoOthers() throws {
        let folder = try CredentialFolder()
        try folder.write(
            "{\"Version\":1,\"AccessKeyId\":\"ID\",\"SecretAccessKey\":\"S\"}", to: "document")
        let script = "env > \(folder.path)/variables; cat \(folder.path)/document"
        try folder.write(
            "[profile work]\ncredential_process = /bin/sh -c '\(script)'\n", to: ".aws/config")
        #expect(try folder.find(["WORD": "given"], profile: "work").keyID == "ID")
        let text = try String(contentsOfFile: folder.path + "/variables", encoding: .utf8)
        let names = Set(
            text.split(separator: "\n").compactMap { $0.split(separator: "=").first.map(String.init) })
        // The shell and the system add some of their own.
        let added: Set = ["PWD", "OLDPWD", "SHLVL", "_", "__CF_USER_TEXT_ENCODING"]
        #expect(names.subtracting(added) == ["HOME", "PATH", "WORD"])
    }

    @Test func oneOfAProfileThatFailsIsNamedWithTheProfile() throws {
        let folder = try CredentialFolder()
        try folder.write("[profile work]\ncredential_process = /bin/sh -c 'exit 3'\n", to: ".aws/config")
        let error = #expect(throws: BucketError.self) { try folder.find(profile: "work") }
        #expect(error?.message == "the command sh of the profile work failed with 3" && error?.hint != nil)
    }

    @Test func oneThatIsNotThereIsNamed() {
        for line in ["/nowhere/at-all", "no-such-program-4711"] {
            #expect(throws: BucketError.self) { try CredentialCommand(line: line).run {} }
        }
        for line in ["", "'", "a \\", "''"] {
            #expect(throws: BucketError.self) { try CredentialCommand.words(line) }
        }
    }

    @Test func itIsSplitIntoWordsWithoutAShell() throws {
        #expect(
            try CredentialCommand.words(#"a 'b c' "d 'e" f\ g '' $HOME"#) == [
                "a", "b c", "d 'e", "f g", "", "$HOME",
            ])
    }

    @Test func aProfileMayNameOne() throws {
        let folder = try CredentialFolder()
        try folder.write(
            "[profile work]\ncredential_process = /bin/echo '{\"Version\":1,\"AccessKeyId\":\"FROM\",\"SecretAccessKey\":\"S\"}'\n",
            to: ".aws/config")
        #expect(try folder.find(profile: "work").keyID == "FROM")
    }

    @Test func credentialsThatEndAreRenewedBeforeThat() throws {
        let folder = try CredentialFolder()
        let (file, count) = (folder.path + "/document", folder.path + "/count")
        func write(_ id: String, _ end: String) throws {
            try folder.write(
                "{\"Version\":1,\"AccessKeyId\":\"\(id)\",\"SecretAccessKey\":\"S\",\"Expiration\":\"\(end)\"}",
                to: "document")
        }
        try write("FIRST", "1970-01-01T01:00:00Z")
        let source = CredentialSource.command("/bin/sh -c 'echo x >> \(count); cat \(file)'")
        #expect(try source.current(now: 0) {}.keyID == "FIRST")
        try write("SECOND", "1970-01-01T02:00:00Z")
        #expect(try source.current(now: 54 * 60_000) {}.keyID == "FIRST")
        #expect(try source.current(now: 56 * 60_000) {}.keyID == "SECOND")
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "x\nx\n")
        let error = #expect(throws: BucketError.self) { try source.current(now: 3 * 3_600_000) {} }
        #expect(error?.message.contains("have ended") == true)
    }

    @Test func aCommandThatGivesTheSameCredentialsAgainIsNotRunForEachRequest() throws {
        let folder = try CredentialFolder()
        let (file, count) = (folder.path + "/document", folder.path + "/count")
        func write(_ id: String, _ end: String) throws {
            try folder.write(
                "{\"Version\":1,\"AccessKeyId\":\"\(id)\",\"SecretAccessKey\":\"S\",\"Expiration\":\"\(end)\"}",
                to: "document")
        }
        try write("FIRST", "1970-01-01T01:00:00Z")
        let source = CredentialSource.command("/bin/sh -c 'echo x >> \(count); cat \(file)'")
        // At the 56th minute it is asked the second time, at the 58th, with half of the rest gone, the third time.
        for seconds in [0, 56 * 60, 56 * 60 + 1, 57 * 60, 58 * 60 - 1, 58 * 60, 58 * 60 + 1] as [Int64] {
            #expect(try source.current(now: seconds * 1000) {}.keyID == "FIRST")
        }
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "x\nx\nx\n")
        try write("SECOND", "1970-01-01T02:00:00Z")
        #expect(try source.current(now: 59 * 60_000 - 1) {}.keyID == "FIRST")
        #expect(try source.current(now: 59 * 60_000) {}.keyID == "SECOND")
        #expect(try source.current(now: 60 * 60_000) {}.keyID == "SECOND")
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "x\nx\nx\nx\n")
    }

    @Test func aCommandThatFailsInTheLastMinutesLeavesTheFormerCredentials() throws {
        let folder = try CredentialFolder()
        let document = { (id: String, end: String) in
            "{\"Version\":1,\"AccessKeyId\":\"\(id)\",\"SecretAccessKey\":\"S\",\"Expiration\":\"\(end)\"}"
        }
        let source = CredentialSource.command("/bin/cat \(folder.path)/document")
        #expect(throws: BucketError.self) { try source.current(now: 0) {} }
        try folder.write(document("FIRST", "1970-01-01T01:00:00Z"), to: "document")
        #expect(try source.current(now: 0) {}.keyID == "FIRST")
        try FileManager.default.removeItem(atPath: folder.path + "/document")
        #expect(try source.current(now: 56 * 60_000) {}.keyID == "FIRST")
        #expect(throws: BucketError.self) { try source.current(now: 60 * 60_000) {} }
        // With half of the rest gone, it is asked again.
        try folder.write(document("SECOND", "1970-01-01T02:00:00Z"), to: "document")
        #expect(try source.current(now: 58 * 60_000 - 1) {}.keyID == "FIRST")
        #expect(try source.current(now: 58 * 60_000) {}.keyID == "SECOND")
    }

    @Test func credentialsThatTheProviderCallsEndedAreLookedForOnceMore() throws {
        let folder = try CredentialFolder()
        try folder.write("{\"Version\":1,\"AccessKeyId\":\"ID\",\"SecretAccessKey\":\"S\"}", to: "document")
        let line = "/bin/sh -c 'echo x >> \(folder.path)/count; cat \(folder.path)/document'"
        let carrier = ScriptedCarrier([
            .error(400, "ExpiredToken"), .status(200, [], "<ListBucketResult/>"), .error(400, "ExpiredToken"),
            .error(400, "ExpiredToken"),
        ])
        let mailbox = BucketMailbox(
            try BucketAddress(bucket: "notes"), .command(line), carrier,
            RequestRetry(sleep: { _, _ in }, random: { 0 }), BucketMailbox.Options())
        #expect(try mailbox.folders().isEmpty)
        let error = #expect(throws: BucketError.self) { try mailbox.folders() }
        #expect(error?.code == .credentialsRefused && carrier.requests.count == 4)
        #expect(try String(contentsOfFile: folder.path + "/count", encoding: .utf8) == "x\nx\nx\n")
    }
}
