import SyncWire

/// Frames of a bundle that wait until they are sent.
package protocol KeptFrames {
    /// Hands them out in their order.
    func forEachFrame(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws
}

/// What is done while a remote is busy, given a function that throws once it has failed.
package typealias Meanwhile = (_ check: @escaping () throws -> Void) -> Void

/// A remote that is still busy with a bundle when it has all of it.
package protocol OverlappingPeer: PacedPeer {
    /// Applies frames, as ``SyncPeer/receive(_:)``.
    ///
    /// - parameter meanwhile: Asked when all frames were handed out: what this thread does while the remote works on them;
    ///   nil to only wait. It is given a function that throws once the remote has failed.
    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void, meanwhile: () -> Meanwhile?
    ) throws -> ApplySummary

    /// Keeps the frames that `frames` hands out until they are sent.
    func keep(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> any KeptFrames
}

/// Makes the next portion of a push while the remote applies the one before.
///
/// What the remote will know then is foreseen: what it knew, and what was sent. When that is so, the portion is what this
/// replica would make now, and is sent. When it is not, because others wrote to the remote meanwhile, it is made anew.
final class PushAhead {
    /// What stands for this replica in the push.
    private(set) lazy var source: any SyncPeer = Source(self, local)
    /// What stands for the remote.
    private(set) lazy var target: any SyncPeer = Target(self, remote)

    private let local: any SyncPeer
    private let remote: any OverlappingPeer
    private let greeting: Greeting
    private let cancellation: SyncCancellation?
    private var last: (request: TransferRequest, end: Int64)?
    private var prepared: Prepared?
    /// Whether what was prepared was always made, and what was wanted. Otherwise it would be work for nothing again.
    private var isForeseen = true

    private struct Prepared {
        let request: TransferRequest
        let frames: any KeptFrames
        let summary: TransferSummary
        /// How far it is when it has gone.
        let progress: (completed: Int64, total: Int64)?
    }

    /// - parameters:
    ///     - greeting: What this replica said of itself before.
    ///     - cancellation: Ends the making of a portion, too.
    init(
        from local: any SyncPeer, to remote: any OverlappingPeer, _ greeting: Greeting,
        _ cancellation: SyncCancellation?
    ) {
        (self.local, self.remote) = (local, remote)
        (self.greeting, self.cancellation) = (greeting, cancellation)
    }

    /// Sends what was prepared for this very request; nil when that is something else.
    private func sendPrepared(
        _ request: TransferRequest, _ progress: SyncProgressHandler?,
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary? {
        guard let ready = prepared else { return nil }
        prepared = nil
        guard ready.request == request else {
            isForeseen = false
            return nil
        }
        try ready.frames.forEachFrame(sink)
        if let reached = ready.progress { try progress?(reached.completed, reached.total) }
        return ready.summary
    }

    private func note(_ request: TransferRequest, _ summary: TransferSummary) {
        last = summary.portionEnd.map { (request, $0) }
    }

    /// What the remote will be sent next, if that can be foreseen.
    private var next: TransferRequest? {
        // Rows that are held back get numbers of their own when they are sent.
        guard isForeseen, let last, last.request.heldBack.isEmpty else { return nil }
        var request = last.request
        request.wholeRows = []
        request.base.join(known(upTo: last.end))
        return request
    }

    /// - parameter check: Throws when the portion would be of no use any more.
    private func prepare(_ request: TransferRequest, _ check: @escaping () throws -> Void) {
        prepared = nil
        do {
            prepared = try portion(request, check)
        } catch {
            // It shows again when the portion is due, and is told then, unless it is of the keeping alone: a full disk.
            isForeseen = false
        }
    }

    /// What a remote knows when it has this replica's changes up to one, and all that came here from others.
    private func known(upTo end: Int64) -> VersionVector {
        var sequences = greeting.vector.sequences
        sequences[greeting.replica] = end
        return VersionVector(sequences)
    }

    private func portion(
        _ request: TransferRequest, _ check: @escaping () throws -> Void
    ) throws -> Prepared? {
        var summary: TransferSummary?
        var progress: (completed: Int64, total: Int64)?
        let frames = try remote.keep { sink in
            try withoutActuallyEscaping(sink) { sink in
                let checked: (UnsafeRawBufferPointer) throws -> Void = { frame in
                    try check()
                    try sink(frame)
                }
                summary = try local.send(
                    request, progress: { progress = ($0, $1) }, to: cancellation.checking(checked))
            }
        }
        return summary.map { Prepared(request: request, frames: frames, summary: $0, progress: progress) }
    }

    private final class Source: WrappedPeer {
        let inner: any SyncPeer
        private unowned let ahead: PushAhead

        init(_ ahead: PushAhead, _ inner: any SyncPeer) { (self.ahead, self.inner) = (ahead, inner) }

        func send(
            _ request: TransferRequest, progress: SyncProgressHandler?,
            to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
        ) throws -> TransferSummary {
            let summary =
                try ahead.sendPrepared(request, progress, sink)
                ?? inner.send(request, progress: progress, to: sink)
            ahead.note(request, summary)
            return summary
        }

        func receive(
            _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) throws -> ApplySummary { try inner.receive(frames) }
    }

    private final class Target: WrappedPeer {
        let inner: any SyncPeer
        private unowned let ahead: PushAhead

        init(_ ahead: PushAhead, _ inner: any SyncPeer) { (self.ahead, self.inner) = (ahead, inner) }

        func send(
            _ request: TransferRequest, progress: SyncProgressHandler?,
            to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
        ) throws -> TransferSummary { try inner.send(request, progress: progress, to: sink) }

        func receive(
            _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) throws -> ApplySummary {
            try ahead.remote.receive(frames) {
                ahead.next.map { next in { self.ahead.prepare(next, $0) } }
            }
        }
    }
}
