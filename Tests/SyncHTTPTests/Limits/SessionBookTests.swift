import SyncEngine
import TestSupport
import Testing

@testable import SyncHTTP

@Suite(.anyEngine) struct SessionBookTests {
    private let clock = TestClock()
    private var book: SessionBook {
        SessionBook(milliseconds: clock.environment.milliseconds, countMax: 2)
    }
    private let store = StoreID(high: 1, low: 2)

    private func code(_ body: () throws -> Void) -> RemoteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RemoteError)?.code
        }
    }

    @Test func aChallengeIsAnsweredOnceAndInTime() throws {
        let book = book
        let challenge = book.challenge()
        #expect(challenge.count == SessionBook.challengeByteCount)
        try book.check(challenge)
        try book.answer(challenge)
        #expect(code { try book.answer(challenge) } == .invalidSignature)
        let late = book.challenge()
        clock.advance(milliseconds: SessionBook.challengeMilliseconds)
        #expect(code { try book.check(late) } == .sessionEnded)
    }

    @Test func aChallengeOfAnotherServerOrWithAnotherTimeIsRefused() {
        let book = book
        #expect(code { try book.check(self.book.challenge()) } == .sessionEnded)
        var challenge = book.challenge()
        challenge[7] ^= 1
        #expect(code { try book.check(challenge) } == .sessionEnded)
        #expect(code { try book.check([]) } == .sessionEnded)
    }

    @Test func theNumbersOfASessionCountUp() throws {
        let book = book
        let session = book.open(store: store, key: [1])
        try book.accept(1, of: session)
        try book.accept(5, of: session)
        #expect(code { try book.accept(5, of: session) } == .invalidSignature)
        #expect(code { try book.accept(2, of: session) } == .invalidSignature)
        #expect(code { try book.accept(0, of: session) } == .invalidSignature)
    }

    @Test func aSessionEndsWhenItIsNotUsedAndTheOldestMakesRoom() throws {
        let book = book
        let first = book.open(store: store, key: [1])
        clock.advance(milliseconds: 1)
        let second = book.open(store: store, key: [2])
        clock.advance(milliseconds: 1)
        let third = book.open(store: store, key: [3])
        #expect(code { _ = try book.session(first.token) } == .sessionEnded)
        _ = try book.session(second.token)
        clock.advance(milliseconds: SessionBook.idleMilliseconds - 1)
        #expect(code { _ = try book.session(second.token) } == .sessionEnded)
        try book.accept(1, of: third)
        clock.advance(milliseconds: SessionBook.idleMilliseconds - 1)
        _ = try book.session(third.token)
    }

    @Test func aRateLimitLetsABurstThroughAndNoMore() {
        let limit = RateLimit(perSecond: 0.001, burst: 3, "too many")
        for _ in 0..<3 { #expect(code { try limit.take() } == nil) }
        #expect(code { try limit.take() } == .busy)
    }
}
