import CipherStore
import Foundation
import SyncEngine
import SyncRelay
import SyncRelayPostgres
import TestSupport
import Testing

/// The code of the articles about relays.
@Suite struct RelaySamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    // sample: relay-running
    func runRelay(at path: String, onListening: @escaping @Sendable (RelayServer.Listening) -> Void)
        async throws
    {
        let storage = try SQLiteRelayStorage(path: path)
        let relay = try await RelayServer(storage, options: RelayServer.Options(host: "127.0.0.1", port: 0))
        try await relay.run { onListening($0) }
        try storage.close()
    }
    // end

    // sample: relay-sharing
    func share(_ synchronizer: Synchronizer, through address: RelayAddress) throws -> RelayLink {
        let client = RelayClient(address)
        let channel = RelayChannel.random()
        try client.make(channel)
        try RelayBook(synchronizer).save(KnownRelay(name: "relay", address: address, channel: channel))
        let transport = try channel.key.transport(through: RelayMailbox(channel, client: client))
        try synchronizer.publishSnapshot(in: transport)
        return try client.invite(to: channel, seconds: 3600)
    }
    // end

    // sample: relay-joining
    func join(_ link: RelayLink, at path: String) throws {
        let client = RelayClient(link.address)
        let channel = try client.take(link)
        let transport = try channel.key.transport(through: RelayMailbox(channel, client: client))
        let passphrase = try Passphrase("battery staple")
        try Synchronizer.join(transport, at: path, passphrase: passphrase)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        let synchronizer = try Synchronizer(DatabaseQueue(path: path, configuration: configuration))
        try RelayBook(synchronizer).save(KnownRelay(name: "relay", address: link.address, channel: channel))
    }
    // end

    // sample: relay-syncing
    func synchronize(_ synchronizer: Synchronizer) throws -> FolderReport {
        let book = RelayBook(synchronizer)
        let relay = try book.relay()
        var options = RelayMailbox.Options()
        options.seen = relay.seen
        let mailbox = RelayMailbox(relay.channel, client: RelayClient(relay.address), options: options)
        let report = try synchronizer.run(.both, relay.channel.key.transport(through: mailbox))
        try book.note(mailbox.seen, of: relay)
        for event in mailbox.takeEvents() where event.isOfConcern {
            print("the relay", event)
        }
        return report
    }
    // end

    @Test func twoStoresMeetInARelay() async throws {
        let (listenings, told) = AsyncStream.makeStream(of: RelayServer.Listening.self)
        let relay = Task { try await runRelay(at: place.path("relay.db")) { told.yield($0) } }
        let listening = try #require(await listenings.first { _ in true })
        let notes = try place.notes()
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 0).insert($0) }
        let synchronizer = try Synchronizer(notes, tables: ["note"])
        let address = try address(of: listening)
        let path = place.path("phone.db")
        try await blocking { try join(share(synchronizer, through: address), at: path) }
        let phone = try DatabaseQueue(path: path, configuration: place.configuration("battery staple"))
        #expect(try await phone.read { try Note.fetchCount($0) } == 1)
        try await phone.write { try Note(id: .v7(), title: "Tea", body: nil, stars: 0).insert($0) }
        let report = try await blocking {
            _ = try synchronize(Synchronizer(phone))
            return try synchronize(synchronizer)
        }
        #expect(report.pulled != nil)
        #expect(try await notes.read { try Note.fetchCount($0) } == 2)
        relay.cancel()
        _ = await relay.result
    }

    // sample: relay-postgres
    func runRelay(onDatabase text: String, onListening: @escaping @Sendable (RelayServer.Listening) -> Void)
        async throws
    {
        let storage = try PostgresRelayStorage(PostgresAddress(text))
        let relay = try await RelayServer(storage, options: RelayServer.Options(host: "127.0.0.1", port: 0))
        try await relay.run { onListening($0) }
        storage.close()
    }
    // end

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed: run Scripts/setup --tests"))
    func relaysShareADatabase() async throws {
        let server = try await blocking { try PostgresServer.shared() }
        let database = try await blocking { try server.makeDatabase() }
        let (listenings, told) = AsyncStream.makeStream(of: RelayServer.Listening.self)
        let relays = (0..<2).map { _ in
            Task { try await runRelay(onDatabase: server.address(of: database)) { told.yield($0) } }
        }
        var iterator = listenings.makeAsyncIterator()
        let addresses = [
            try address(of: #require(await iterator.next())),
            try address(of: #require(await iterator.next())),
        ]
        // What one of them made, the other has.
        let channel = RelayChannel.random()
        let state = try await blocking {
            try RelayClient(addresses[0]).make(channel)
            return try RelayClient(addresses[1]).state(of: channel)
        }
        #expect(state.position == 0)
        for relay in relays {
            relay.cancel()
            _ = await relay.result
        }
    }

    private func address(of listening: RelayServer.Listening) throws -> RelayAddress {
        guard case .fingerprint(let bytes) = listening.trust else {
            throw CocoaError(.featureUnsupported)
        }
        return try RelayAddress(host: "127.0.0.1", port: listening.port, fingerprint: bytes)
    }

    /// Calls what blocks its thread, which one of a test must not.
    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
