import Dispatch
import Foundation
import SyncEngine
import SyncRelay

/// Measures what requests cost a relay, by asking one for many of each kind over TLS on this machine.
enum Measurement {
    private static let folder = String(repeating: "0a", count: 16)
    private static let threadCount = 8
    private static let watchCount = 500

    /// Does what the arguments say, if they name the other role.
    ///
    /// - returns: The exit code.
    static func role(_ arguments: [String]) -> Int32? {
        guard arguments.count == 2, arguments[0] == RelayProcess.word else { return nil }
        do {
            try RelayProcess.serve(arguments[1])
            return 0
        } catch {
            FileHandle.standardError.write(Data("relay: error: \(error)\n".utf8))
            return 1
        }
    }

    static func run(count: Int) throws -> ServiceTimes {
        let place = FileManager.default.currentDirectoryPath + "/relay-scale-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let relay = try RelayProcess(folder: place)
        let channel = RelayChannel.random()
        let client = RelayClient(relay.address)
        try client.make(channel)
        var times = ServiceTimes()
        let state = try each(count, relay) { _ in _ = try client.state(of: channel) }
        let address = relay.address
        let connections = try each(max(100, count / 10), relay) { _ in
            _ = try RelayClient(address).state(of: channel)
        }
        times.connection = max(0, connections - state)
        let mailbox = RelayMailbox(channel, client: client)
        _ = try mailbox.folders()
        times.listing = try each(count, relay) { _ in _ = try mailbox.folders() }
        times.writing = try each(count, relay) { number in
            try mailbox.write(path(number), replacing: false) { try $0(Data(count: 600)) }
        }
        // One after the other, a write waits for the disk, and a listing does not.
        let writing = try alone {
            try mailbox.write(path(2_000_000 + $0), replacing: false) { try $0(Data(count: 600)) }
        }
        times.commit = max(0, writing - (try alone { _ in _ = try client.state(of: channel) }))
        _ = try mailbox.folders()
        times.reading = try each(count, relay) { number in
            _ = try mailbox.open(path(number)).read(upTo: 1 << 20)
        }
        try watches(relay, channel, client, mailbox, &times)
        return times
    }

    private static func path(_ number: Int) -> MailboxPath {
        MailboxPath(folder: folder, name: String(format: "%016d-00112233445566ff.bundle", number))
    }

    /// The processor time of the relay for one call, in milliseconds.
    private static func each(
        _ count: Int, _ relay: RelayProcess, _ body: @escaping @Sendable (Int) throws -> Void
    ) throws -> Double {
        let before = try relay.usage()
        let problems = DispatchQueue(label: "problems")
        nonisolated(unsafe) var problem: (any Error)?
        DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
            do {
                for number in stride(from: thread, to: count, by: threadCount) { try body(number) }
            } catch {
                problems.sync { problem = error }
            }
        }
        if let problem { throw problem }
        return try (relay.usage().processorSeconds - before.processorSeconds) / Double(count) * 1000
    }

    /// How long one call takes that has the relay for itself, in milliseconds.
    private static func alone(_ body: (Int) throws -> Void) rethrows -> Double {
        let count = 200
        let begin = ContinuousClock.now
        for number in 0..<count { try body(number) }
        return (ContinuousClock.now - begin) / .milliseconds(1) / Double(count)
    }

    /// What watches cost: to open, to keep, and to tell.
    private static func watches(
        _ relay: RelayProcess, _ channel: RelayChannel, _ client: RelayClient, _ mailbox: RelayMailbox,
        _ times: inout ServiceTimes
    ) throws {
        let address = relay.address
        let (before, opened) = (try relay.usage(), DispatchSemaphore(value: 0))
        let told = DispatchSemaphore(value: 0)
        let tasks = (0..<watchCount).map { _ in
            Task {
                var isFirst = true
                // Each has a connection of its own, as a device has.
                for try await _ in RelayWatch(channel, client: RelayClient(address)) {
                    (isFirst ? opened : told).signal()
                    isFirst = false
                }
            }
        }
        defer { for task in tasks { task.cancel() } }
        for _ in tasks { opened.wait() }
        let open = try relay.usage()
        let each = (open.processorSeconds - before.processorSeconds) / Double(watchCount) * 1000
        times.watch = max(0, each - times.connection)
        times.watchKilobytes =
            (open.residentMegabytes - before.residentMegabytes) / Double(watchCount) * 1024
        let changes = 20
        for number in 0..<changes {
            try mailbox.write(path(1_000_000 + number), replacing: false) { try $0(Data(count: 600)) }
            for _ in tasks { told.wait() }
        }
        let all = try relay.usage().processorSeconds - open.processorSeconds
        times.line = max(0, all * 1000 - Double(changes) * times.writing) / Double(changes * watchCount)
    }
}
