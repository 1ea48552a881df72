import Foundation
import SyncRelay

/// Something that changes a channel and gets positions there.
struct ChannelJob: Sendable {
    /// What is to be done.
    enum Action: Sendable {
        /// Makes several changes, all or none. Each has the digest of its content, which nobody waits for under a lock.
        case change([RelayChanges.Change], digests: [Data?])
        /// Makes an upload visible.
        case finish(RelayUpload)
    }

    let action: Action
    let byteCount: Int
    let deadline: PostgresConnection.Deadline
    /// Takes the result, once.
    let end: @Sendable (Result<RelayChangeResult, any Error>) -> Void

    /// The names that it changes.
    var files: [RelayFileName] {
        switch action {
        case .change(let changes, _):
            changes.map { change in
                switch change {
                case .write(let file, _, _), .remove(let file): file
                }
            }
        case .finish(let upload): [upload.request.file]
        }
    }

    /// How many bodies it may write.
    var bodyCount: Int {
        guard case .change(let changes, _) = action else { return 0 }
        return changes.reduce(0) { count, change in
            if case .write(_, _, let content) = change, !content.isEmpty { count + 1 } else { count }
        }
    }

    /// The body of the upload that it finishes.
    var upload: Int64? {
        if case .finish(let upload) = action { upload.handle } else { nil }
    }
}

extension [ChannelJob] {
    /// Until when all of them have to be answered; nil when there are none.
    var deadline: PostgresConnection.Deadline? { map(\.deadline).min() }
}

extension ChannelPlan {
    /// Does a job, or nothing.
    ///
    /// - parameters:
    ///     - bodies: Numbers for bodies. Those that are used are taken away.
    ///     - received: How many bytes came of uploads that are open. One that is finished is taken away.
    /// - throws: ``RelayProblem``.
    mutating func apply(
        _ job: ChannelJob, bodies: inout ArraySlice<Int64>, received: inout [Int64: Int64]
    ) throws -> RelayChangeResult {
        switch job.action {
        case .change(let changes, let digests):
            var outcomes: [RelayOutcome] = []
            for (change, digest) in zip(changes, digests) {
                outcomes.append(try apply(change, digest, bodies: &bodies))
            }
            return RelayChangeResult(position: row.position, outcomes: outcomes)
        case .finish(let upload):
            guard let count = received[upload.handle] else { throw RelayProblem.noUpload }
            guard count == upload.request.byteCount else {
                throw RelayProblem(.malformed, "not all bytes of the file came")
            }
            let outcome = try finish(Content(upload.request), body: upload.handle)
            received[upload.handle] = nil
            return RelayChangeResult(position: row.position, outcomes: [outcome])
        }
    }

    private mutating func apply(
        _ change: RelayChanges.Change, _ digest: Data?, bodies: inout ArraySlice<Int64>
    ) throws -> RelayOutcome {
        switch change {
        case .remove(let file): return try remove(file)
        case .write(let file, let isReplacing, let bytes):
            let body = bytes.isEmpty ? 0 : bodies.popFirst() ?? 0
            guard bytes.isEmpty || body > 0 else {
                throw RelayProblem(.unavailable, "the storage has no numbers left for files")
            }
            return try write(
                Content(
                    file: file, isReplacing: isReplacing, byteCount: Int64(bytes.count),
                    digest: digest ?? Data(RelayDigest(of: bytes).bytes)),
                bytes, body: body)
        }
    }
}

extension ChannelPlan.Content {
    init(_ request: RelayUploadRequest) {
        self.init(
            file: request.file, isReplacing: request.isReplacing, byteCount: request.byteCount,
            digest: Data(request.digest.bytes))
    }
}

extension RelayProblem {
    static let noUpload = RelayProblem(
        .missing, "the upload was given up, because nothing came for too long or its channel is gone")
}
