import SyncEngine
import SyncWire

/// An injected fault: the connection is gone, or the process.
enum InjectedFault: Error, Equatable {
    case connectionLost
    case crash(isLocal: Bool)
}

/// The way between two replicas, with its faults. Both ends are the engine's own.
///
/// It is `Sendable` only because a transport has to be: a run has one thread.
final class SimulatedTransport: Transport, @unchecked Sendable {
    let local: SimulatedReplica
    let remote: SimulatedReplica
    let faults: SyncFaults
    private let inner: any Transport
    /// What comes here, and was not seen in the store yet.
    fileprivate(set) var pulled: SimulatedTransfer?
    /// What went there.
    fileprivate(set) var pushed: SimulatedTransfer?
    /// The frames that came here.
    fileprivate(set) var pulledFrames: [[UInt8]] = []
    /// The files of the replica that died.
    fileprivate(set) var files: StoreFiles?
    /// Whether an error of the engine is what a fault asks for.
    fileprivate(set) var hasTampered = false

    init(_ local: SimulatedReplica, _ remote: SimulatedReplica, _ faults: SyncFaults, inner: any Transport) {
        self.local = local
        self.remote = remote
        self.faults = faults
        self.inner = inner
    }

    var name: String { remote.name }

    /// Hands out frames.
    static func hand(_ frames: [[UInt8]], to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
    }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        SimulatedPeer(self, try inner.connect(environment), now: environment.milliseconds())
    }
}

/// The remote end.
private final class SimulatedPeer: WrappedPeer {
    private let way: SimulatedTransport
    let inner: any SyncPeer
    private let now: Int64
    private var isInFirstDirection = true

    init(_ way: SimulatedTransport, _ inner: any SyncPeer, now: Int64) {
        self.way = way
        self.inner = inner
        self.now = now
    }

    /// Dies here if it is to.
    private func crashIfDue(_ point: SyncFaults.CrashPoint, isLocal: Bool? = nil) throws {
        guard let crash = way.faults.crash, crash.point == point, isLocal ?? crash.isLocal == crash.isLocal
        else {
            return
        }
        way.files = try (crash.isLocal ? way.local : way.remote).filesAfterCrash(keeping: crash.kept)
        throw InjectedFault.crash(isLocal: crash.isLocal)
    }

    /// The local store may have merged what was pulled.
    private func observeLocal() throws {
        try way.local.observe(now: now, transfer: way.pulled)
        way.pulled = nil
    }

    func greet() throws -> Greeting {
        let greeting = try inner.greet()
        try way.local.observe(now: now)
        try way.remote.observe(now: now)
        guard greeting.vector == way.remote.model.vector else {
            throw SimulationViolation(
                .progress, "replica \(way.remote.name) greets with another vector than it has")
        }
        try crashIfDue(.greeted)
        try way.local.markCommitted()
        try way.remote.markCommitted()
        return greeting
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        isInFirstDirection = false
        try way.faults.remoteWrite?()
        var frames: [[UInt8]] = []
        let summary = try inner.send(request, progress: progress) { frames.append(Array($0)) }
        try way.remote.observe(now: now)
        try way.remote.markCommitted()
        let transfer = try SimulatedTransfer(
            frames, from: way.remote.model, hasScopes: way.local.world.hasScopes,
            partialTable: way.remote.partialTable)
        way.local.world.bundles.append(SimulatedBundle(frames: frames, transfer: transfer))
        way.pulled = transfer
        way.pulledFrames = frames
        try deliver(frames, way.faults.pull, isLocal: true, to: sink)
        return summary
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        if !isInFirstDirection, way.faults.breaksBetween { throw InjectedFault.connectionLost }
        try crashIfDue(.received, isLocal: true)
        try observeLocal()
        try way.faults.localWrite?()
        var taken: [[UInt8]] = []
        try frames { taken.append(Array($0)) }
        try observeLocal()
        try way.local.markCommitted()
        let transfer = try SimulatedTransfer(
            taken, from: way.local.model, hasScopes: way.local.world.hasScopes,
            partialTable: way.local.partialTable)
        way.local.world.bundles.append(SimulatedBundle(frames: taken, transfer: transfer))
        way.pushed = transfer
        let summary = try inner.receive { sink in
            try self.deliver(taken, self.way.faults.push, isLocal: false, to: sink)
        }
        try way.remote.observe(now: now, transfer: transfer)
        try crashIfDue(.received, isLocal: false)
        if case .duplication = way.faults.push {
            try way.remote.applyAgain {
                _ = try self.inner.receive { sink in try SimulatedTransport.hand(taken, to: sink) }
            }
        }
        try way.remote.markCommitted()
        return summary
    }

    private func deliver(
        _ frames: [[UInt8]], _ fault: DeliveryFault?, isLocal: Bool,
        to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if let crash = way.faults.crash, crash.point == .receiving, crash.isLocal == isLocal {
            try SimulatedTransport.hand(
                Array(frames.prefix(Int(Double(frames.count) * crash.kept))), to: sink)
            try crashIfDue(.receiving)
        }
        switch fault {
        case .loss:
            throw InjectedFault.connectionLost
        case .truncation(let fraction):
            way.hasTampered = true
            try SimulatedTransport.hand(Self.cut(frames, fraction), to: sink)
        case .corruption(let fraction):
            way.hasTampered = true
            var damaged = frames
            let total = frames.reduce(0) { $0 + $1.count }
            var index = Int(Double(total) * fraction)
            for number in damaged.indices {
                if index < damaged[number].count {
                    damaged[number][index] ^= 1 << UInt8(index & 7)
                    break
                }
                index -= damaged[number].count
            }
            try SimulatedTransport.hand(damaged, to: sink)
        case .duplication, nil:
            try SimulatedTransport.hand(frames, to: sink)
        }
    }

    /// The first bytes of a bundle; the last frame can be cut anywhere.
    private static func cut(_ frames: [[UInt8]], _ fraction: Double) -> [[UInt8]] {
        var rest = Int(Double(frames.reduce(0) { $0 + $1.count }) * fraction)
        var kept: [[UInt8]] = []
        for frame in frames where rest > 0 {
            kept.append(Array(frame.prefix(rest)))
            rest -= frame.count
        }
        return kept
    }

    func renewIdentity(_ forks: [Fork]) throws {
        try inner.renewIdentity(forks)
        try way.remote.observe(now: now)
        try way.remote.markCommitted()
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try crashIfDue(.remembering)
        if way.faults.breaksBeforeNotes { throw InjectedFault.connectionLost }
        try inner.remember(peer, name: name, knowing: vector)
    }
}
