import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Synchronizations with a server whose task is cancelled.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CancelledTransferTests {
    /// A task that is cancelled from outside.
    private final class Cancelled: Sendable {
        private let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        private let hasBegun = DispatchSemaphore(value: 0)
        private let count = Mutex(0)
        private let number: Int

        /// - parameter number: At which request it is cancelled; 0 for none.
        init(atRequest number: Int = 0) { self.number = number }

        func run(_ body: @escaping @Sendable () async throws -> SyncReport) async throws -> SyncReport {
            let task = Task { try await body() }
            cancel.withLock { $0 = { task.cancel() } }
            hasBegun.signal()
            return try await task.value
        }

        func end() {
            hasBegun.wait()
            cancel.withLock { $0 }?()
        }

        func passRequest() {
            let isDue = count.withLock { count in
                count += 1
                return count == number
            }
            if isDue { end() }
        }

        var isDue: Bool { count.withLock { $0 >= number } }
    }

    private func expectWhole(_ stores: [Synchronizer]) throws {
        for store in stores {
            let problems = try store.writer.write { try MetadataCheck.problems(of: $0, isDeep: true) }
            #expect(problems.map(\.message) == [])
        }
    }

    @Test func aCancellationAtAnyRequestLosesNothing() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            try hub.insertLarge(10, byteCount: 60_000)
            try phone.insertLarge(20, byteCount: 60_000)
            var number = 0
            var isEnded = false
            while !isEnded {
                number += 1
                let cancelled = Cancelled(atRequest: number)
                var options = HTTPTransport.Options.hasty
                options.uploadByteCount = 300_000
                options.onRequest = { cancelled.passRequest() }
                let transport = try RemoteBook(phone).transport(options: options)
                do {
                    // One that is cancelled when everything was exchanged gets its report.
                    _ = try await cancelled.run { try await phone.sync(with: transport) }
                    isEnded = !cancelled.isDue
                } catch is CancellationError {
                    #expect(cancelled.isDue)
                }
                try expectWhole([hub, phone])
                let counts = (phone: try phone.rows().count, hub: try hub.rows().count)
                #expect(counts.phone == 20 || counts.phone == 30)
                #expect(counts.hub == 10 || counts.hub == 30)
            }
            #expect(number > 4)
            _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(try phone.rows() == hub.rows())
            #expect(try phone.rows().count == 30)
        }
        #expect(try stores.leftovers().isEmpty)
    }

    /// - parameter count: After how many bytes of the server's nothing more comes: from the beginning, in the midst of an
    ///   answer that is kept on disk, and of one that is being applied.
    @Test(arguments: [1, 2_000_000, 7_000_000])
    func aServerThatIsSilentHoldsNobodyWhoCancels(after count: Int) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            try hub.insertLarge(150, byteCount: 60_000)
            try phone.insert(1, "phone")
            let gate = CuttingProxy.Gate(after: count)
            let proxy = CuttingProxy(to: server.port, gate: gate)
            let transport = try stores.transport(of: phone, to: server, through: proxy) {
                // Without the cancellation it would wait for all of this test.
                $0.connectSeconds = 3600
                $0.patienceSeconds = 3600
                $0.flow.patienceSeconds = 3600
            }
            let cancelled = Cancelled()
            Thread.detachNewThread {
                gate.waitUntilClosed()
                cancelled.end()
            }
            await #expect(throws: CancellationError.self) {
                try await cancelled.run { try await phone.sync(with: transport) }
            }
            #expect(try phone.rows().count == 1)
            try expectWhole([hub, phone])
            gate.open()
            proxy.close()
            let report = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(report.pulled?.rowCount == 150 && report.pushed?.rowCount == 1)
            #expect(try phone.rows() == hub.rows())
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aPauseBetweenRepetitionsHoldsNobodyWhoCancels() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            var options = HTTPTransport.Options()
            (options.pauseSeconds, options.pauseSecondsMax) = (3600, 3600)
            let transport = try RemoteBook(phone).transport(options: options)
            let cancellation = SyncCancellation()
            let environment = stores.clock.environment.with(cancellation: cancellation)
            try await blocking {
                let connection = try transport.connection(environment)
                defer { connection.close() }
                Thread.detachNewThread { cancellation.cancel() }
                #expect(throws: CancellationError.self) { try connection.pause(1) }
            }
        }
    }
}
