import Foundation
import SyncEngine
import Synchronization

/// The files of a ``MemoryMailbox``, with when each machine sees each of their versions.
final class MemoryPlace: Sendable {
    /// How many calls something takes at most to be seen by all.
    private static let latenessMax = 60
    /// One call in so many is lost, and one write in so many finds no room.
    private static let faultRarity = 24

    private struct Version {
        /// The bytes; nil when the file was removed.
        let content: Data?
        let madeAt: Int
        let writer: Int
        /// How many calls later another machine sees it.
        let lateness: [Int]
    }

    private struct State {
        var random: SimulationRandom
        var faults: Set<MailboxFault>
        /// How many calls there were.
        var now = 0
        var files: [MailboxPath: [Version]] = [:]

        mutating func isHit(_ fault: MailboxFault) -> Bool {
            faults.contains(fault) && random.oneIn(MemoryPlace.faultRarity)
        }

        /// What a machine sees of a file.
        func seen(_ path: MailboxPath, from machine: Int, at time: Int) -> Data? {
            guard faults.contains(.lateFiles) else { return files[path]?.last?.content }
            return files[path]?.last { version in
                version.writer == machine
                    || version.madeAt + version.lateness[machine % version.lateness.count] <= time
            }?.content
        }

        mutating func append(_ content: Data?, _ path: MailboxPath, writer: Int) {
            let lateness = (0..<7).map { _ in random.number(below: MemoryPlace.latenessMax) }
            files[path, default: []].append(
                Version(content: content, madeAt: now, writer: writer, lateness: lateness))
        }
    }

    private let state: Mutex<State>

    init(seed: UInt64, faults: Set<MailboxFault>) {
        state = Mutex(State(random: SimulationRandom(seed: seed), faults: faults))
    }

    func setFaults(_ faults: Set<MailboxFault>) { state.withLock { $0.faults = faults } }

    func paths() -> [MailboxPath] {
        state.withLock { state in
            state.files.filter { $0.value.last?.content != nil }.keys.sorted { "\($0)" < "\($1)" }
        }
    }

    func content(of path: MailboxPath) -> Data? { state.withLock { $0.files[path]?.last?.content } }

    func put(_ content: Data?, _ path: MailboxPath) {
        state.withLock { state in
            state.files[path] = [
                Version(content: content, madeAt: state.now, writer: 0, lateness: [0])
            ]
        }
    }

    var moment: Int { state.withLock { $0.now } }

    func goBack(to moment: Int) {
        state.withLock { state in
            for (path, versions) in state.files {
                let former = versions.filter { $0.madeAt <= moment }
                state.files[path] = former.isEmpty ? nil : former
            }
        }
    }

    func formerContents(of path: MailboxPath) -> [Data] {
        state.withLock { ($0.files[path] ?? []).dropLast().compactMap(\.content) }
    }

    /// Counts a call, which may be lost.
    func begin(isWriting: Bool = false) throws {
        try state.withLock { state in
            state.now += 1
            if state.isHit(.lostCalls) { throw Self.unreachable }
            if isWriting && state.isHit(.fullPlace) {
                throw MailboxError(.full, "the place is full; nothing was changed")
            }
        }
    }

    /// The sizes of the files, as a machine is told of them.
    func list(_ machine: Int) throws -> [MailboxPath: Int] {
        try begin()
        return state.withLock { state in
            // An old listing, one of what is there but can't be read here yet, or one as files are read.
            let kind = state.faults.contains(.staleListings) ? state.random.number(below: 4) : 2
            let time = kind == 0 ? state.now - state.random.number(below: Self.latenessMax) : state.now
            var sizes: [MailboxPath: Int] = [:]
            for path in state.files.keys {
                let content: Data? =
                    switch kind {
                    case 0: state.files[path]?.last { $0.madeAt <= time }?.content
                    case 1: state.files[path]?.last?.content
                    default: state.seen(path, from: machine, at: time)
                    }
                if let content { sizes[path] = content.count }
            }
            return sizes
        }
    }

    func open(_ path: MailboxPath, _ machine: Int) throws -> Data? {
        try begin()
        return state.withLock { $0.seen(path, from: machine, at: $0.now) }
    }

    /// How much of what is wanted comes at once.
    func pieceLength(upTo count: Int) throws -> Int {
        try begin()
        return state.withLock { state in
            state.faults.isEmpty ? count : 1 + state.random.number(below: count)
        }
    }

    func finish(_ path: MailboxPath, _ content: Data, replacing: Bool, _ machine: Int) throws {
        try begin(isWriting: true)
        try state.withLock { state in
            guard replacing || state.files[path]?.last?.content == nil else {
                throw MailboxError(.exists, "there is a file already")
            }
            var content = content
            if path.name.hasSuffix(".bundle"), !content.isEmpty, state.isHit(.damage) {
                content[state.random.number(below: content.count)] ^=
                    1 << UInt8(state.random.number(below: 8))
            }
            state.append(content, path, writer: machine)
            if state.isHit(.lostAnswers) { throw Self.unreachable }
        }
    }

    func remove(_ path: MailboxPath, _ machine: Int) throws {
        try begin()
        try state.withLock { state in
            if state.files[path]?.last?.content != nil { state.append(nil, path, writer: machine) }
            if state.isHit(.lostAnswers) { throw Self.unreachable }
        }
    }

    private static var unreachable: MailboxError { MailboxError(.unreachable, "the mailbox does not answer") }
}
