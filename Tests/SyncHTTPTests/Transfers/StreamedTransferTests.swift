import CipherStore
import Foundation
import SyncEngine
import Testing

@testable import SyncHTTP

/// Bundles that are uploaded and fetched while they are made, and applied while they still come.
@Suite(.serialized) struct StreamedTransferTests {
    /// Rows of more than any bundle has that waits until it is whole.
    private static let (rowCount, rowByteCount) = (150, 60_000)

    @Test func bothDirectionsGoOnWhereTheirConnectionBroke() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            try hub.insertLarge(Self.rowCount, byteCount: Self.rowByteCount)
            try phone.insertLarge(Self.rowCount, byteCount: Self.rowByteCount)
            let proxy = CuttingProxy(to: server.port, cuts: [5_500_000, 2_000_000, 5_000_000, 3_000_000])
            let transport = try stores.transport(of: phone, to: server, through: proxy) {
                $0.flow.patienceSeconds = 60
            }
            let report = try await phone.sync(with: transport)
            #expect(report.pulled?.rowCount == 150 && report.pushed?.rowCount == 150)
            #expect(try phone.rows() == hub.rows())
            #expect(try phone.rows().count == 300)
            #expect(proxy.connectionCount == 5)
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func nobodyWaitsForATransferThatStalls() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            try hub.insertLarge(Self.rowCount, byteCount: Self.rowByteCount)
            let gate = CuttingProxy.Gate(after: 7_000_000)
            let proxy = CuttingProxy(to: server.port, gate: gate)
            let transport = try stores.transport(of: phone, to: server, through: proxy)
            async let report = phone.sync(with: transport)
            try await blocking {
                gate.waitUntilClosed()
                // Another program, which would wait for as long as the transaction is open.
                let other = try stores.open("phone.db")
                try other.insert(1, "meanwhile")
                gate.open()
            }
            #expect(try await report.pulled?.rowCount == 150)
            _ = try await phone.sync(with: transport)
            #expect(try phone.rows() == hub.rows())
            #expect(try phone.titles()["meanwhile"] == 1 && phone.rows().count == 151)
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func anExportThatFailsInTheMidstIsAnErrorOfTheDevice() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        var limits = HubServer.Limits()
        limits.transferByteCountMax = 6_000_000
        try await RunningServer.serving(hub, limits: limits) { server in
            let phone = try await stores.join(server.invite(), "phone.db")
            try hub.insertLarge(Self.rowCount, byteCount: Self.rowByteCount)
            let proxy = CuttingProxy(to: server.port)
            let transport = try stores.transport(of: phone, to: server, through: proxy)
            let error = await #expect(throws: RemoteError.self) { try await phone.sync(with: transport) }
            #expect(error?.code == .tooLarge)
            #expect(try phone.rows().isEmpty)
            proxy.close()
        }
    }

    @Test func theSizeOfWhatIsStillBeingMadeIsNotKnown() throws {
        var options = HTTPTransport.Options()
        options.transferByteCountMax = 1000
        func code(_ download: Message.Download) -> RemoteError.Code? {
            do {
                try RemoteDownload.check(download, options)
                return nil
            } catch {
                return (error as? RemoteError)?.code
            }
        }
        #expect(code(.init(download: "00", byteCount: 1001, rowCount: 1, isOpen: true)) == nil)
        #expect(code(.init(download: "00", byteCount: 1001, rowCount: 1)) == .tooLarge)
        #expect(code(.init(download: "00", byteCount: -1, rowCount: 1, isOpen: true)) == .malformed)
        #expect(code(.init(download: "no", byteCount: 1, rowCount: 1)) == .malformed)
    }

    @Test func anUploadThatIsRefusedEndsTheExport() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(server.invite(isReadOnly: true), "phone.db")
            try phone.insertLarge(Self.rowCount, byteCount: Self.rowByteCount)
            let proxy = CuttingProxy(to: server.port)
            let transport = try stores.transport(of: phone, to: server, through: proxy)
            let error = await #expect(throws: RemoteError.self) { try await phone.push(to: transport) }
            #expect(error?.code == .readOnlyDevice)
            #expect(try hub.rows().isEmpty)
            proxy.close()
        }
    }
}
