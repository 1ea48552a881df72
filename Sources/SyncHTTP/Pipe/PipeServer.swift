import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Synchronization

/// Serves a store to the one process at the other end of a pipe: `syncctl serve --stdio`, which ssh runs.
///
/// Whoever can write to the pipe may do everything: who that is, has been decided by ssh and by the
/// passphrase of the store.
public struct PipeServer: Sendable {
    private let synchronizer: Synchronizer
    private let store: WholeStore
    private let channel: PipeChannel
    private let folder: String
    /// Whether the other side wants its bundles compressed.
    private let isCompressed = Flag()

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    /// The most bytes of a transfer.
    private static let transferByteCountMax: Int64 = 4 << 30

    /// Prepares a server.
    ///
    /// - parameters:
    ///     - synchronizer: The store.
    ///     - input: Where requests come from.
    ///     - output: Where answers go. Nothing else may be written there.
    public init(_ synchronizer: Synchronizer, input: Int32, output: Int32) {
        self.synchronizer = synchronizer
        store = WholeStore(synchronizer)
        channel = PipeChannel(input: input, output: output)
        folder = URL(fileURLWithPath: synchronizer.writer.path).deletingLastPathComponent().path
    }

    /// Answers until the other side closes the pipe. Blocks the thread.
    ///
    /// - throws: ``RemoteError`` when the pipe breaks in the middle of a message, or something else comes.
    public func run() throws {
        while let (kind, content) = try channel.read() {
            do {
                try answer(kind, content)
            } catch let error as RemoteError where error.code == .unreachable {
                throw error
            } catch {
                try channel.write(.problem, JSONDocument.encode(ProblemCoding.problem(error)))
            }
        }
    }

    private func answer(_ kind: PipeKind, _ content: [UInt8]) throws {
        switch kind {
        case .hello:
            let hello = try JSONDocument.decode(Message.PipeHello.self, from: content)
            guard hello.versions.contains(Message.PipeHello.version) else {
                throw RemoteError(
                    .unsupportedVersion,
                    "this program speaks version \(Message.PipeHello.version) of the protocol of pipes")
            }
            isCompressed.value.store(
                hello.codecs?.contains(Message.codec) == true, ordering: .relaxed)
            var own = Message.PipeHello(store: try synchronizer.identity().store.description)
            own.definitions = true
            try channel.write(.answer, JSONDocument.encode(own))
        case .changes, .rows: try send(BundleRequest(content, of: kind))
        case .apply: try apply()
        case .greet, .meet, .renew, .remember, .state, .question, .definitions:
            guard let operation = PeerOperations.all.first(where: { $0.address.kind == kind }) else {
                throw RemoteError(.notFound, "this program does not answer that")
            }
            try channel.write(.answer, operation.answer(content, by: store))
        case .answer, .frame, .end, .problem:
            throw RemoteError(.malformed, "the message is no request")
        }
    }

    /// Sends a bundle. It waits in a spool, so that a slow pipe keeps nobody from writing.
    private func send(_ request: BundleRequest) throws {
        let spool = try ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        let sink = try spool.sink(isCompressed: isCompressed.value.load(ordering: .relaxed))
        let peer = synchronizer.localPeer
        let summary =
            switch request {
            case .changes(let request): try peer.send(request, progress: nil, to: sink)
            case .rows(let rows): try peer.send(rows: rows, to: sink)
            }
        try spool.finish()
        let download = Message.Download(
            download: "", byteCount: spool.byteCount, rowCount: summary.rowCount)
        try channel.write(.answer, JSONDocument.encode(download))
        var assembler = FrameAssembler()
        try spool.forEachPiece { try assembler.append($0) { try channel.write(.frame, Array($0)) } }
        try channel.write(.end)
    }

    /// Takes a bundle, and applies it when all of it is here.
    private func apply() throws {
        let spool = try ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        var failure: (any Error)?
        while true {
            guard let (kind, content) = try channel.read() else {
                throw RemoteError(.unreachable, "the other end of the pipe ended in the middle of a bundle")
            }
            if kind == .end { break }
            guard kind == .frame else { throw RemoteError(.malformed, "a bundle has frames only") }
            guard failure == nil else { continue }
            // The rest has to be read, so that the answer finds a listener.
            do { try content.withUnsafeBytes { try spool.append($0) } } catch { failure = error }
        }
        if let failure { throw failure }
        try spool.finish()
        let summary = try synchronizer.localPeer.receive { sink in
            var assembler = FrameAssembler()
            try withoutActuallyEscaping(sink) { sink in
                try spool.forEachPiece { try assembler.append($0, onFrame: sink) }
            }
            try assembler.finish()
        }
        try channel.write(.answer, JSONDocument.encode(Message.Application(summary)))
    }
}
