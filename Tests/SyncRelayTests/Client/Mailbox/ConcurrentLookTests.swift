import Foundation
import SyncEngine
import Synchronization
import Testing

@testable import SyncRelay

/// Other uses of a mailbox while it looks at its channel.
@Suite struct ConcurrentLookTests {
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")
    private let relay = MemoryRelay()
    private let mailbox: RelayMailbox
    private let other: RelayMailbox

    init() throws {
        let channel = RelayChannel.random()
        mailbox = try relay.mailbox(channel)
        other = try relay.mailbox(channel)
    }

    private static func write(_ mailbox: RelayMailbox, _ path: MailboxPath) throws {
        try mailbox.write(path, replacing: true) { try $0(Data([1])) }
    }

    /// Has something done when the next listing was made, and before it is answered.
    private func setMeanwhile(_ body: @escaping @Sendable () throws -> Void) {
        let isDone = Atomic<Bool>(false)
        relay.lie { request, answer in
            guard request.kind == .list, !isDone.exchange(true, ordering: .relaxed) else { return answer }
            try body()
            return answer
        }
    }

    private var names: [String] { get throws { try mailbox.files(in: path.folder).map(\.name) } }

    @Test func aFileThatIsWrittenMeanwhileIsThere() throws {
        _ = try mailbox.folders()
        setMeanwhile { [mailbox, path] in try Self.write(mailbox, path) }
        _ = try mailbox.folders()
        #expect(mailbox.seen?.position == 1 && mailbox.known == nil)
        let names = try names
        #expect(names == [path.name] && mailbox.known?.position == 1)
        #expect(mailbox.takeEvents().isEmpty)
    }

    @Test func aFileThatIsRemovedMeanwhileIsGone() throws {
        try Self.write(other, path)
        _ = try mailbox.folders()
        setMeanwhile { [mailbox, path] in try mailbox.remove(path) }
        _ = try mailbox.folders()
        let names = try names
        #expect(names.isEmpty && mailbox.known?.position == 2)
    }

    @Test func aDoubtThatComesMeanwhileStays() throws {
        _ = try mailbox.folders()
        let isDone = Atomic<Bool>(false)
        relay.lie { [mailbox, path] request, answer in
            // The file is written, and the answer is lost.
            if request.kind == .put { throw RelayCarrierFailure(reason: "the connection was cut") }
            guard request.kind == .list, !isDone.exchange(true, ordering: .relaxed) else { return answer }
            try? Self.write(mailbox, path)
            return answer
        }
        _ = try mailbox.folders()
        let names = try names
        #expect(names == [path.name])
    }

    @Test func whatALaterLookFoundIsNotReplaced() throws {
        _ = try mailbox.folders()
        setMeanwhile { [mailbox, other, path] in
            try Self.write(other, path)
            _ = try mailbox.folders()
        }
        _ = try mailbox.folders()
        let names = try names
        #expect(names == [path.name] && mailbox.known?.position == 1 && mailbox.seen?.position == 1)
    }

    @Test func aFileThatIsWrittenMeanwhileNeedNotBeRead() throws {
        _ = try mailbox.folders()
        setMeanwhile { [mailbox, path] in try Self.write(mailbox, path) }
        _ = try mailbox.folders()
        let names = try names
        #expect(names == [path.name])
        // It was kept when it was written, and the look that does not know of it has not forgotten it.
        relay.lie { request, answer in
            if request.kind == .get { throw RelayCarrierFailure(reason: "the file was asked for") }
            return answer
        }
        let byteCount = try mailbox.open(path).byteCount
        #expect(byteCount == 1)
    }

    @Test func whatALookCanNotKnowIsNotForgotten() throws {
        let epoch = RelayEpoch.random()
        var look = RelayMailboxState.Look(seen: nil)
        let (first, second) = (look.begin(), look.begin())
        let isLaterWhole = look.keep(RelayDirectory(epoch: epoch), from: second)
        let isEarlierWhole = look.keep(RelayDirectory(epoch: epoch), from: first)
        #expect(isLaterWhole && !isEarlierWhole)
        let third = look.begin()
        look.changeCount += 1
        let isChangedWhole = look.keep(RelayDirectory(epoch: epoch), from: third)
        #expect(!isChangedWhole)
    }

    @Test func aMomentThatWasSeenMeanwhileIsNotForgotten() throws {
        let epoch = RelayEpoch.random()
        func directory(at position: RelayPosition) -> RelayDirectory {
            var directory = RelayDirectory(epoch: epoch)
            directory.advance(to: position)
            return directory
        }
        var look = RelayMailboxState.Look(seen: nil)
        let first = look.begin()
        let second = look.begin()
        look.keep(directory(at: 10), from: first)
        look.keep(directory(at: 9), from: second)
        #expect(look.seen?.position == 10 && look.directory?.isStale == true)
        // A channel that is behind what was seen before is one that went back.
        let third = look.begin()
        look.keep(directory(at: 1), from: third)
        #expect(look.seen?.position == 1 && look.directory?.isStale == false)
    }
}
