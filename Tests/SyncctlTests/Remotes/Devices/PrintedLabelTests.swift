import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncRelay
import Testing

@testable import SyncctlCommands

/// Labels and names may be by others, and a terminal obeys what is in them.
@Suite struct PrintedLabelTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("hub.db", "a", rows: 0..<1)
    }

    private func run(_ words: String...) throws -> CommandResult {
        try CommandRunner.runHere(words + ["--passphrase-file", place.secret("a")])
    }

    /// Adds a device as an older program, or another one, may have.
    private func addDevice(_ label: String) throws {
        let queue = try place.open("hub.db", "a")
        defer { try? queue.close() }
        _ = try DeviceRegister(Synchronizer(existing: queue))
        try queue.write { db in
            try db.execute(
                sql: "INSERT INTO _sync_device (key, label, readonly, at) VALUES (?, ?, 0, 1)",
                arguments: [Data(label.utf8), label])
        }
    }

    @Test func aDeviceIsNamedWithoutWhatATerminalObeys() throws {
        let label = "ph\u{1B}[2Jone\u{202E}"
        try addDevice(label)
        for result in [
            try run("device", "scope", place.path("hub.db"), label, "--everything"),
            try run("device", "revoke", place.path("hub.db"), label),
        ] {
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("ph\\u{1b}[2Jone\\u{202e}"), "\(result.output)")
            // A character may be part of a larger one.
            #expect(!result.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
        }
    }

    @Test func aRelayIsForgottenWithoutWhatATerminalObeys() throws {
        let name = "re\u{1B}[2Jlay"
        let queue = try place.open("hub.db", "a")
        try RelayBook(Synchronizer(existing: queue)).save(
            KnownRelay(
                name: name, address: RelayAddress(url: "https://relay.example"), channel: .random()))
        try queue.close()
        let result = try run("remote", "remove", place.path("hub.db"), name)
        #expect(result.status == 0 && result.output.contains("forgot re\\u{1b}[2Jlay"), "\(result.errors)")
        #expect(!result.output.unicodeScalars.contains("\u{1B}"))
    }

    @Test func aDocumentHasALabelAsItIsAndNothingThatATerminalObeys() throws {
        let label = "ph\u{9B}2Jone\u{202E}\u{61C}\u{7F}"
        try addDevice(label)
        let result = try run("device", "list", place.path("hub.db"), "--json")
        let devices = try #require(try result.document()["devices"] as? [[String: Any]])
        #expect(devices.map { $0["label"] as? String } == [label])
        #expect(result.output.contains("\\u009b2J") && result.output.contains("\\u202e\\u061c\\u007f"))
        #expect(!result.output.unicodeScalars.contains { $0 != "\n" && PrintableText.isUnsafe($0) })
    }

    @Test func oneOfAllRemotesIsNamedWithoutWhatATerminalObeys() throws {
        let name = "b\u{1B}[2J.db"
        try place.makeReplica(name, "b", of: "hub.db", "a")
        let both = ["--passphrase-file", place.secret("a"), "--remote-passphrase-file", place.secret("b")]
        try place.succeed(["sync", place.path("hub.db"), "--remote", place.path(name)] + both)
        let all = try place.succeed(["sync", place.path("hub.db"), "--all"] + both)
        #expect(all.output.contains("b\\u{1b}[2J.db: "), "\(all.output)")
        #expect(!all.output.unicodeScalars.contains("\u{1B}"))
    }

    @Test func marksThatNobodySeesAreShown() {
        #expect(PrintableText.escaped("a\u{61C}b\u{FEFF}c") == "a\\u{61c}b\\u{feff}c")
    }
}
