import ServiceLifecycle
import Synchronization

/// What one client waits for.
///
/// What is to be said is kept here, and the stream only says that there is something: a client that reads slowly gets the
/// last moment, and a sign of life never takes its place.
final class ServedWatch: Sendable {
    /// What is to be said.
    struct News: Equatable {
        var moment: RelayMoment?
        var isBeat = false
        var isEnd = false
    }

    /// Gives a value when there are news, and ends never by itself.
    let wakes: AsyncStream<Void>
    let opened: ContinuousClock.Instant
    private let continuation: AsyncStream<Void>.Continuation
    private let news = Mutex(News())

    init(opened: ContinuousClock.Instant) {
        self.opened = opened
        (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes what is to be said now.
    func take() -> News {
        news.withLock { news in
            defer { news = News(isEnd: news.isEnd) }
            return news
        }
    }

    /// Tells how the channel stood when the watch was opened, unless a change was told meanwhile, which is later.
    func begin(at moment: RelayMoment) { change { $0.moment = $0.moment ?? moment } }

    func tell(_ moment: RelayMoment) { change { $0.moment = moment } }
    func beat() { change { $0.isBeat = true } }
    func end() { change { $0.isEnd = true } }

    private func change(_ body: (inout News) -> Void) {
        news.withLock { body(&$0) }
        continuation.yield()
    }
}

/// The watches that are open.
final class RelayWatches: Sendable {
    /// Whom a watch counts for.
    struct Owner: Sendable {
        let address: String
        let channel: RelayChannelID
    }

    private struct State {
        var watches: [Int64: ServedWatch] = [:]
        var owners: [Int64: Owner] = [:]
        var addressCounts: [String: Int] = [:]
        var channelCounts: [RelayChannelID: Int] = [:]
        var lastNumber: Int64 = 0
        var isClosing = false

        mutating func count(_ owner: Owner, by change: Int) {
            let address = (addressCounts[owner.address] ?? 0) + change
            addressCounts[owner.address] = address > 0 ? address : nil
            let channel = (channelCounts[owner.channel] ?? 0) + change
            channelCounts[owner.channel] = channel > 0 ? channel : nil
        }

        mutating func remove(_ number: Int64) -> ServedWatch? {
            if let owner = owners.removeValue(forKey: number) { count(owner, by: -1) }
            return watches.removeValue(forKey: number)
        }
    }

    let limits: RelayServer.Limits
    private let state = Mutex(State())

    init(limits: RelayServer.Limits) { self.limits = limits }

    /// How many there are.
    var count: Int { state.withLock { $0.watches.count } }

    /// Why a relay that ends takes no watch any more.
    static let ending = RelayProblem(.unavailable, "the relay is ending")

    /// Opens a watch.
    ///
    /// - parameters:
    ///     - owner: Whom it counts for; nil for all together.
    ///     - now: The time.
    /// - throws: ``RelayProblem`` of code `unavailable` when there are too many, or the relay ends.
    func open(
        for owner: Owner? = nil, at now: ContinuousClock.Instant = .now
    ) throws -> (number: Int64, watch: ServedWatch) {
        try state.withLock { state in
            guard !state.isClosing else { throw Self.ending }
            guard state.watches.count < limits.watchCountMax else {
                throw RelayProblem(
                    .unavailable, "as many clients wait for changes as may; try again later", retrySeconds: 30
                )
            }
            if let owner {
                try requireRoom(for: owner, state)
                state.count(owner, by: 1)
                state.owners[state.lastNumber + 1] = owner
            }
            state.lastNumber += 1
            let watch = ServedWatch(opened: now)
            state.watches[state.lastNumber] = watch
            return (state.lastNumber, watch)
        }
    }

    /// One address, or those who have the token of one channel, do not keep all others from waiting.
    private func requireRoom(for owner: Owner, _ state: State) throws {
        guard state.addressCounts[owner.address] ?? 0 < limits.addressWatchCountMax else {
            throw RelayProblem(
                .unavailable, "as many clients of this address wait for changes as may; try again later",
                retrySeconds: 30)
        }
        guard state.channelCounts[owner.channel] ?? 0 < limits.channelWatchCountMax else {
            throw RelayProblem(
                .unavailable, "as many clients wait for changes of the channel as may; try again later",
                retrySeconds: 30)
        }
    }

    /// Forgets a watch whose client is gone, and ends it.
    func close(_ number: Int64) { state.withLock { $0.remove(number) }?.end() }

    /// Ends those that have lasted long enough, and tells the others that the relay is alive.
    func beat(at now: ContinuousClock.Instant = .now) {
        for watch in state.withLock({ Array($0.watches.values) }) {
            if (now - watch.opened) / .seconds(1) >= limits.watchSeconds {
                watch.end()
            } else {
                watch.beat()
            }
        }
    }

    /// Ends all, and opens none any more.
    func endAll() {
        let watches = state.withLock { state in
            state.isClosing = true
            return Array(state.watches.values)
        }
        for watch in watches { watch.end() }
    }
}

/// Does what is due from time to time, and ends the watches when the relay ends.
struct RelayClock: Service {
    private static let tidySeconds: Double = 60

    let storage: any RelayStorage
    let watches: RelayWatches

    func run() async throws {
        let watches = watches
        await withGracefulShutdownHandler {
            await cancelWhenGracefulShutdown { await tick() }
        } onGracefulShutdown: {
            watches.endAll()
        }
        watches.endAll()
    }

    private func tick() async {
        let seconds = max(0.01, watches.limits.heartbeatSeconds)
        var sinceTidy: Double = 0
        while (try? await Task.sleep(for: .seconds(seconds))) != nil {
            watches.beat()
            sinceTidy += seconds
            guard sinceTidy >= Self.tidySeconds else { continue }
            sinceTidy = 0
            // What can't be tidied now is tidied the next time.
            try? await storage.tidy()
        }
    }
}
