import CipherStore
import Dispatch
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands
import Synchronization

/// Keeps a store equal with a remote that is no server: another file, a folder, a relay, or a store that ssh reaches.
///
/// Commits to files of this machine are noticed. A folder is listed every two seconds. A store behind ssh is asked
/// twice a minute, because each question is a connection. A relay tells by itself, and is asked all the same once in a
/// while, since it need not tell all.
final class PeerWatch {
    private static let folderSeconds = 2.0
    private static let networkSeconds = 30.0
    private static let relaySeconds = 300.0
    /// How often files of this machine are looked at for commits.
    private static let fileSeconds = 0.1
    /// The longest pause after failures.
    private static let retrySecondsMax = 60.0

    /// What wakes a watch, from whatever thread.
    final class Signal: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let stopped = Atomic<Bool>(false)

        var isStopped: Bool { stopped.load(ordering: .relaxed) }

        /// Says that something changed.
        func wake() { semaphore.signal() }

        /// Ends the watch.
        func stop() {
            stopped.store(true, ordering: .relaxed)
            wake()
        }

        /// Waits for a change. Several are one.
        func wait(seconds: Double) {
            _ = semaphore.wait(timeout: .now() + seconds)
            while semaphore.wait(timeout: .now()) == .success {}
        }
    }

    /// Ends the watch, and wakes it.
    let signal = Signal()
    private let ready: PreparedExchange
    /// What the relay tells, where it is one.
    private let feed: RelayFeed?

    init(_ ready: PreparedExchange) {
        self.ready = ready
        feed = RelayFeed(ready.relay) { [signal] in signal.wake() }
    }

    /// Synchronizes at once, and after changes on either side, until it is stopped.
    ///
    /// - parameters:
    ///   - exchange: Synchronizes once.
    ///   - onConnection: Told that a relay is there again.
    ///   - onFailure: Told what failed and may pass, and in how many seconds it is tried again.
    /// - throws: What would fail again in the same way.
    func run(
        exchange: () throws -> Void, onConnection: () throws -> Void = {},
        onFailure: (Failure, Double) throws -> Void
    ) throws {
        let watchers = watchers()
        defer { for watcher in watchers { watcher.stop() } }
        defer { feed?.stop() }
        var seen: Position?
        var asked = ContinuousClock.now
        var failures = 0
        while !signal.isStopped {
            do {
                let position = try position()
                let isDue = isPolled && ContinuousClock.now - asked >= .seconds(pollSeconds)
                let hasNews = feed?.hasNews() ?? false
                guard position != seen || isDue || hasNews else {
                    signal.wait(seconds: ready.folder == nil ? pollSeconds : Self.folderSeconds)
                    try feed?.report(onConnection: onConnection, onFailure: onFailure)
                    continue
                }
                if hasNews { feed?.settle { signal.wait(seconds: $0) } }
                try exchange()
                feed?.start()
                // What came or was written meanwhile is another position, so it is looked at once more.
                (seen, asked, failures) = (position, .now, 0)
            } catch {
                let failure = Failure(explaining: error)
                if failure.status == .cancelled { return }
                guard failure.mayPass else { throw error }
                failures += 1
                let seconds = min(Self.retrySecondsMax, Double(1 << min(failures, 7)) / 2)
                try onFailure(failure, seconds)
                other = nil
                seen = nil
                _ = Interruption.wait(seconds: Int(seconds.rounded(.up)))
            }
        }
    }

    private func watchers() -> [StoreWatcher] {
        let writer = ready.synchronizer.writer
        let files =
            [(path: writer.path, configuration: writer.configuration)] + (ready.file.map { [$0] } ?? [])
        return files.map { file in
            StoreWatcher(
                path: file.path, configuration: file.configuration, seconds: Self.fileSeconds,
                onChange: { [signal] in signal.wake() })
        }
    }

    // MARK: Positions

    /// Whether the remote has to be asked for changes, because nothing here shows them.
    private var isPolled: Bool { ready.file == nil && ready.folder == nil }

    private var pollSeconds: Double { feed == nil ? Self.networkSeconds : Self.relaySeconds }

    /// What both sides have: another one after each change, and the same after an exchange that found nothing.
    private struct Position: Equatable {
        var known: [VersionVector] = []
        var entries: [Int64] = []
        var members: [MembershipPosition?] = []
        var files: [String] = []
    }

    /// The other store, where it is a file.
    private var other: Synchronizer?

    private func position() throws -> Position {
        var position = Position()
        for synchronizer in try [ready.synchronizer] + otherStore() {
            let reach = try synchronizer.reach()
            position.known.append(reach.known)
            position.entries.append(reach.lastEntry)
            // A removal is to be sent at once, though no row has changed.
            position.members.append(try synchronizer.membership.position())
        }
        if let folder = ready.folder { position.files = Self.listing(folder) }
        return position
    }

    private func otherStore() throws -> [Synchronizer] {
        guard let file = ready.file else { return [] }
        if let other { return [other] }
        let synchronizer = try Synchronizer(
            existing: DatabaseQueue(path: file.path, configuration: file.configuration))
        other = synchronizer
        return [synchronizer]
    }

    /// The files of a folder, with their sizes and times. One that is gone has none.
    private static func listing(_ folder: String) -> [String] {
        let manager = FileManager.default
        return (manager.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted().map { name in
            let attributes = try? manager.attributesOfItem(atPath: folder + "/" + name)
            let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return "\(name) \(attributes?[.size] as? Int ?? 0) \(time)"
        }
    }
}
