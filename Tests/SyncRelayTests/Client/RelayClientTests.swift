import Foundation
import SyncBucket
import SyncEngine
import Synchronization
import Testing

@testable import SyncRelay

@Suite struct RelayClientTests {
    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")

    /// Lets the first answers be others.
    private func begin(with answers: [Result<RelayAnswer, RelayCarrierFailure>]) {
        let rest = Mutex(answers)
        relay.lie { _, answer in
            let next = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try next?.get() ?? answer
        }
    }

    private static let cut = RelayCarrierFailure(reason: "the connection was cut")

    @Test func whatMayPassIsTriedAgainAndNotBeforeTheRelayWants() throws {
        let sleeps = Sleeps()
        let client = try relay.client(sleeps)
        begin(with: [
            .failure(Self.cut), .success(MemoryRelay.problem(.busy, [("Retry-After", "7")])),
            .success(MemoryRelay.problem(.unavailable, [("Retry-After", "99999999999")])),
            .success(MemoryRelay.problem(.busy, [("Retry-After", "-1")])),
            .success(MemoryRelay.problem(.busy, [("Retry-After", "nan")])),
        ])
        try client.make(channel)
        #expect(sleeps.all == [0, 7, 20, 0, 0] && client.requestCounts.total == 6)
    }

    /// Whoever waits learns why, and what to do.
    @Test func aFullDiskOfTheRelayIsToldFromARelayThatIsBusy() throws {
        let told = Mutex<[String]>([])
        var options = RelayClient.Options()
        options.onRetry = { error, seconds in told.withLock { $0.append("\(error.message), \(Int(seconds))") }
        }
        var retry = RequestRetry(random: { 0 })
        retry.attemptCountMax = 3
        retry.sleep = { _, _ in }
        let client = RelayClient(
            try RelayAddress(host: "relay.example"), options, carrier: relay, retry: retry)
        let full = MemoryRelay.problem(.diskFull, [("Retry-After", "30")])
        begin(with: Array(repeating: .success(full), count: 9))
        let error = #expect(throws: RelayError.self) { try client.make(channel) }
        #expect(error?.code == .unreachable && client.requestCounts.total == 3)
        let words = try #require(error?.message)
        #expect(words.contains("no room on its disk") && words.contains("whoever runs the relay"))
        #expect(told.withLock { $0 } == ["\(words), 20", "\(words), 20"])
        // A program from before sends another kind of problem.
        begin(with: Array(repeating: .success(MemoryRelay.problem(.unavailable)), count: 9))
        let busy = #expect(throws: RelayError.self) { try client.make(channel) }
        #expect(busy?.message.contains("busy") == true)
    }

    /// A relay that hangs is silent before the pause, which may be short.
    @Test func howLongAnAttemptTookThatFailedIsTold() throws {
        let told = Mutex<[(took: Double, pause: Double)]>([])
        var options = RelayClient.Options()
        options.onRetryAfter = { _, took, pause in told.withLock { $0.append((took, pause)) } }
        let retry = RequestRetry(attemptCountMax: 2, sleep: { _, _ in }, random: { 0 })
        let client = RelayClient(
            try RelayAddress(host: "relay.example"), options, carrier: relay, retry: retry)
        relay.lie { _, _ in
            Thread.sleep(forTimeInterval: 0.1)
            throw Self.cut
        }
        #expect(throws: RelayError.self) { try client.make(channel) }
        let all = told.withLock { $0 }
        #expect(all.count == 1 && (all.first?.took ?? 0) >= 0.1 && all.first?.pause == 0)
    }

    @Test func attemptsEnd() throws {
        let client = try relay.client(attempts: 3)
        begin(with: Array(repeating: .failure(Self.cut), count: 9))
        let error = #expect(throws: RelayError.self) { try client.make(channel) }
        #expect(error?.code == .unreachable && client.requestCounts.total == 3)
        let mailbox = RelayMailbox(channel, client: client)
        let unreachable = #expect(throws: MailboxError.self) { try mailbox.folders() }
        #expect(unreachable?.code == .unreachable)
    }

    @Test(arguments: [
        (401, RelayError.Code.unauthorized), (409, .conflict), (507, .full), (413, .full), (418, .failed),
    ])
    func aRefusalIsNotRepeated(status: Int, code: RelayError.Code) throws {
        let client = try relay.client()
        let answer = RelayAnswer(status: status, headers: [], body: Data("<html>secret words</html>".utf8))
        begin(with: [.success(answer)])
        let error = #expect(throws: RelayError.self) { try client.state(of: channel) }
        #expect(error?.code == code && client.requestCounts.total == 1)
        #expect(error?.message.contains("secret words") == false)
    }

    @Test func aFullChannelSaysHowFullItIs() throws {
        let client = try relay.client()
        try client.make(channel)
        let mailbox = RelayMailbox(channel, client: client)
        let problem = RelayProblem(.full, "no", byteCount: 1234, byteCountMax: 1000)
        let answer = try MemoryRelay.document(problem, status: 507)
        relay.lie { request, honest in request.kind == .put ? answer : honest }
        let error = #expect(throws: MailboxError.self) {
            try mailbox.write(path, replacing: true) { try $0(Data([1])) }
        }
        #expect(error?.code == .full && error?.message.contains("1234") == true)
        // Reading and removing go on.
        _ = try mailbox.folders()
        try mailbox.remove(path)
    }

    @Test func aWriteWhoseAnswerWasLostIsOne() throws {
        let mailbox = try relay.mailbox(channel)
        let isLost = Atomic<Bool>(false)
        relay.lie { request, answer in
            guard request.kind == .put, !isLost.exchange(true, ordering: .relaxed) else { return answer }
            throw Self.cut
        }
        try mailbox.write(path, replacing: false) { try $0(Data([1])) }
        #expect(relay.channel.position == 1 && mailbox.requestCounts.put == 2)
        let error = #expect(throws: MailboxError.self) {
            try mailbox.write(path, replacing: false) { try $0(Data([2])) }
        }
        #expect(error?.code == .exists)
    }

    @Test func bytesThatWereDamagedOnTheWayAreSentAgain() throws {
        let mailbox = try relay.mailbox(channel)
        begin(with: [.success(MemoryRelay.problem(.digestMismatch))])
        try mailbox.write(path, replacing: false) { try $0(Data([1])) }
        #expect(relay.channel.files.count == 1)
    }

    @Test func aSynchronizationThatIsCancelledAsksNothingMore() throws {
        let mailbox = try relay.mailbox(channel)
        let cancellation = SyncCancellation()
        let cancelled = mailbox.cancelled(by: cancellation)
        _ = try cancelled.folders()
        let before = mailbox.requestCounts
        cancellation.cancel()
        #expect(throws: CancellationError.self) { try cancelled.folders() }
        #expect(throws: CancellationError.self) { try cancelled.remove(path) }
        #expect((mailbox.requestCounts - before).total == 0)
        _ = try mailbox.folders()
    }

    @Test func aWrongKeyEndsASynchronization() throws {
        let client = try relay.client()
        try client.make(channel)
        let stranger = RelayMailbox(RelayChannel(id: channel.id, key: RelayChannelKey()), client: client)
        let error = #expect(throws: RelayError.self) { try stranger.folders() }
        #expect(error?.code == .unauthorized)
    }

    // MARK: Invitations

    @Test func aLinkLetsOneIn() throws {
        let client = try relay.client()
        try client.make(channel)
        let link = try client.invite(to: channel, seconds: 60)
        #expect(try client.take(link) == channel)
        let error = #expect(throws: RelayError.self) { try client.take(link) }
        #expect(error?.code == .noSuchInvitation && error?.message.contains("used") == true)
        // One that could not be used is given back.
        try client.leave(link, to: channel, seconds: 60)
        #expect(try client.take(link) == channel)
        let other = try client.invite(to: channel, seconds: 60)
        try client.revoke(other, of: channel)
        #expect(throws: RelayError.self) { try client.take(other) }
        for seconds in [0, -1, RelayBounds.invitationSecondsMax + 1, .max] {
            #expect(throws: RelayError.self) { try client.invite(to: channel, seconds: seconds) }
        }
    }

    @Test func whatTheRelayInventsIsNotTaken() throws {
        let client = try relay.client()
        try client.make(channel)
        let link = try client.invite(to: channel, seconds: 60)
        let forged = RelayInvitation(channel: .random(), sealed: Data(count: 100))
        relay.lie { request, answer in
            request.kind == .invitation ? try MemoryRelay.document(forged) : answer
        }
        let error = #expect(throws: RelayError.self) { try client.take(link) }
        #expect(error?.code == .forgedInvitation)
    }

    @Test func nothingThatIsSentHoldsTheKey() throws {
        let client = try relay.client()
        try client.make(channel)
        let link = try client.invite(to: channel, seconds: 60)
        let secret = channel.key.secretText
        #expect(relay.requests.allSatisfy { !$0.contains(secret) })
        let sealed = relay.state.withLock { $0.invitations.values.map(\.sealed) }
        #expect(sealed.count == 1 && sealed[0].range(of: Data(secret.utf8)) == nil)
        let fragment = try #require(link.description.split(separator: "#").last)
        #expect(relay.requests.allSatisfy { !$0.contains(fragment) })
    }
}
