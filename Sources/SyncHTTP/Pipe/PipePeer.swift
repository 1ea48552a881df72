import SyncEngine
import SyncWire

/// A replica at the other end of a pipe.
final class PipePeer: CarriedPeer {
    private static let transferByteCountMax: Int64 = 4 << 30

    private let name: String
    private let pipe: PipeTransport.Pipe
    private let channel: PipeChannel
    private let folder: String
    private let cancellation: SyncCancellation?
    var fetching: (what: BundleRequest, fetch: any BundleFetch)?
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

    func carry(_ body: [UInt8], to address: OperationAddress) throws -> [UInt8] {
        try ask(address.kind, body)
    }

    func definitions() throws -> [SharedTable] {
        guard tellsDefinitions else {
            throw SyncError(
                .notComparable,
                "\(name) does not tell how its tables are made: its program is too old for that")
        }
        return try ask(PeerOperations.definitions, ())
    }

    // MARK: Bundles

    func begin(_ request: BundleRequest) throws -> any BundleFetch {
        let answer = try ask(request.address.kind, request.encode())
        let download = try JSONDocument.decode(Message.Download.self, from: answer)
        try download.checkCounts()
        return try PipeFetch(
            download, ByteSpool(folder: folder, byteCountMax: Self.transferByteCountMax)
        ) { [unowned self] in
            guard case (let kind, let frame) = try next(.frame, .end), kind == .frame else { return nil }
            return frame
        } abandon: { [unowned self] in
            close()
        }
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
        return try JSONDocument.decode(Message.Application.self, from: answer()).summary()
    }
}

/// A bundle whose frames come through a pipe.
private final class PipeFetch: BundleFetch {
    private let download: Message.Download
    private let spool: ByteSpool
    private let next: () throws -> [UInt8]?
    private let abandon: () -> Void
    private var isWhole = false

    /// - parameters:
    ///     - next: Reads the next frame; nil after the last one.
    ///     - abandon: Ends the connection.
    init(
        _ download: Message.Download, _ spool: ByteSpool, next: @escaping () throws -> [UInt8]?,
        abandon: @escaping () -> Void
    ) {
        (self.download, self.spool, self.next, self.abandon) = (download, spool, next, abandon)
    }

    func wait(whole: Bool, progress: SyncProgressHandler?) throws {
        guard !isWhole else { return }
        do {
            while let frame = try next() {
                try frame.withUnsafeBytes { try spool.append($0) }
                let share = Double(spool.byteCount) / Double(max(1, download.byteCount))
                try progress?(Int64(Double(download.rowCount) * min(1, share)), download.rowCount)
            }
        } catch {
            // The rest of the bundle would be taken for the next answer.
            abandon()
            throw error
        }
        try spool.finish()
        isWhole = true
    }

    func handOut(_ sink: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> TransferSummary {
        try spool.forEachFrame(sink)
        return TransferSummary(rowCount: download.rowCount, byteCount: spool.byteCount)
    }

    func close() {
        if !isWhole { abandon() }
    }
}
