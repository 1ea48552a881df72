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
    ///     - input: Where requests come from.
    ///     - output: Where answers go. Nothing else may be written there.
    public init(_ synchronizer: Synchronizer, input: Int32, output: Int32) {
        self.synchronizer = synchronizer
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

    private var peer: any SyncPeer { synchronizer.localPeer }

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
        case .greet: try channel.write(.answer, peer.greet().encode())
        case .meet:
            let greeting = try content.withUnsafeBytes { try Greeting(frame: $0) }
            guard try greeting.store == synchronizer.identity().store else {
                throw SyncError(.otherStore, "the other side is a replica of another database")
            }
            try channel.write(.answer, JSONDocument.encode(Message.Forks(peer.meet(greeting))))
        case .renew:
            try peer.renewIdentity(JSONDocument.decode(Message.Forks.self, from: content).values())
            try channel.write(.answer)
        case .remember:
            let knowledge = try JSONDocument.decode(Message.Knowledge.self, from: content)
            try peer.remember(
                Message.identifier(knowledge.replica), name: "",
                knowing: Message.Vector(entries: knowledge.vector).value())
            try channel.write(.answer)
        case .state:
            let kind = try JSONDocument.decode(Message.StateRequest.self, from: content).value()
            try channel.write(.answer, peer.state(kind)?.encode() ?? [])
        case .question:
            let question = try content.withUnsafeBytes { try StateQuestion(bytes: $0) }
            try channel.write(.answer, peer.answer(question).encode())
        case .changes:
            let request = try JSONDocument.decode(Message.Transfer.self, from: content).value()
            try send { try peer.send(request, progress: nil, to: $0) }
        case .rows:
            let rows = try content.withUnsafeBytes { try StateRows.decode($0) }
            try send { try peer.send(rows: rows, to: $0) }
        case .apply: try apply()
        case .definitions:
            let definitions = try Message.Definitions(tables: synchronizer.definitions(ofTables: nil))
            try channel.write(.answer, JSONDocument.encode(definitions))
        case .answer, .frame, .end, .problem:
            throw RemoteError(.malformed, "the message is no request")
        }
    }

    /// Sends a bundle. It waits in a spool, so that a slow pipe keeps nobody from writing.
    private func send(
        _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> TransferSummary
    ) throws {
        let spool = try ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        let summary = try body(spool.sink(isCompressed: isCompressed.value.load(ordering: .relaxed)))
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
        let summary = try peer.receive { sink in
            var assembler = FrameAssembler()
            try withoutActuallyEscaping(sink) { sink in
                try spool.forEachPiece { try assembler.append($0, onFrame: sink) }
            }
            try assembler.finish()
        }
        try channel.write(.answer, JSONDocument.encode(Message.Application(summary)))
    }
}
