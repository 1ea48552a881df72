import Foundation
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import SyncRelay

@Suite struct RelayWatchTests {
    private let channel = RelayChannel.random()
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")

    private func mailbox(_ client: RelayClient) async throws -> RelayMailbox {
        try await blocking { [channel] in
            try client.make(channel)
            return RelayMailbox(channel, client: client)
        }
    }

    private func write(_ mailbox: RelayMailbox, _ byte: UInt8) async throws {
        try await blocking { [path] in
            try mailbox.write(path, replacing: true) { try $0(Data([byte])) }
        }
    }

    @Test func eachChangeIsTold() async throws {
        let relay = try await LoopbackRelay()
        let mailbox = try await mailbox(relay.client())
        _ = try await blocking { try mailbox.folders() }
        var moments = mailbox.watch().makeAsyncIterator()
        for number in 1...5 {
            try await write(mailbox, UInt8(number))
            // Several changes may be told as one.
            var told: RelayPosition = 0
            while told < Int64(number) { told = try #require(try await moments.next()).position }
        }
    }

    @Test func whatChangedBeforeIsToldAtOnce() async throws {
        let relay = try await LoopbackRelay()
        let mailbox = try await mailbox(relay.client())
        try await write(mailbox, 1)
        let other = try #require(try await RelayWatch(channel, client: relay.client()).first { _ in true })
        #expect(other.position == 1)
        // Another epoch is told, too.
        let former = RelayMoment(epoch: .random(), position: 1)
        let told = try await RelayWatch(channel, client: relay.client(), after: former).first { _ in true }
        #expect(told == other)
    }

    @Test func aRelayThatIsStartedAgainIsWatchedAgain() async throws {
        let first = try await LoopbackRelay(.init(port: LoopbackPort.lasting()))
        let mailbox = try await mailbox(first.client(attempts: 1))
        try await write(mailbox, 1)
        _ = try await blocking { try mailbox.folders() }
        let failures = Mutex(0)
        let (connections, told) = AsyncStream.makeStream(of: Void.self)
        var options = RelayWatch.Options()
        (options.pauseSeconds, options.pauseSecondsMax) = (0.01, 0.05)
        options.onConnection = { told.yield() }
        options.onFailure = { _, _ in failures.withLock { $0 += 1 } }
        let watch = mailbox.watch(options)
        let watching = Task { try await watch.first { $0.position == 2 } }
        var connected = connections.makeAsyncIterator()
        await connected.next()
        let (file, port) = (first.file, first.address.port)
        await first.stop()
        try await LoopbackPort.waitUntilFree(port)
        let second = try await LoopbackRelay(.init(port: port), file: file)
        #expect(second.address == first.address)
        await connected.next()
        try await write(mailbox, 2)
        #expect(try await watching.value?.position == 2)
        withExtendedLifetime(second) {}
    }

    @Test func aKeyThatTheRelayDoesNotKnowEndsIt() async throws {
        let relay = try await LoopbackRelay()
        let error = await #expect(throws: RelayError.self) {
            for try await _ in RelayWatch(channel, client: relay.client()) {}
        }
        #expect(error?.code == .unauthorized)
    }

    @Test func aTaskThatIsCancelledEndsIt() async throws {
        let relay = try await LoopbackRelay()
        let mailbox = try await mailbox(relay.client())
        let (connections, told) = AsyncStream.makeStream(of: Void.self)
        var options = RelayWatch.Options()
        options.onConnection = { told.yield() }
        let watch = mailbox.watch(options)
        let watching = Task { for try await _ in watch {} }
        var connected = connections.makeAsyncIterator()
        await connected.next()
        watching.cancel()
        await #expect(throws: CancellationError.self) { try await watching.value }
    }
}
