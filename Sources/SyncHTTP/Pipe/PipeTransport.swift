import Foundation
import SyncEngine
import SyncWire

/// Reaches a replica that another process serves over a pipe (``PipeServer``).
///
/// A cancelled synchronization ends when the answer for which it waits has come: the other process could not get rid of
/// the rest of it otherwise.
public struct PipeTransport: Transport {
    /// The two ends of a pipe, and what ends it.
    public struct Pipe: Sendable {
        let input: Int32
        let output: Int32
        let close: @Sendable () -> Void

        /// Makes a pipe of descriptors.
        ///
        /// - parameters:
        ///     - input: Where answers come from.
        ///     - output: Where requests go.
        ///     - close: Called once, at the end: closes the descriptors, and waits for the other process.
        public init(input: Int32, output: Int32, close: @escaping @Sendable () -> Void) {
            self.input = input
            self.output = output
            self.close = close
        }
    }

    /// A name for status lines.
    public let name: String
    private let folder: String
    private let isCompressed: Bool
    private let open: @Sendable () throws -> Pipe

    /// Makes a transport.
    ///
    /// - parameters:
    ///     - name: A name for status lines, without secrets.
    ///     - folder: Where bytes wait that came and are not applied yet: encrypted, in files without names.
    ///     - isCompressed: Whether bundles are compressed on their way: worth it where a network is in between.
    ///     - open: Starts what serves the replica. The process has to ignore SIGPIPE.
    public init(
        name: String, folder: String, isCompressed: Bool = true, open: @escaping @Sendable () throws -> Pipe
    ) {
        self.name = name
        self.folder = folder
        self.isCompressed = isCompressed
        self.open = open
    }

    /// Starts the other process and asks which version it speaks.
    ///
    /// - throws: ``RemoteError``.
    public func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        let peer = PipePeer(
            name, try open(), folder: folder, isCompressed: isCompressed, environment.cancellation)
        do {
            try peer.hello()
        } catch {
            peer.close()
            throw error
        }
        return peer
    }
}

/// A replica at the other end of a pipe.
private final class PipePeer: DefiningPeer {
    private static let transferByteCountMax: Int64 = 4 << 30

    private let name: String
    private let pipe: PipeTransport.Pipe
    private let channel: PipeChannel
    private let folder: String
    private let cancellation: SyncCancellation?
    private var fetched: (kind: PipeKind, request: [UInt8], spool: ByteSpool, rowCount: Int64)?
    /// Whether bundles are compressed; of those that are sent, if the other side reads it.
    private var isCompressed: Bool
    /// Whether the other side tells how its tables are made, which older programs do not.
    private var tellsDefinitions = false
    private var isClosed = false

    init(
        _ name: String, _ pipe: PipeTransport.Pipe, folder: String, isCompressed: Bool,
        _ cancellation: SyncCancellation?
    ) {
        self.cancellation = cancellation
        self.isCompressed = isCompressed
        self.name = name
        self.pipe = pipe
        self.folder = folder
        channel = PipeChannel(input: pipe.input, output: pipe.output)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        pipe.close()
    }

    // MARK: Messages

    func hello() throws {
        let own = Message.PipeHello(codecs: isCompressed ? [Message.codec] : nil)
        let answer = try ask(.hello, JSONDocument.encode(own))
        let hello = try JSONDocument.decode(Message.PipeHello.self, from: answer)
        guard hello.versions.contains(Message.PipeHello.version) else {
            throw RemoteError(.unsupportedVersion, "\(name) speaks another version of the protocol of pipes")
        }
        tellsDefinitions = hello.definitions == true
        isCompressed = isCompressed && hello.codecs?.contains(Message.codec) == true
    }

    private func ask(_ kind: PipeKind, _ content: [UInt8] = []) throws -> [UInt8] {
        do {
            try channel.write(kind, content)
        } catch let error as RemoteError where error.code == .unreachable {
            // It may have said why before it ended.
            return try answer()
        }
        return try answer()
    }

    private func answer() throws -> [UInt8] { try next(.answer).content }

    private func next(_ expected: PipeKind...) throws -> (kind: PipeKind, content: [UInt8]) {
        guard !isClosed, let (kind, content) = try channel.read() else {
            throw RemoteError(.unreachable, "\(name) has ended the connection; its messages say why")
        }
        if kind == .problem {
            throw ProblemCoding.error(try JSONDocument.decode(Message.Problem.self, from: content))
        }
        guard expected.contains(kind) else {
            throw RemoteError(.malformed, "\(name) sent what was not asked for")
        }
        return (kind, content)
    }

    func greet() throws -> Greeting {
        try ask(.greet).withUnsafeBytes { try Greeting(frame: $0) }
    }

    func meet(_ greeting: Greeting) throws -> [Fork] {
        try JSONDocument.decode(Message.Forks.self, from: ask(.meet, greeting.encode())).values()
    }

    func renewIdentity(_ forks: [Fork]) throws {
        _ = try ask(.renew, JSONDocument.encode(Message.Forks(forks)))
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        let knowledge = Message.Knowledge(
            replica: peer.description, vector: Message.Vector(vector).vector)
        _ = try ask(.remember, JSONDocument.encode(knowledge))
    }

    func state(_ kind: StateKind) throws -> ReplicaState? {
        let bytes = try ask(.state, JSONDocument.encode(Message.StateRequest(kind)))
        return bytes.isEmpty ? nil : try bytes.withUnsafeBytes { try ReplicaState(bytes: $0) }
    }

    func answer(_ question: StateQuestion) throws -> StateAnswer {
        try ask(.question, question.encode()).withUnsafeBytes { try StateAnswer(bytes: $0) }
    }

    func definitions() throws -> [SharedTable] {
        guard tellsDefinitions else {
            throw SyncError(
                .notComparable,
                "\(name) does not tell how its tables are made: its program is too old for that")
        }
        return try JSONDocument.decode(Message.Definitions.self, from: ask(.definitions)).tables
    }

    // MARK: Bundles

    func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws {
        try fetch(.changes, JSONDocument.encode(Message.Transfer(request)), progress)
    }

    func prepareToSend(rows: [StateRows]) throws { try fetch(.rows, StateRows.encode(rows), nil) }

    private func fetch(_ kind: PipeKind, _ request: [UInt8], _ progress: SyncProgressHandler?) throws {
        fetched = nil
        let download = try JSONDocument.decode(Message.Download.self, from: ask(kind, request))
        let spool = try ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        do {
            while case (let kind, let frame) = try next(.frame, .end), kind == .frame {
                try frame.withUnsafeBytes { try spool.append($0) }
                let share = Double(spool.byteCount) / Double(max(1, download.byteCount))
                try progress?(Int64(Double(download.rowCount) * min(1, share)), download.rowCount)
            }
        } catch {
            // The rest of the bundle would be taken for the next answer.
            close()
            throw error
        }
        try spool.finish()
        fetched = (kind, request, spool, download.rowCount)
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        let bytes = try JSONDocument.encode(Message.Transfer(request))
        if fetched?.kind != .changes || fetched?.request != bytes {
            try fetch(.changes, bytes, progress)
        }
        return try handOut(sink)
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        let bytes = try StateRows.encode(rows)
        if fetched?.kind != .rows || fetched?.request != bytes { try fetch(.rows, bytes, nil) }
        return try handOut(sink)
    }

    private func handOut(
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        guard let fetched else { throw RemoteError(.failed, "nothing was fetched") }
        self.fetched = nil
        try fetched.spool.forEachFrame(sink)
        return TransferSummary(rowCount: fetched.rowCount, byteCount: fetched.spool.byteCount)
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        let spool = try ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        try frames(spool.sink(isCompressed: isCompressed))
        try spool.finish()
        do {
            try channel.write(.apply)
            var assembler = FrameAssembler()
            try spool.forEachPiece { piece in
                try assembler.append(piece) { frame in
                    // The other side applies nothing then: it gets no end.
                    try cancellation?.check()
                    try channel.write(.frame, Array(frame))
                }
            }
            try channel.write(.end)
        } catch {
            close()
            throw error
        }
        return try JSONDocument.decode(Message.Application.self, from: answer()).summary
    }
}
