import Foundation
import SyncBucket
import SyncEngine
import Synchronization

@testable import SyncRelay
@testable import SyncTesting

/// A relay in memory in which the stores of a simulated run meet, through the client that apps have.
///
/// Its answers get lost, it has no room, and it is put back and started anew, as any relay is. One that lies answers as it
/// was a while ago, and changes bytes, too.
final class MeetingRelay: MeetingMailbox, RelayCarrier {
    private static let faultRarity = 16

    private struct State {
        var random: SimulationRandom
        var faults: Set<MailboxFault> = []
        var moment = 0
        /// What the channel was, with the moment from which on.
        var former: [(moment: Int, channel: MemoryRelay.Channel)] = []
        var views: [Int: RelayMailbox] = [:]

        mutating func isHit(_ fault: MailboxFault) -> Bool {
            faults.contains(fault) && random.oneIn(MeetingRelay.faultRarity)
        }
    }

    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()
    private let state: Mutex<State>

    init(seed: UInt64) throws {
        state = Mutex(State(random: SimulationRandom(seed: seed)))
        try relay.client().make(channel)
        // Pages are short, so that listings have several.
        relay.state.withLock { $0.pageCount = 7 }
        note()
    }

    // MARK: What processes see

    func mailbox(of machine: Int) throws -> any Mailbox {
        try state.withLock { state in
            var options = RelayMailbox.Options()
            // Some programs keep what they have seen for the next process.
            if machine % 3 > 0 { options.seen = state.views[machine]?.seen }
            var retry = RequestRetry(random: { 0 })
            retry.attemptCountMax = 2
            retry.sleep = { _, check in try check() }
            let client = RelayClient(
                try RelayAddress(host: "relay.example"), .init(), carrier: self, retry: retry)
            let mailbox = RelayMailbox(channel, client: client, options: options)
            state.views[machine] = mailbox
            return mailbox
        }
    }

    func send(_ request: RelayRequest, check: () throws -> Void) throws -> RelayAnswer {
        let (isLost, isFull, old) = state.withLock { state in
            state.moment += 1
            let isFull = request.kind == .put && state.isHit(.fullPlace)
            let lies = request.kind == .list && state.isHit(.damage)
            return (
                state.isHit(.lostCalls), isFull,
                lies ? state.random.element(of: Array(state.former.suffix(8)))?.channel : nil
            )
        }
        if isLost { throw RelayCarrierFailure(reason: "the connection was cut") }
        if isFull { return MemoryRelay.problem(.full) }
        let now = relay.channel
        if let old { relay.channel = old }
        defer { if old != nil { relay.channel = now } }
        let answer = try relay.send(request, check: check)
        if request.method != "GET" { note() }
        return try state.withLock { state in
            if state.isHit(.lostAnswers) { throw RelayCarrierFailure(reason: "the answer was cut") }
            if request.kind == .get, !answer.body.isEmpty, state.isHit(.damage) {
                var body = Array(answer.body)
                body[state.random.number(below: body.count)] ^= 1 << UInt8(state.random.number(below: 8))
                let headers = ["ETag", "Content-Range"].compactMap { name in
                    answer.header(name.lowercased()).map { (name: name, value: $0) }
                }
                return RelayAnswer(status: answer.status, headers: headers, body: Data(body))
            }
            return answer
        }
    }

    // MARK: What is there

    private func note() {
        let channel = relay.channel
        state.withLock { $0.former.append(($0.moment, channel)) }
    }

    func setFaults(_ faults: Set<MailboxFault>) { state.withLock { $0.faults = faults } }

    var moment: Int { state.withLock { $0.moment } }

    func goBack(to moment: Int) {
        state.withLock { state in
            guard var former = state.former.last(where: { $0.moment <= moment })?.channel else { return }
            // A relay that is started anew begins another epoch.
            if !state.random.oneIn(3) { former.epoch = .random() }
            relay.channel = former
        }
        note()
    }

    var paths: [MailboxPath] { relay.channel.files.keys.map { MailboxPath($0) }.sorted { "\($0)" < "\($1)" } }

    func content(of path: MailboxPath) -> Data? { content(of: path, in: relay.channel) }

    private func content(of path: MailboxPath, in channel: MemoryRelay.Channel) -> Data? {
        channel.files.first { MailboxPath($0.key) == path }?.value.content
    }

    func formerContents(of path: MailboxPath) -> [Data] {
        let former = state.withLock { $0.former.map(\.channel) }
        let present = content(of: path)
        return former.compactMap { content(of: path, in: $0) }.filter { $0 != present }
    }

    func setContent(_ content: Data?, of path: MailboxPath) {
        guard let name = try? RelayFileName(folder: path.folder, name: path.name) else { return }
        var channel = relay.channel
        _ = content.map { channel.write(name, $0) } ?? channel.remove(name)
        relay.channel = channel
        note()
    }
}
