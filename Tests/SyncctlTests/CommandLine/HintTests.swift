import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Testing

@testable import SyncctlCommands

/// Hints hold for what was asked, and name what is known.
@Suite struct HintTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }
    private var store: String { place.path("a.db") }

    @Test func hintsNameTheStoreAndTheFileThatWereGiven() throws {
        let replica = try place.run(["replica", "retire", store, ""] + own)
        #expect(replica.status == 64)
        #expect(replica.errors.contains("syncctl replica list \(store)"), "\(replica.errors)")
        let key = try place.run(["status", store, "--key-file", place.path("k")])
        #expect(key.status == 1)
        let command = "syncctl key add \(store) --new-key-file \(place.path("k"))"
        #expect(key.errors.contains(command), "\(key.errors)")
        let remote = try place.run(["remote", "remove", store, "nope"] + own)
        #expect(remote.status == 1 && remote.errors.contains("nope"))
        #expect(remote.errors.contains("syncctl remote list \(store)"), "\(remote.errors)")
        #expect(!remote.errors.contains("--remote"), "\(remote.errors)")
    }

    /// The store that was there may have been moved without it.
    @Test(arguments: ["-wal", "-journal", "-WAL"]) func nobodyIsToldToRemoveWhatMayHoldChanges(suffix: String)
    {
        let failure = Failure(
            explaining: StoreError(.exists, "there is a file already", path: "notes.db\(suffix)"))
        #expect(failure.hints == ["choose another name, or move the file away"])
    }

    @Test func whoHasOneSlotIsToldHowThisStoreGetsAnother() throws {
        try place.succeed(
            ["key", "add", store, "--new-passphrase-file", place.secret("b"), "--cost", "14"] + own)
        let document = try place.succeed(["key", "list", store, "--json"]).document()
        let slots = try #require(document["slots"] as? [[String: Any]]).compactMap { $0["id"] as? String }
        try #require(slots.count == 2)
        try place.succeed(["key", "remove", store, slots[1]] + own)
        let listed = try place.succeed(["key", "list", store])
        #expect(listed.errors.contains("add one with: syncctl key add \(store)"), "\(listed.errors)")
        let last = try place.run(["key", "remove", store, slots[0]] + own)
        #expect(last.status == 1, "\(last.errors)")
        #expect(last.errors.contains("syncctl key add \(store)"), "\(last.errors)")
    }

    @Test func aParkedRowIsNotToBeRestoredInPart() {
        let failure = Failure(SyncError(.parkedRow, "row 1 of t is parked"), store: "a.db")
        #expect(failure.message.hasSuffix("nothing was changed"))
        #expect(failure.hints.contains { $0.contains("syncctl parked show a.db") })
        #expect(failure.hints.contains { $0.contains("syncctl parked retry a.db") })
        #expect(!failure.hints.contains { $0.contains("--partial") })
    }

    @Test func anImportIntoATrackedTableAsksNobodyToTrackIt() throws {
        let rows = try place.folder.write("name,stars\nAda,3\n", to: "rows.csv")
        let result = try place.succeed(["import", store, rows, "--table", "PERSON"] + own)
        #expect(!result.errors.contains("next:"), "\(result.errors)")
        #expect(result.output.contains("tracked"), "\(result.output)")
        let again = try place.succeed(
            ["import", store, rows, "--table", "Person", "--json"] + own)
        #expect(try again.document()["tracked"] as? Bool == true)
    }

    @Test func anImportIntoATableThatCannotBeTrackedSaysWhy() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)") }
        try queue.close()
        let rows = try place.folder.write("id,name\n1,Ada\n", to: "rows.csv")
        let result = try place.succeed(["import", store, rows, "--table", "T"] + own)
        #expect(!result.errors.contains("next:"), "\(result.errors)")
        #expect(result.errors.contains("T can't be tracked as it is: its key is an integer"))
    }

    @Test func aNameWithADashIsExplainedHoweverShortItIs() throws {
        for words in [["export", "-d"], ["export", store, "--to", "-d"], ["status", "-x.db"]] {
            let result = try place.run(words)
            #expect(result.status == 64)
            #expect(result.errors.contains("./-"), "\(words): \(result.errors)")
        }
        let number = try place.run(["log", store, "--limit", "-5"])
        #expect(number.status == 64 && !number.errors.contains("./-"), "\(number.errors)")
    }

    @Test func aMissingSSHIsSaid() throws {
        let result = try place.run(
            ["sync", store, "--remote", "ssh://host/srv/hub.db"] + own,
            environment: ["PATH": place.path("secrets")])
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("the program ssh is not on this machine"), "\(result.errors)")
        #expect(result.errors.contains("openssh-client") && !result.errors.contains("127"))
        let status = try place.succeed(["status", store] + own)
        #expect(status.output.contains("program ssh") && !status.output.contains("hint"), "\(status.output)")
    }

    @Test func programsAreFoundAsAShellFindsThem() throws {
        let folder = place.path("bin")
        try FileManager.default.createDirectory(
            atPath: folder + "/folder", withIntermediateDirectories: true)
        for (name, mode) in [("tool", 0o755), ("text", 0o644)] {
            try place.folder.write("", to: "bin/" + name)
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: folder + "/" + name)
        }
        let folders = "\(place.path("none")):\(folder)"
        #expect(ProgramSearch.find("tool", in: folders) == folder + "/tool")
        #expect(ProgramSearch.find("text", in: folders) == nil)
        #expect(ProgramSearch.find("folder", in: folders) == nil)
        #expect(ProgramSearch.find("tool", in: place.path("none")) == nil)
        #expect(ProgramSearch.find("sh", in: nil) != nil)
    }

    @Test func untrackingWithoutATrackedTableListsNone() throws {
        try place.succeed(["untrack", store, "person"] + own)
        let result = try place.run(["untrack", store, "person"] + own)
        #expect(result.status == 1)
        #expect(result.errors.contains("table person is not tracked; no table is"), "\(result.errors)")
    }
}
