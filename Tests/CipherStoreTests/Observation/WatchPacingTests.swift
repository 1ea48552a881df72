import Testing

@testable import CipherStore

/// When a watch of commits looks next.
struct WatchPacingTests {
    private static let nothing = WatchPacing.Look(hadEvent: false, foundCommit: false)
    private static let event = WatchPacing.Look(hadEvent: true, foundCommit: false)
    private static let commit = WatchPacing.Look(hadEvent: true, foundCommit: true)
    private static let missed = WatchPacing.Look(hadEvent: false, foundCommit: true)

    /// A watch that found nothing for so long that it rests.
    private func rested(hasEvents: Bool) -> WatchPacing {
        var pacing = WatchPacing(hasEvents: hasEvents)
        var time = 0
        repeat { time += pacing.next(after: Self.nothing) } while time < 2 * WatchPacing.activeTime
        return pacing
    }

    @Test func itLooksAgainSoonAfterAnEventBecauseTheCommitIsSeenLater() {
        var pacing = rested(hasEvents: true)
        #expect(pacing.waitsForEvents)
        #expect(pacing.next(after: Self.event) == 10)
        #expect(!pacing.waitsForEvents)
        #expect((0..<6).map { _ in pacing.next(after: Self.nothing) } == [20, 40, 80, 100, 100, 100])
    }

    @Test(arguments: [true, false]) func noPauseOfAnActiveWatchIsLongerThanATenthOfASecond(hasEvents: Bool) {
        var pacing = WatchPacing(hasEvents: hasEvents)
        var time = 0
        while time < WatchPacing.activeTime - WatchPacing.pauseMax {
            let pause = pacing.next(after: Self.nothing)
            #expect(pause <= WatchPacing.pauseMax)
            time += pause
        }
    }

    @Test func itRestsWhenNothingHappensAndLooksOnceASecond() {
        var pacing = rested(hasEvents: true)
        #expect(pacing.waitsForEvents)
        #expect(pacing.next(after: Self.nothing) == 1000)
    }

    @Test func withoutEventsItLooksTenTimesASecond() {
        var pacing = rested(hasEvents: false)
        #expect(!pacing.waitsForEvents)
        #expect(pacing.next(after: Self.nothing) == 100)
    }

    @Test func eventsAreTrustedNoMoreWhenCommitsComeWithoutThem() {
        var pacing = rested(hasEvents: true)
        for _ in 0..<WatchPacing.missCountMax {
            #expect(pacing.hasEvents)
            _ = pacing.next(after: Self.missed)
            while !pacing.waitsForEvents && pacing.hasEvents { _ = pacing.next(after: Self.nothing) }
        }
        #expect(!pacing.hasEvents)
    }

    @Test func aCommitWithAnEventForgivesThoseWithout() {
        var pacing = rested(hasEvents: true)
        for look in [Self.missed, Self.missed, Self.commit, Self.missed, Self.missed] {
            _ = pacing.next(after: look)
            while !pacing.waitsForEvents && pacing.hasEvents { _ = pacing.next(after: Self.nothing) }
        }
        #expect(pacing.hasEvents)
    }
}
