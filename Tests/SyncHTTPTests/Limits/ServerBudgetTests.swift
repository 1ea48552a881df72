import Foundation
import Logging
import NIOCore
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP
@testable import SyncWire

/// What one stranger, or one device, can take of what a server has for all.
@Suite struct ServerBudgetTests {
    @Test func anAddressThatComesTooOftenLeavesOthersTheirTurn() throws {
        let rates = AddressRates(perSecond: 0.000_1, "too often")
        let (first, second) = (
            try SocketAddress(ipAddress: "10.0.0.1", port: 1),
            try SocketAddress(ipAddress: "10.0.0.2", port: 1)
        )
        #expect(throws: RemoteError.self) { for _ in 0..<10 { try rates.take(first) } }
        // The burst is ten times as much as a second lets through: nothing here.
        let generous = AddressRates(perSecond: 0.5, "too often")
        #expect(throws: RemoteError.self) { for _ in 0..<10 { try generous.take(first) } }
        try generous.take(second)
        #expect(throws: RemoteError.self) { try generous.take(first) }
    }

    @Test func whoTriesManyLinksToThePageLeavesOthersTheirTurn() throws {
        let console = try ConsoleResponder(
            [], limits: HubServer.Limits(), isEncrypted: true, logger: Logger(label: "test"),
            milliseconds: { 0 })
        let first = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
        var refused = 0
        for _ in 0..<1000 {
            do {
                try console.countStranger(first)
            } catch let error as RemoteError where error.code == .busy {
                refused += 1
            }
        }
        #expect(refused > 0)
        try console.countStranger(SocketAddress(ipAddress: "10.0.0.2", port: 1))
    }

    @Test func anAddressIsOneHoweverItIsWritten() throws {
        func name(_ text: String) throws -> String {
            AddressRates.name(try SocketAddress(ipAddress: text, port: 443))
        }
        #expect(try name("2001:db8::1") == name("2001:db8::ffff:2"))
        #expect(try name("2001:db8::1") != name("2001:db8:0:1::1"))
        #expect(try name("::ffff:10.0.0.1") == name("10.0.0.1"))
    }

    @Test func manyAddressesAreNotRememberedForEver() throws {
        let rates = AddressRates(perSecond: 1, "too often")
        for number in 0..<(3 * AddressRates.addressCountMax) {
            try rates.take(
                SocketAddress(ipAddress: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", port: 1))
        }
        #expect(rates.addressCount <= AddressRates.addressCountMax)
    }

    @Test func bodiesOfOneSessionAndOfAllAreBounded() throws {
        let budget = BodyBudget()
        try budget.take(BodyBudget.deviceByteCountMax, of: [1])
        #expect(throws: RemoteError.self) { try budget.take(1, of: [1]) }
        try budget.take(1, of: [2])
        budget.release(BodyBudget.deviceByteCountMax, of: [1])
        budget.release(1, of: [2])
        #expect(budget.byteCount == 0)
        let sessions = BodyBudget.byteCountMax / BodyBudget.deviceByteCountMax
        for session in 0..<sessions {
            try budget.take(BodyBudget.deviceByteCountMax, of: [UInt8(session)])
        }
        #expect(throws: RemoteError.self) { try budget.take(BodyBudget.deviceByteCountMax, of: [99]) }
    }

    @Test func aBodyCountsUntilItsRequestIsAnswered() throws {
        let budget = BodyBudget()
        let held = HeldBody(budget)
        try held.take(5, of: [1])
        try held.take(7, of: [1])
        #expect(throws: RemoteError.self) { try held.take(BodyBudget.deviceByteCountMax, of: [1]) }
        #expect(budget.byteCount == 12)
        held.release()
        held.release()
        #expect(budget.byteCount == 0)
    }

    @Test func whatWaitsToBeFetchedIsBoundedOfOneDeviceAndOfAll() throws {
        let unit: Int64 = 64 << 20
        let budget = DownloadBudget(byteCountMax: 4 * unit, downloadByteCountMax: unit)
        try budget.share(of: 1).take(2 * unit)
        #expect(throws: RemoteError.self) { try budget.share(of: 1).take(1) }
        try budget.share(of: 2).take(2 * unit)
        let error = #expect(throws: RemoteError.self) { try budget.share(of: 3).take(1) }
        #expect(error?.code == .busy && budget.byteCount == 4 * unit)
        budget.share(of: 1).release(unit)
        try budget.share(of: 3).take(unit)
        #expect(throws: RemoteError.self) { try budget.share(of: 1).take(1) }
        // However little room there is, one download has some, and no number overflows.
        try DownloadBudget(byteCountMax: 0, downloadByteCountMax: .max).share(of: 1).take(.max)
    }

    @Test func aSpoolCountsUntilItIsGone() throws {
        let budget = DownloadBudget(byteCountMax: 10, downloadByteCountMax: 10)
        let ten = [UInt8](repeating: 0, count: 10)
        var spool: ByteSpool? = try ByteSpool(
            folder: NSTemporaryDirectory(), byteCountMax: 10, share: budget.share(of: 1))
        try ten.withUnsafeBytes { try spool?.append($0) }
        let other = try ByteSpool(
            folder: NSTemporaryDirectory(), byteCountMax: 10, share: budget.share(of: 2))
        #expect(throws: RemoteError.self) { try ten.withUnsafeBytes { try other.append($0) } }
        #expect(budget.byteCount == 10 && other.byteCount == 0)
        spool = nil
        #expect(budget.byteCount == 0)
        try ten.withUnsafeBytes { try other.append($0) }
        #expect(budget.byteCount == 10)
    }

    @Test func aDeviceHasFewDownloadsMadeAtATime() throws {
        let budget = DownloadBudget(byteCountMax: 10, downloadByteCountMax: 10)
        for _ in 0..<DownloadBudget.makingCountMax { try budget.beginMaking(for: 1) }
        let error = #expect(throws: RemoteError.self) { try budget.beginMaking(for: 1) }
        #expect(error?.code == .busy)
        try budget.beginMaking(for: 2)
        budget.endMaking(for: 1)
        try budget.beginMaking(for: 1)
    }

    @Test func theOldestAnswerOfADeviceThatFetchesManyTimesAtOnceEnds() {
        let reads = DownloadReads()
        let numbers = Mutex<[Int]>([])
        let note: @Sendable (Int) -> Void = { number in numbers.withLock { $0.append(number) } }
        let ended: () -> [Int] = { numbers.withLock { $0 } }
        let most = DownloadReads.deviceCountMax
        var answers = (0..<most).map { number in reads.begin(for: 1) { note(number) } }
        #expect(ended().isEmpty && reads.count(of: 1) == most)
        // Another device takes nobody's place.
        let other = reads.begin(for: 2) { note(-1) }
        #expect(ended().isEmpty)
        answers.append(reads.begin(for: 1) { note(most) })
        #expect(ended() == [0] && reads.count(of: 1) == most)
        // One that is over makes room, and one whose place was taken has none any more.
        answers[1].end()
        answers[0].end()
        answers[1].end()
        #expect(reads.count(of: 1) == most - 1)
        answers.append(reads.begin(for: 1) { note(most + 1) })
        #expect(ended() == [0])
        // Those that nothing sends any more are over, whether or not their bodies began.
        answers.removeAll()
        other.end()
        #expect(reads.count(of: 1) == 0 && reads.count(of: 2) == 0 && ended() == [0])
    }

    @Test func anAnswerThatIsOverIsNotEnded() {
        let count = Mutex(0)
        let removalCount: () -> Int = { count.withLock { $0 } }
        let place = DownloadReads.Place { count.withLock { $0 += 1 } }
        // It ends after its place was taken, and before its connection is closed for that.
        place.leave()
        place.remove()
        #expect(removalCount() == 0)
        let other = DownloadReads.Place { count.withLock { $0 += 1 } }
        for _ in 0..<2 { other.remove() }
        #expect(removalCount() == 1)
    }

    @Test func aBodyThatBeginsWithNoHeaderIsCutNoFurther() {
        // What follows the first frame is of a type that there isn't.
        let error = #expect(throws: WireError.self) {
            _ = try BundleFrames([2, 0, 0, 0, 0, 99, 0, 0, 0, 0])
        }
        #expect(error?.code == .malformed)
        #expect(throws: WireError.self) { _ = try BundleFrames([]) }
    }

    /// A chunk that goes on in the next one.
    private func chunk(_ number: Int, _ body: [UInt8] = [0], codec: ChunkCodec = .plain) -> [UInt8] {
        func bytes(_ number: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) }
        }
        let prefix = bytes(number) + [ChunkLayout.continued, codec.rawValue]
        var hash = BundleHash()
        let digest = prefix.withUnsafeBytes { prefix in
            body.withUnsafeBytes { Array(hash.addChunk(prefix: prefix, body: $0)) }
        }
        let payload = prefix + digest + body
        return [Frame.Kind.chunk.rawValue] + bytes(payload.count) + payload
    }

    @Test func aBundleInOneRequestHasNoMoreChunksThanItsBytesNeed() throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let store = try HubStore(
            hub, limits: .init(), logger: Logger(label: "test"), metrics: ServerMetrics())
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let link = try store.register.invite(label: "phone", address: address)
        let key = DeviceKey().publicKey
        let replica = ReplicaID(high: 77, low: 1)
        try store.register.bind(store.register.enrol(key: key, secret: link.secret), to: replica)
        let header = BundleHeader(
            store: try hub.identity().store, sender: replica, base: VersionVector(),
            target: VersionVector([replica: 1]), replicas: [replica], tables: [], facts: ReplicaFacts())
        var ends: [[UInt8]] = []
        var writer = try BundleWriter(header: header) { ends.append(Array($0)) }
        try writer.finish()
        func body(_ chunks: [[UInt8]]) -> [UInt8] { ends[0] + Array(chunks.joined()) + ends[1] }
        #expect(ends.count == 2)
        let tiny = (0..<1025).map { chunk($0) }
        try BundleFrames(body(Array(tiny.dropLast()))).requireFewChunks(ofBytes: .max)
        let device = try store.register.admitted(key: key)
        let error = #expect(throws: WireError.self) {
            try store.beginUpload(body(tiny), applies: true, from: device)
        }
        #expect(error?.code == .tooLarge)
        // Chunks that say that they have 65 MiB together, before compression, may be 1,040.
        let large = (960..<1025).map { chunk($0, [0, 0, 16, 0, 0], codec: .deflate) }
        let frames = try BundleFrames(body(Array(tiny.prefix(960)) + large))
        try frames.requireFewChunks(ofBytes: .max)
        #expect(throws: WireError.self) { try frames.requireFewChunks(ofBytes: 64 << 20) }
    }

    @Test func whatOthersWroteIsOneLineInALog() {
        #expect(LogText.printable("a\nb\u{1B}[31m\u{202E}c\u{7F}") == "a\\u{a}b\\u{1b}[31m\\u{202e}c\\u{7f}")
        #expect(LogText.printable("Ärzte 1") == "Ärzte 1")
        #expect(LogText.printable(String(repeating: "x", count: 5000)).count == 1001)
    }

    @Test(arguments: [
        ("localhost:7443", true), ("127.0.0.1", true), ("[::1]:80", true), ("evil.example:7443", false),
        ("127.0.0.1.evil.example", false),
    ])
    func metricsAreForTheNamesOfThisMachine(host: String, isOwn: Bool) {
        #expect(LocalRequest.isLoopbackAuthority(host) == isOwn)
    }

    @Test func storesAreLookedAtOnceASecondHoweverManyAsk() async throws {
        let clock = Mutex<Int64>(5_000)
        let readiness = Readiness(milliseconds: { clock.withLock { $0 } })
        var looks = 0
        for _ in 0..<5 { try await readiness.check { looks += 1 } }
        clock.withLock { $0 = 5_999 }
        try await readiness.check { looks += 1 }
        #expect(looks == 1)
        clock.withLock { $0 = 6_000 }
        for _ in 0..<5 {
            await #expect(throws: RemoteError.self) {
                try await readiness.check {
                    looks += 1
                    throw RemoteError(.failed, "a store can't be read")
                }
            }
        }
        #expect(looks == 2)
        // The clock was set back.
        clock.withLock { $0 = 0 }
        try await readiness.check { looks += 1 }
        #expect(looks == 3)
    }

    @Test func sumsOfTrafficStayAtTheirBound() {
        let series = TrafficSeries()
        for _ in 0..<3 { series.count(requests: .max, received: .max, sent: .max) }
        #expect(series.series.allSatisfy { $0.received.max() == .max })
    }
}
