import SyncRelay
import Testing

/// Looks at the certificate of somebody who is not trusted.
@Suite struct ShownCertificateTests {
    @Test func whoCancelsDoesNotWaitForACertificateToCompare() async throws {
        let server = try await ClosingServer(isSilent: true)
        try await blocking {
            let start = ContinuousClock.now
            #expect(throws: CancellationError.self) {
                // The connection comes about first: on loopback that takes no time.
                _ = try server.address.shownCertificate {
                    if ContinuousClock.now - start > .milliseconds(300) { throw CancellationError() }
                }
            }
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    @Test func whoeverShowsNoneIsNoError() async throws {
        let server = try await ClosingServer()
        try await blocking {
            let shown = try server.address.shownCertificate()
            #expect(shown == nil)
        }
    }
}
