import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import Testing

/// The code of SyncHTTP's articles.
@Suite struct ServerSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    // sample: serving
    func serve(_ hub: Synchronizer, onListening: @escaping @Sendable (ServerAddress) -> Void) async throws {
        let server = try HubServer([hub], options: HubServer.Options(host: "127.0.0.1", port: 0))
        try await server.run { listening in
            guard
                let address = try? ServerAddress(
                    host: "127.0.0.1", port: listening.port, trust: listening.trust)
            else { return }
            onListening(address)
        }
    }
    // end

    // sample: inviting
    func invite(_ label: String, to hub: Synchronizer, at address: ServerAddress) throws -> InviteLink {
        let register = try DeviceRegister(hub)
        return try register.invite(label: label, scope: .tables(["note"]), address: address)
    }
    // end

    // sample: joining
    func join(_ link: InviteLink, at path: String) throws {
        try Synchronizer.join(link, at: path, passphrase: Passphrase("battery staple"))
    }
    // end

    @Test func aDeviceJoinsAndSynchronizes() async throws {
        let notes = try place.notes()
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 0).insert($0) }
        let hub = try Synchronizer(notes, tables: ["note"])
        let (addresses, continuation) = AsyncStream.makeStream(of: ServerAddress.self)
        let server = Task { try await serve(hub) { continuation.yield($0) } }
        let address = try #require(await addresses.first { _ in true })
        let link = try invite("phone", to: hub, at: address)
        let path = place.path("phone.db")
        // It blocks a thread, which one of a test must not.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try join(link, at: path) }) }
        }
        let phone = try DatabaseQueue(path: path, configuration: place.configuration("battery staple"))
        // sample: server-syncing
        let onPhone = try Synchronizer(phone)
        let transport = try RemoteBook(onPhone).transport()
        let report = try await onPhone.sync(with: transport)
        // end
        #expect(report.conflictCount == 0)
        #expect(try await phone.read { try Note.fetchCount($0) } == 1)

        let (reports, told) = AsyncStream.makeStream(of: Int64.self)
        // sample: live
        let live = try LiveSynchronization(onPhone)
        Thread.detachNewThread {
            do {
                try live.run { event in
                    switch event {
                    case .connected(let remote): print("connected to", remote)
                    case .synchronized(let report): told.yield(report.pulled?.rowCount ?? 0)
                    case .disconnected(let error, let milliseconds): print(error, milliseconds)
                    }
                }
            } catch {
                print("it ended:", error)
            }
        }
        // end
        try await notes.write { try Note(id: .v7(), title: "Ideas", body: nil, stars: 0).insert($0) }
        _ = await reports.first { $0 > 0 }
        live.stop()
        #expect(try await phone.read { try Note.fetchCount($0) } == 2)
        // sample: revoking
        try DeviceRegister(hub).revoke("phone")
        // end
        server.cancel()
        _ = await server.result
    }
}
