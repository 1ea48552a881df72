import SyncRelay
import Synchronization
import Testing

@testable import syncctl

/// What becomes of the live updates of a relay that refuses them.
@Suite struct RelayFeedTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private func report(_ feed: RelayFeed) throws {
        try feed.report(onConnection: {}, onFailure: { _, _ in })
    }

    @Test func aRefusalIsReportedOnceAndTheNextStartListensAgain() async throws {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
        let counter = Counter()
        let epoch = RelayEpoch(bytes: [UInt8](repeating: 1, count: 16))
        let moment = RelayMoment(epoch: try #require(epoch), position: 7)
        let feed = RelayFeed(
            known: { nil }, wake: { continuation.yield() },
            listening: { _, tell in
                guard counter.next() > 1 else { throw RelayError(.failed, "there is no room for a watch") }
                tell(moment)
            })
        var iterator = wakes.makeAsyncIterator()
        feed.start()
        _ = await iterator.next()
        #expect(throws: RelayError.self) { try report(feed) }
        try report(feed)
        #expect(!feed.hasNews())
        feed.start()
        _ = await iterator.next()
        #expect(feed.hasNews())
        try report(feed)
    }

    @Test func aRelayThatRefusesAgainIsLeftAloneForAWhile() async throws {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
        let counter = Counter()
        let feed = RelayFeed(
            known: { nil }, wake: { continuation.yield() },
            listening: { _, _ in
                _ = counter.next()
                throw RelayError(.failed, "there is no room for a watch")
            })
        var iterator = wakes.makeAsyncIterator()
        for _ in 0..<2 {
            feed.start()
            _ = await iterator.next()
            #expect(throws: RelayError.self) { try report(feed) }
        }
        feed.start()
        feed.stop()
        try report(feed)
        #expect(counter.next() == 3)
    }
}
