import SyncRelay
import Testing

@testable import SyncRelayPostgres

@Suite struct ChannelJobTests {
    private func jobs(_ seconds: [Int], after now: ContinuousClock.Instant) -> [ChannelJob] {
        seconds.map { seconds in
            ChannelJob(
                action: .change([], digests: []), byteCount: 0, deadline: now + .seconds(seconds),
                end: { _ in })
        }
    }

    @Test func jobsThatAreWrittenTogetherEndWithTheEarliest() {
        let now = ContinuousClock.now
        #expect(jobs([9, 2, 5], after: now).deadline == now + .seconds(2))
        #expect(jobs([], after: now).deadline == nil)
    }
}
