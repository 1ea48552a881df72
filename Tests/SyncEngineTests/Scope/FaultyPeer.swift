import CipherStore
import SyncWire

@testable import SyncEngine

/// A replica that is cut off at some point of a synchronization, or written to meanwhile.
final class FaultyPeer: OverlappingPeer {
    /// Where something happens.
    enum Point: CaseIterable { case greeted, receiving, received, takingOut, remembering }

    struct Cut: Error {}

    private let inner: StorePeer
    private let cut: Point?
    private let meanwhile: (at: Point, write: () throws -> Void)?
    /// The frames of the last bundle that came.
    private(set) var frames: [[UInt8]] = []
    /// The bundles that came.
    private(set) var bundleCount = 0
    /// How many changes it takes at once.
    let changeCountMax: Int64
    private(set) var isAskedForMoreTime = false
    /// Whether no portion can be made ahead.
    var keepsNothing = false
    /// The portions that were begun ahead, those that were made, and those that were sent.
    private(set) var begunAheadCount = 0
    private(set) var madeAheadCount = 0
    private(set) var sentAheadCount = 0

    func askForMoreTime() { isAskedForMoreTime = true }

    init(
        _ inner: StorePeer, cut: Point? = nil, meanwhile: (at: Point, write: () throws -> Void)? = nil,
        changeCountMax: Int64 = .max
    ) {
        self.changeCountMax = changeCountMax
        self.inner = inner
        self.cut = cut
        self.meanwhile = meanwhile
    }

    private func pass(_ point: Point) throws {
        if meanwhile?.at == point { try meanwhile?.write() }
        if cut == point { throw Cut() }
    }

    func greet() throws -> Greeting {
        let greeting = try inner.greet()
        try pass(.greeted)
        return greeting
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.send(request, progress: progress, to: sink) }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        try receive(frames, meanwhile: { nil })
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void, meanwhile: () -> Meanwhile?
    ) throws -> ApplySummary {
        self.frames = []
        bundleCount += 1
        try frames { self.frames.append(Array($0)) }
        if let other = meanwhile() { other { if self.cut == .receiving { throw Cut() } } }
        let kept = cut == .receiving ? self.frames.dropLast() : self.frames[...]
        let summary = try inner.receive { sink in
            for frame in kept { try frame.withUnsafeBytes { try sink($0) } }
            if cut == .receiving { throw Cut() }
        }
        try pass(.received)
        return summary
    }

    func keep(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> any KeptFrames {
        begunAheadCount += 1
        if keepsNothing { throw Cut() }
        let kept = Kept(self)
        try frames { kept.frames.append(Array($0)) }
        madeAheadCount += 1
        return kept
    }

    private final class Kept: KeptFrames {
        var frames: [[UInt8]] = []
        private let peer: FaultyPeer

        init(_ peer: FaultyPeer) { self.peer = peer }

        func forEachFrame(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
            peer.sentAheadCount += 1
            for frame in frames { try frame.withUnsafeBytes { try body($0) } }
        }
    }

    func meet(_ greeting: Greeting) throws -> [Fork] { try inner.meet(greeting) }
    func renewIdentity(_ forks: [Fork]) throws { try inner.renewIdentity(forks) }
    func state(_ kind: StateKind) throws -> ReplicaState? { try inner.state(kind) }
    func answer(_ question: StateQuestion) throws -> StateAnswer { try inner.answer(question) }
    func rowRequests() throws -> [RowRequest] { try inner.rowRequests() }

    func takeOutRows(acknowledged: [(names: [String], known: VersionVector)]) throws {
        try pass(.takingOut)
        try inner.takeOutRows(acknowledged: acknowledged)
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try pass(.remembering)
        try inner.remember(peer, name: name, knowing: vector)
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.send(rows: rows, to: sink) }

    func close() {}
}
