import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

@testable import SyncRelay

@Suite struct RelayWatchRequestTests {
    /// Reads the lines of a watch.
    private struct Lines {
        var iterator: HTTPClientResponse.Body.AsyncIterator
        var rest = Data()

        init(_ response: HTTPClientResponse) { iterator = response.body.makeAsyncIterator() }

        /// The next line; nil at the end.
        mutating func next() async throws -> String? {
            while true {
                if let end = rest.firstIndex(of: 0x0A) {
                    defer { rest = Data(rest[(end + 1)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                guard let buffer = try await iterator.next() else { return nil }
                rest += Data(buffer: buffer)
            }
        }

        /// The next moment, whatever signs of life come before it.
        mutating func moment() async throws -> RelayMoment {
            while let line = try await next() {
                if !line.isEmpty { return try RelayJSON.decode(RelayMoment.self, from: Array(line.utf8)) }
            }
            throw RelayProblem(.missing, "the watch has ended")
        }
    }

    private func watch(
        _ relay: RunningRelay, _ channel: TestChannel, _ query: String
    ) async throws -> Lines {
        let response = try await relay.open(.GET, channel.path + "/watch" + query, token: channel.readToken)
        try #require(response.status == .ok)
        #expect(response.headers.first(name: "content-type") == "application/x-ndjson")
        return Lines(response)
    }

    @Test func aWatchTellsOfEachChange() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        for position in 1...3 as ClosedRange<Int64> {
            _ = try await relay.put("a", Data([UInt8(position)]), in: channel)
            #expect(try await lines.moment() == RelayMoment(epoch: epoch, position: position))
        }
        let other = try await relay.channel()
        _ = try await relay.put("a", Data(), in: other)
        _ = try await relay.request(.DELETE, channel.path("a"), token: channel.writeToken)
        #expect(try await lines.moment().position == 4)
    }

    @Test(arguments: [
        "", "?after=5", "?after=0&epoch=EPOCH", "?after=9&epoch=EPOCH",
        "?after=1&epoch=00000000000000000000000000000000",
    ])
    func aWatchTellsAtOnceWhatItsClientDoesNotKnow(_ query: String) async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        _ = try await relay.put("a", Data(), in: channel)
        let epoch = try await relay.storage.state(of: channel.id).epoch
        let text = query.replacingOccurrences(of: "EPOCH", with: epoch.description)
        var lines = try await watch(relay, channel, text)
        #expect(try await lines.moment() == RelayMoment(epoch: epoch, position: 1))
    }

    @Test func manyWatchesAreWoken() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var watches: [Lines] = []
        for _ in 0..<50 { watches.append(try await watch(relay, channel, "?after=0&epoch=\(epoch)")) }
        _ = try await relay.put("a", Data(), in: channel)
        for index in watches.indices { #expect(try await watches[index].moment().position == 1) }
    }

    @Test func aQuietWatchSaysThatItIsAlive() async throws {
        let relay = try await RunningRelay { $0.limits.heartbeatSeconds = 0.02 }
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        for _ in 0..<3 { #expect(try await lines.next()?.isEmpty == true) }
    }

    @Test func aWatchEndsAfterItsTime() async throws {
        let relay = try await RunningRelay {
            $0.limits.heartbeatSeconds = 0.02
            $0.limits.watchSeconds = 0.1
        }
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        while let line = try await lines.next() { #expect(line.isEmpty) }
        // Another one may follow.
        _ = try await relay.put("a", Data(), in: channel)
        var next = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        #expect(try await next.moment().position == 1)
    }

    @Test func aWatchEndsWithItsChannel() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        _ = try await relay.request(.DELETE, channel.path, token: channel.writeToken)
        #expect(try await lines.next() == nil)
    }

    @Test func aWatchWhoseClientIsGoneIsForgotten() async throws {
        let relay = try await RunningRelay { $0.limits.heartbeatSeconds = 0.02 }
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        do {
            _ = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
            #expect(relay.storage.feed.channelCount == 1)
        }
        while relay.storage.feed.channelCount > 0 { await Task.yield() }
    }

    @Test func watchesAreBounded() async throws {
        let relay = try await RunningRelay { $0.limits.watchCountMax = 1 }
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        let lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        let answer = try await relay.request(.GET, channel.path + "/watch", token: channel.readToken)
        #expect(answer.status == 503 && answer.headers["retry-after"] == "30")
        withExtendedLifetime(lines) {}
    }

    @Test(arguments: [true, false]) func watchesOfAnAddressAndOfAChannelAreBounded(_ isOfChannel: Bool)
        async throws
    {
        let relay = try await RunningRelay {
            if isOfChannel { $0.limits.channelWatchCountMax = 1 } else { $0.limits.addressWatchCountMax = 1 }
        }
        let channel = try await relay.channel()
        let other = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        func answer(_ channel: TestChannel) async throws -> HTTPClientResponse {
            try await relay.open(
                .GET, channel.path + "/watch?after=0&epoch=\(epoch)", token: channel.readToken)
        }
        let first = try await answer(channel)
        let second = try await answer(channel)
        let third = try await answer(other)
        #expect(first.status == .ok && second.status == .serviceUnavailable)
        #expect(second.headers.first(name: "retry-after") == "30")
        #expect(third.status == (isOfChannel ? .ok : .serviceUnavailable))
        // Other requests are answered.
        #expect(try await relay.put("a", Data([1]), in: channel).status == 201)
        withExtendedLifetime((first, third)) {}
    }

    @Test func theEndOfARelayEndsItsWatches() async throws {
        let relay = try await RunningRelay()
        let channel = try await relay.channel()
        let epoch = try await relay.storage.state(of: channel.id).epoch
        var lines = try await watch(relay, channel, "?after=0&epoch=\(epoch)")
        await relay.end()
        let line = try? await lines.next()
        #expect(line == nil)
    }

    // MARK: Without a server

    @Test func aSignOfLifeDoesNotTakeThePlaceOfAMoment() throws {
        let watch = ServedWatch(opened: .now)
        let moment = RelayMoment(epoch: .random(), position: 1)
        watch.tell(moment)
        watch.beat()
        #expect(watch.take() == ServedWatch.News(moment: moment, isBeat: true))
        #expect(watch.take() == ServedWatch.News())
        watch.end()
        #expect(watch.take().isEnd && watch.take().isEnd)
    }

    @Test func aChangeThatIsToldWhileAWatchOpensIsNotForgotten() throws {
        let watch = ServedWatch(opened: .now)
        let epoch = RelayEpoch.random()
        let former = RelayMoment(epoch: epoch, position: 5)
        let change = RelayMoment(epoch: epoch, position: 6)
        watch.tell(change)
        watch.begin(at: former)
        #expect(watch.take().moment == change)
        // One to which nothing happened tells how its channel stood.
        let quiet = ServedWatch(opened: .now)
        quiet.begin(at: former)
        #expect(quiet.take().moment == former)
    }

    @Test func watchesLeaveConnectionsForOtherRequests() throws {
        let limits = RelayServer.Limits()
        // 100,000 devices have 45,000 watches, on four relays of which one may be down (docs/deploy.md).
        #expect(limits.watchCountMax * 3 >= 45_000)
        #expect(limits.watchCountMax + 1_000 <= limits.connectionCountMax)
        let watches = RelayWatches(limits: limits)
        for _ in 0..<limits.watchCountMax { _ = try watches.open() }
        #expect(throws: RelayProblem.self) { try watches.open() }
    }

    @Test func watchesThatEndMakeRoomForOthersOfTheirAddressAndChannel() throws {
        var limits = RelayServer.Limits()
        (limits.addressWatchCountMax, limits.channelWatchCountMax) = (2, 3)
        let watches = RelayWatches(limits: limits)
        let channel = RelayChannelID.random()
        func open(_ address: String) throws -> Int64 {
            try watches.open(for: .init(address: address, channel: channel)).number
        }
        for _ in 0..<3 {
            var numbers = [try open("a"), try open("a"), try open("b")]
            #expect(throws: RelayProblem.self) { try open("a") }
            #expect(throws: RelayProblem.self) { try open("c") }
            numbers.append(try watches.open(for: .init(address: "c", channel: .random())).number)
            for number in numbers { watches.close(number) }
        }
    }

    @Test func noWatchIsOpenedAfterTheEnd() throws {
        let watches = RelayWatches(limits: .init())
        let (number, watch) = try watches.open()
        watches.endAll()
        #expect(watch.take().isEnd)
        #expect(throws: RelayProblem.self) { try watches.open() }
        watches.close(number)
        #expect(watches.count == 0)
    }
}
