import SyncEngine
import SyncWire

/// The way between two stores, on which a connection breaks or one of the two processes dies.
///
/// It is `Sendable` only because a transport has to be: a run has one thread.
final class WitnessedTransport: Transport, @unchecked Sendable {
    /// What goes wrong.
    struct Fault {
        let point: SyncFaults.CrashPoint
        /// Who dies; nil when the connection breaks.
        let dies: Victim?
        /// How much of what was written, and not committed, is on the disk.
        let kept: Double
    }

    /// One of the two processes.
    enum Victim {
        case local
        case remote
    }

    let local: WitnessedStore
    let remote: WitnessedStore
    let fault: Fault?
    /// The files of the one that died.
    fileprivate(set) var files: StoreFiles?

    init(_ local: WitnessedStore, _ remote: WitnessedStore, _ fault: Fault?) {
        (self.local, self.remote, self.fault) = (local, remote, fault)
    }

    var name: String { remote.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        WitnessedPeer(self, try remote.entrance.transport().connect(environment))
    }
}

private final class WitnessedPeer: WrappedPeer {
    private let way: WitnessedTransport
    let inner: any SyncPeer

    init(_ way: WitnessedTransport, _ inner: any SyncPeer) { (self.way, self.inner) = (way, inner) }

    /// Breaks here if it is to.
    ///
    /// - parameter mark: What the log of whoever dies held when their transaction began; nil when none is under way.
    private func breakIfDue(_ point: SyncFaults.CrashPoint, since mark: StoreFiles.Mark? = nil) throws {
        guard let fault = way.fault, fault.point == point else { return }
        guard let dies = fault.dies else { throw InjectedFault.connectionLost }
        var files = try StoreFiles(path: (dies == .local ? way.local : way.remote).path)
        if let mark { files.cut(since: mark, keeping: fault.kept) }
        way.files = files
        throw InjectedFault.crash(isLocal: dies == .local)
    }

    func greet() throws -> Greeting {
        let greeting = try inner.greet()
        try breakIfDue(.greeted)
        return greeting
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        var frames: [[UInt8]] = []
        let summary = try inner.send(request, progress: progress) { frames.append(Array($0)) }
        if way.fault?.dies != .remote { try hand(frames, to: sink, at: way.local) }
        if way.fault?.dies == .remote { try SimulatedTransport.hand(frames, to: sink) }
        return summary
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        if way.fault?.dies != .remote { try breakIfDue(.received) }
        var taken: [[UInt8]] = []
        try frames { taken.append(Array($0)) }
        let summary = try inner.receive { sink in
            if self.way.fault?.dies == .local { return try SimulatedTransport.hand(taken, to: sink) }
            try self.hand(taken, to: sink, at: self.way.remote)
        }
        try breakIfDue(.received)
        return summary
    }

    /// Hands out frames, or breaks in the middle of them.
    private func hand(
        _ frames: [[UInt8]], to sink: (UnsafeRawBufferPointer) throws -> Void, at store: WitnessedStore
    ) throws {
        guard let fault = way.fault, fault.point == .receiving else {
            return try SimulatedTransport.hand(frames, to: sink)
        }
        let mark = try StoreFiles.mark(path: store.path)
        try SimulatedTransport.hand(
            Array(frames.prefix(Int(Double(frames.count) * fault.kept))), to: sink)
        try breakIfDue(.receiving, since: mark)
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try breakIfDue(.remembering)
        try inner.remember(peer, name: name, knowing: vector)
    }
}
