import Foundation
import SyncEngine
import Synchronization
import Testing

@testable import SyncTesting

/// A mailbox in memory that can't be used any more from some moment on: it throws what is no error of a mailbox when a bundle is read.
final class EndedMailbox: Mailbox {
    enum Fault: CaseIterable {
        /// The place does not know the user any more when a file is opened.
        case ofOpening
        /// It does not while a file is read.
        case ofReading
        /// Somebody cancels.
        case cancellation
    }

    struct Ended: Error {}

    let whole = MemoryMailbox(seed: 1, faults: [])
    private let fault = Mutex<Fault?>(nil)

    var name: String { whole.name }
    var location: String { whole.location }

    /// What is wrong from now on; nil for nothing.
    func fail(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    func folders() throws -> [String] { try whole.folders() }
    func files(in folder: String) throws -> [MailboxFile] { try whole.files(in: folder) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        let fault = path.name.hasSuffix(".bundle") ? fault.withLock { $0 } : nil
        switch fault {
        case nil: return try whole.open(path)
        case .ofOpening: throw Ended()
        case .cancellation: throw CancellationError()
        case .ofReading: return EndedReader(byteCount: try whole.open(path).byteCount)
        }
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try whole.write(path, replacing: replacing, body)
    }

    func remove(_ path: MailboxPath) throws { try whole.remove(path) }
}

private final class EndedReader: MailboxReader {
    let byteCount: Int

    init(byteCount: Int) { self.byteCount = byteCount }

    func read(upTo count: Int) throws -> Data { throw EndedMailbox.Ended() }
}

/// What is no error of a mailbox ends a synchronization, and says nothing of the file that was being read.
@Suite struct EndedMailboxTests {
    private let mailbox = EndedMailbox()
    private let stores: MailboxReplicas

    init() throws {
        let mailbox = mailbox
        stores = try MailboxReplicas(2, seed: 1) { _ in mailbox }
        try stores.insert(0, 1)
        _ = try stores.settle()
    }

    private func requireEnd(of replica: Int, by fault: EndedMailbox.Fault) throws {
        mailbox.fail(fault)
        defer { mailbox.fail(nil) }
        do {
            let report = try stores.sync(replica)
            Issue.record("\(fault): \(report.remarks)")
        } catch {
            let isOfPlace = error is EndedMailbox.Ended
            let isCancelled = error is CancellationError
            #expect(fault == .cancellation ? isCancelled : isOfPlace, "\(fault): \(error)")
        }
    }

    @Test(arguments: EndedMailbox.Fault.allCases)
    func anErrorOfThePlaceIsNoFaultOfABundleThatNoHeadLists(fault: EndedMailbox.Fault) throws {
        let replica = try stores.all[0].synchronizer.status().replica
        let head = MailboxPath(folder: replica.description, name: "head")
        let former = try #require(mailbox.whole.content(of: head))
        try stores.insert(0, 2)
        try stores.sync(0)
        // As a place that shows the new bundle before the head that lists it.
        mailbox.whole.setContent(former, of: head)
        try requireEnd(of: 1, by: fault)
        #expect(try stores.sync(1).pulled?.rowCount == 1)
    }

    @Test(arguments: EndedMailbox.Fault.allCases)
    func anErrorOfThePlaceConfirmsNoComplaintOfABundle(fault: EndedMailbox.Fault) throws {
        let before = Set(mailbox.whole.paths)
        try stores.insert(0, 2)
        try stores.sync(0)
        let bundle = try #require(
            mailbox.whole.paths.first { !before.contains($0) && $0.name.hasSuffix(".bundle") })
        let content = try #require(mailbox.whole.content(of: bundle))
        var damaged = content
        damaged[damaged.count - 20] ^= 1
        mailbox.whole.setContent(damaged, of: bundle)
        // The other replica complains of it, which is not so any more when its author looks.
        #expect(try stores.sync(1).pulled == nil)
        mailbox.whole.setContent(content, of: bundle)
        try requireEnd(of: 0, by: fault)
        #expect(try stores.sync(0).pushed == nil)
        #expect(try stores.sync(1).pulled?.rowCount == 1)
    }
}
