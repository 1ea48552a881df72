import SyncEngine
import SyncWire

/// A replica in another process. What it is asked for is written in ``PeerOperations``; who conforms carries bytes.
protocol CarriedPeer: DefiningPeer {
    /// The bundle that is being fetched.
    var fetching: (what: BundleRequest, fetch: any BundleFetch)? { get set }

    /// Carries a request there, and the answer back.
    ///
    /// - throws: ``RemoteError`` of code `notFound` when the operation is not known there; what failed there.
    func carry(_ body: [UInt8], to address: OperationAddress) throws -> [UInt8]

    /// Has a bundle made, and begins to fetch it.
    func begin(_ request: BundleRequest) throws -> any BundleFetch
}

extension CarriedPeer {
    /// Asks for an operation.
    func ask<Request, Answer>(
        _ operation: PeerOperation<Request, Answer>, _ request: Request
    ) throws -> Answer {
        try operation.answer.decode(carry(operation.request.encode(request), to: operation.address))
    }

    // MARK: Bundles

    func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws {
        // It stalled when it comes here again.
        let isBegun = try beginAnew(unless: .changes(request))
        try fetching?.fetch.wait(whole: isBegun, progress: progress)
    }

    func prepareToSend(rows: [StateRows]) throws {
        endFetch()
        try beginAnew(unless: .rows(rows))
        try fetching?.fetch.wait(whole: true, progress: nil)
    }

    /// Begins to fetch a bundle.
    ///
    /// - returns: Whether that was begun before.
    @discardableResult
    private func beginAnew(unless what: BundleRequest) throws -> Bool {
        guard fetching?.what != what else { return true }
        endFetch()
        fetching = (what, try begin(what))
        return false
    }

    /// Ends what is being fetched.
    func endFetch() {
        fetching?.fetch.close()
        fetching = nil
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        if fetching?.what != .changes(request) { try prepareToSend(request, progress: progress) }
        return try handOut(sink)
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        if fetching?.what != .rows(rows) { try prepareToSend(rows: rows) }
        return try handOut(sink)
    }

    private func handOut(
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        guard let fetch = fetching?.fetch else { throw RemoteError(.failed, "nothing was fetched") }
        // One that stalled is waited for, and handed out from the beginning.
        let summary = try fetch.handOut(sink)
        fetching = nil
        return summary
    }
}
