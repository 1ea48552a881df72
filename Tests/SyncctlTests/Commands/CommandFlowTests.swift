import Foundation
import Testing

@testable import CipherStore

/// What users do with `syncctl`, done with the binary.
@Suite struct CommandFlowTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    /// Values that are easily damaged on the way.
    private static let people = """
        id,name,stars,score,remark
        018f3a52-7c00-7000-8000-000000000001,Ada,5,1.5,"says ""hello"", twice"
        018f3a52-7c00-7000-8000-000000000002,Zo\u{EB},NA,0.1,"two
        lines"
        018f3a52-7c00-7000-8000-000000000003,"",3,,"NA"
        018f3a52-7c00-7000-8000-000000000004,007,-4,1e+300,NA

        """

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }
    private func remote(_ store: String, _ name: String) -> [String] {
        ["--remote", place.path(store), "--remote-passphrase-file", place.secret(name)]
    }

    private func initialize(_ store: String = "a.db", _ name: String = "a") throws {
        try place.succeed(["init", place.path(store)] + own(name))
    }

    private func importPeople(_ store: String = "a.db", _ name: String = "a") throws {
        let file = try place.folder.write(Self.people, to: "people.csv")
        try place.succeed(["import", place.path(store), file, "--table", "person"] + own(name))
    }

    private func makePair() throws {
        try initialize()
        try importPeople()
        try place.succeed(["track", place.path("a.db"), "person"] + own("a"))
        try place.succeed(
            [
                "init", place.path("b.db"), "--clone", place.path("a.db"), "--clone-passphrase-file",
                place.secret("a"),
            ]
                + own("b"))
    }

    private func execute(_ store: String, _ name: String, _ sql: String) throws {
        let queue = try place.open(store, name)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func number(_ result: CommandResult, _ field: String) throws -> Int? {
        try result.document()[field] as? Int
    }

    // MARK: Synchronization

    @Test func anImportInfersTypesAndKeepsEveryValue() throws {
        try initialize()
        try importPeople()
        #expect(
            try place.rows("a.db", "a") == [
                #""018f3a52-7c00-7000-8000-000000000001" | "Ada" | 5 | 1.5 | "says \"hello\", twice""#,
                #""018f3a52-7c00-7000-8000-000000000002" | "Zoë" | NULL | 0.1 | "two\nlines""#,
                #""018f3a52-7c00-7000-8000-000000000003" | "" | 3 | NULL | "NA""#,
                #""018f3a52-7c00-7000-8000-000000000004" | "007" | -4 | 1e+300 | NULL"#,
            ])
    }

    @Test func twoStoresExchangeTheirEdits() throws {
        try makePair()
        #expect(try place.rows("a.db", "a") == place.rows("b.db", "b"))
        try execute("a.db", "a", "UPDATE person SET stars = 1 WHERE name = 'Ada'")
        let push = try place.succeed(["push", place.path("a.db"), "--json"] + own("a") + remote("b.db", "b"))
        #expect(try number(push, "pushed") == 1)
        #expect(try number(push, "pulled") == 0)
        #expect(try number(push, "conflicts") == 0)
        #expect(try number(push, "parked") == 0)

        try execute("b.db", "b", "DELETE FROM person WHERE name = '007'")
        let pull = try place.succeed(["pull", place.path("a.db"), "--json"] + own("a") + remote("b.db", "b"))
        #expect(try number(pull, "pulled") == 1)
        #expect(try number(pull, "pushed") == 0)

        try execute("a.db", "a", "UPDATE person SET remark = 'here' WHERE name = 'Ada'")
        try execute("b.db", "b", "UPDATE person SET remark = 'there', score = 9 WHERE name = 'Ada'")
        let sync = try place.succeed(["sync", place.path("a.db"), "--json"] + own("a") + remote("b.db", "b"))
        #expect(try number(sync, "conflicts") == 1)
        let rows = try place.rows("a.db", "a")
        #expect(try rows == place.rows("b.db", "b"))
        #expect(rows.count == 3)
        #expect(rows.first?.hasSuffix(#"| 1 | 9.0 | "there""#) == true)
    }

    @Test func withoutARemotePassphraseTheStoresOwnIsTried() throws {
        try makePair()
        try place.succeed(
            ["rekey", place.path("b.db"), "--new-passphrase-file", place.secret("a")] + own("b"))
        let result = try place.succeed(["sync", place.path("a.db"), "-r", place.path("b.db")] + own("a"))
        #expect(result.output == "pulled nothing new, pushed nothing new, no conflicts\n")
    }

    @Test func rowsThatCannotBeWrittenYetArePointedOut() throws {
        try makePair()
        try execute("b.db", "b", "CREATE UNIQUE INDEX one_name ON person (name)")
        try execute(
            "a.db", "a",
            "INSERT INTO person VALUES ('018f3a52-7c00-7000-8000-000000000009', 'Ada', 1, 1.0, '')")
        let push = try place.run(["push", place.path("a.db"), "--json"] + own("a") + remote("b.db", "b"))
        #expect(push.status == 3)
        #expect(try number(push, "parked") == 1)
        let status = try place.run(["status", place.path("b.db"), "--json"] + own("b"))
        #expect(status.status == 3)
        #expect(try number(status, "parked") == 1)
    }

    @Test func statusAndLogTellWhatHappened() throws {
        try makePair()
        try execute("b.db", "b", "UPDATE person SET stars = 2 WHERE name = 'Ada'")
        try place.succeed(["sync", place.path("a.db")] + own("a") + remote("b.db", "b"))

        let status = try place.succeed(["status", place.path("a.db"), "--json"] + own("a")).document()
        let table = try #require((status["tables"] as? [[String: Any]])?.first)
        #expect(table["name"] as? String == "person")
        #expect(table["rows"] as? Int == 4)
        let peer = try #require((status["peers"] as? [[String: Any]])?.first)
        #expect(peer["name"] as? String == place.path("b.db"))
        #expect(peer["pending"] as? Int == 0)
        #expect(status["conflicts"] as? Int == 0 && status["parked"] as? Int == 0)
        #expect(try place.succeed(["status", place.path("a.db")] + own("a")).output.contains("person"))

        let log = try place.succeed(["log", place.path("a.db"), "--limit", "2", "--json"] + own("a"))
            .document()
        let changes = try #require(log["changes"] as? [[String: Any]])
        #expect(changes.count == 2)
        let latest = try #require(changes.first)
        #expect(latest["operation"] as? String == "update")
        #expect(latest["columns"] as? [String] == ["stars"])
        #expect(latest["local"] as? Bool == false)
        #expect(latest["key"] as? String == "018f3a52-7c00-7000-8000-000000000001")
        let text = try place.succeed(["log", place.path("a.db")] + own("a")).output
        #expect(text.split(separator: "\n").count == 6)
    }

    @Test func rekeyChangesThePassphraseAndNothingElse() throws {
        try makePair()
        let before = try place.rows("a.db", "a")
        let result = try place.succeed(
            ["rekey", place.path("a.db"), "--new-passphrase-file", place.secret("c"), "--json"] + own("a"))
        #expect(try result.document()["rekeyed"] as? Bool == true)
        #expect(try place.run(["status", place.path("a.db")] + own("a")).status == 12)
        try place.succeed(["sync", place.path("a.db")] + own("c") + remote("b.db", "b"))
        #expect(try place.rows("a.db", "c") == before)
        #expect(try place.contents() == ["a.db", "b.db", "people.csv"])
    }

    @Test func rekeyNormalisesThePassphraseThatAnotherProgramMadeTheStoreWith() throws {
        let texts = (nfc: "kestrel-4711-caf\u{E9}", nfd: "kestrel-4711-cafe\u{301}")
        try place.folder.writePassphrase(texts.nfc, to: "secrets/nfc")
        try place.folder.writePassphrase(texts.nfd, to: "secrets/nfd")
        let bytes = try Array(texts.nfd.utf8).withUnsafeBytes { try SecretBytes($0) }
        let key = try KeyDerivation.derive(
            passphrase: bytes, salt: KeyDerivation.randomSalt(), settings: .default)
        let db = try Database.open(path: place.path("a.db"), key: key)
        try db.execute(sql: "CREATE TABLE t (a)")
        db.dispose()
        let rekey = [
            "rekey", place.path("a.db"), "--passphrase-file", place.secret("nfd"),
            "--new-passphrase-file", place.secret("nfc"),
        ]
        try place.succeed(rekey)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(texts.nfc) }
        let queue = try DatabaseQueue(path: place.path("a.db"), configuration: configuration)
        #expect(try queue.read { try $0.tableExists("t") })
        try queue.close()
        let again = try place.run(rekey)
        #expect(again.status == 64 && again.errors.contains("is the old one"), "\(again.errors)")
    }

    // MARK: Words

    private static let commands = [
        "init", "import", "export", "sql", "tables", "schema", "rekey", "track", "push", "pull", "sync",
        "status",
        "log", "demo", "completion", "manual", "version",
    ]

    @Test(arguments: commands) func everyCommandExplainsItselfWithExamples(command: String) throws {
        let result = try place.run([command, "--help"])
        #expect(result.status == 0)
        #expect(result.output.contains("EXAMPLE"))
        #expect(result.output.contains("syncctl \(command)"))
        #expect(result.errors.isEmpty)
    }

    @Test func theHelpListsEveryCommandAndEveryExitCode() throws {
        let text = try place.run(["--help"]).output
        for command in Self.commands { #expect(text.contains("\n  \(command) ")) }
        for code in [0, 1, 3, 10, 11, 12, 14, 15, 16, 64, 130] { #expect(text.contains(" \(code) ")) }
        #expect(try place.run(["--version"]).output.hasPrefix("syncctl "))
    }

    @Test func theDemoEndsWithEqualStores() throws {
        let result = try place.succeed(["demo"])
        #expect(result.output.contains("5. Both hold the same rows"))
    }
}
