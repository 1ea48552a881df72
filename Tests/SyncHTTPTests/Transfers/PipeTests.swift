import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Stores at two ends of a pipe.
@Suite(.serialized) struct PipeTests {
    /// Serves a store in this process over two pipes.
    private func transport(_ stores: ServedStores, _ hub: Synchronizer) -> PipeTransport {
        PipeTransport(name: "pipe", folder: stores.folder) {
            signal(SIGPIPE, SIG_IGN)
            let (requests, answers) = (Pipe(), Pipe())
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let (input, output) = (requests.fileHandleForReading, answers.fileHandleForWriting)
                try? PipeServer(hub, input: input.fileDescriptor, output: output.fileDescriptor).run()
                try? output.close()
                ended.signal()
            }
            return PipeTransport.Pipe(
                input: answers.fileHandleForReading.fileDescriptor,
                output: requests.fileHandleForWriting.fileDescriptor
            ) {
                try? requests.fileHandleForWriting.close()
                ended.wait()
                try? answers.fileHandleForReading.close()
            }
        }
    }

    private func pair(_ stores: ServedStores, rows: Int) throws -> (Synchronizer, Synchronizer) {
        let hub = try stores.create("hub.db", rows: rows)
        try hub.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        return (hub, try stores.open("b.db"))
    }

    @Test func bothSidesGetTheOthersRows() async throws {
        let stores = try ServedStores()
        let (hub, other) = try pair(stores, rows: 3)
        let transport = transport(stores, hub)
        try hub.insert(5, "hub")
        try other.insertLarge(40, byteCount: 100_000)
        let report = try await other.sync(with: transport)
        #expect(report.pulled?.rowCount == 5 && report.pushed?.rowCount == 40)
        #expect(try hub.rows() == other.rows())
        let again = try await other.sync(with: transport)
        #expect(again.pulled == nil && again.pushed == nil && again.divergence == nil)
        // Rows that differ though both know the same.
        try hub.damage("UPDATE _sync_row SET hlc = hlc + 1")
        let divergence = try #require(try await other.sync(with: transport).divergence)
        #expect(divergence.isRepaired && divergence.rowCount == 48)
        // Some tables only.
        try other.setScope(.tables(["note"]), ofRemote: transport.name)
        try hub.insert(1, "later")
        #expect(try await other.sync(with: transport).pulled?.rowCount == 1)
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func anotherDatabaseIsRefused() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let stranger = try stores.create("stranger.db", rows: 1)
        let transport = transport(stores, hub)
        let error = await #expect(throws: SyncError.self) { try await stranger.sync(with: transport) }
        #expect(error?.code == .otherStore)
    }

    @Test func aCopyOfTheServedFileGetsANewIdentity() async throws {
        let stores = try ServedStores()
        let (hub, other) = try pair(stores, rows: 1)
        let transport = transport(stores, hub)
        try other.insert(1, "other")
        _ = try await other.sync(with: transport)
        let twin = try hub.writeCopy(to: stores.path("twin.db"), stores)
        try hub.insert(1, "hub")
        _ = try await other.sync(with: transport)
        try twin.insert(1, "twin")
        let report = try await other.sync(with: self.transport(stores, twin))
        #expect(report.renewedReplicas.count == 1)
        _ = try await other.sync(with: transport)
        #expect(try hub.rows() == other.rows() && hub.titles()["twin"] == 1)
    }

    @Test(arguments: [
        "Welcome to this machine!\n", "", "\u{1}", "\u{1}\u{0}\u{0}\u{0}\u{2}{",
        "\u{40}\u{7F}\u{7F}\u{7F}\u{7F}", "\u{41}\u{0}\u{0}\u{0}\u{0}",
    ])
    func whatSpeaksSomethingElseIsAnError(_ text: String) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let transport = PipeTransport(name: "pipe", folder: stores.folder) {
            signal(SIGPIPE, SIG_IGN)
            let (requests, answers) = (Pipe(), Pipe())
            try answers.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try answers.fileHandleForWriting.close()
            return PipeTransport.Pipe(
                input: answers.fileHandleForReading.fileDescriptor,
                output: requests.fileHandleForWriting.fileDescriptor
            ) {
                try? requests.fileHandleForWriting.close()
                try? answers.fileHandleForReading.close()
            }
        }
        await #expect(throws: RemoteError.self) { try await hub.sync(with: transport) }
    }

    @Test func badRequestsAreAnsweredAndTheNextIsServed() throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        signal(SIGPIPE, SIG_IGN)
        let (requests, answers) = (Pipe(), Pipe())
        let client = PipeChannel(
            input: answers.fileHandleForReading.fileDescriptor,
            output: requests.fileHandleForWriting.fileDescriptor)
        Thread.detachNewThread {
            try? PipeServer(
                hub, input: requests.fileHandleForReading.fileDescriptor,
                output: answers.fileHandleForWriting.fileDescriptor
            ).run()
            try? answers.fileHandleForWriting.close()
        }
        let garbage = Array("garbage".utf8)
        for kind in [
            PipeKind.hello, .meet, .renew, .remember, .state, .question, .changes, .rows, .answer, .end,
        ] {
            try client.write(kind, garbage)
            #expect(try client.read()?.kind == .problem)
        }
        try client.write(.hello, Array(#"{"versions":[9]}"#.utf8))
        #expect(try client.read()?.kind == .problem)
        // A bundle that is none, and one that never ends.
        try client.write(.apply)
        try client.write(.frame, garbage)
        try client.write(.end)
        #expect(try client.read()?.kind == .problem)
        try client.write(.greet)
        #expect(try client.read()?.kind == .answer)
        try client.write(.apply)
        try requests.fileHandleForWriting.close()
        #expect(try client.read() == nil)
        #expect(try hub.titles() == ["from hub.db": 2])
    }
}

extension Synchronizer {
    /// A copy of the file under the same identity, as `cp` makes one.
    fileprivate func writeCopy(to path: String, _ stores: ServedStores) throws -> Synchronizer {
        try writer.writeWithoutTransaction { db in
            _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try FileManager.default.copyItem(atPath: writer.path, toPath: path)
        var configuration = ServedStores.configuration("hub.db")
        configuration.requiresExistingFile = true
        return try Synchronizer(
            DatabaseQueue(path: path, configuration: configuration), environment: stores.clock.environment)
    }
}
