import Crypto
import Foundation
import SyncEngine
import SyncWire

/// A replica that is served over HTTPS.
///
/// What is sent and received waits in a spool, so that no transaction is open while the network is
/// waited for, and a transfer goes on where it broke.
final class HTTPPeer: DefiningPeer, AdaptingPeer, PacedPeer {
    private let connection: RemoteConnection
    private let folder: String
    private let options: HTTPTransport.Options
    private let keepsConnection: Bool
    private var asksForMoreTime = false
    private var fetched: (what: What, fetch: RemoteFetch)?

    /// What is fetched.
    private enum What: Equatable {
        case changes(TransferRequest)
        case rows([StateRows])
    }

    /// - parameter keepsConnection: Whether the connection is used again after this synchronization.
    init(
        _ connection: RemoteConnection, folder: String, options: HTTPTransport.Options,
        keepsConnection: Bool = false
    ) {
        self.keepsConnection = keepsConnection
        self.connection = connection
        self.folder = folder
        self.options = options
    }

    private var base: String { connection.base }

    func close() {
        endFetch()
        if !keepsConnection { connection.close() }
    }

    /// Adapts the store's choice to what the server says when it opens a session.
    func adapt(_ synchronizer: Synchronizer, _ direction: SyncDirection) throws -> SyncDirection {
        if connection.session == nil {
            try options.onRequest?()
            try connection.open()
        }
        guard let terms = connection.terms else { return direction }
        if !connection.isAdapted {
            try adapt(synchronizer, to: terms)
            connection.isAdapted = true
        }
        return terms.isReadOnly && direction == .both ? .pull : direction
    }

    private func adapt(_ synchronizer: Synchronizer, to terms: DeviceTerms) throws {
        let book = try RemoteBook(synchronizer)
        for remote in try book.remotes() where remote.address == connection.address {
            try ScopeAdoption(book: book, remote: remote).adopt(terms) { try definitions() }
        }
    }

    func definitions() throws -> [SharedTable] {
        let answer = try connection.send(.init(method: "GET", path: base + "/definitions"))
        return try JSONDocument.decode(Message.Definitions.self, from: answer).tables
    }

    // MARK: Greetings

    func greet() throws -> Greeting {
        let frame = try connection.send(
            .init(method: "GET", path: base + "/greeting", seconds: options.patienceSeconds))
        return try frame.withUnsafeBytes { try Greeting(frame: $0) }
    }

    func meet(_ greeting: Greeting) throws -> [Fork] {
        let answer = try connection.send(
            .init(
                method: "POST", path: base + "/greeting", body: greeting.encode(),
                seconds: options.patienceSeconds))
        return try JSONDocument.decode(Message.Forks.self, from: answer).values()
    }

    func renewIdentity(_ forks: [Fork]) throws {
        let request = Message.Renewal(
            request: ByteText.hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }),
            forks: Message.Forks(forks).forks)
        do {
            _ = try connection.send(
                .init(
                    method: "POST", path: base + "/identity", body: try JSONDocument.encode(request),
                    seconds: options.patienceSeconds))
        } catch let error as RemoteError where error.code == .notFound {
            // The server was started anew in the meantime. The next greeting shows whether it was done.
        }
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        _ = try connection.send(
            .init(
                method: "POST", path: base + "/acknowledgement",
                body: try JSONDocument.encode(Message.Vector(vector))))
    }

    // MARK: Comparisons

    func state(_ kind: StateKind) throws -> ReplicaState? {
        let bytes = try ask("/state", try JSONDocument.encode(Message.StateRequest(kind)))
        guard let bytes, !bytes.isEmpty else { return nil }
        return try bytes.withUnsafeBytes { try ReplicaState(bytes: $0) }
    }

    func answer(_ question: StateQuestion) throws -> StateAnswer {
        guard let bytes = try ask("/answers", question.encode()) else {
            throw SyncError(.notComparable, "the remote can't be compared: its program knows no digests")
        }
        return try bytes.withUnsafeBytes { try StateAnswer(bytes: $0) }
    }

    /// - returns: nil from a server whose program can't compare.
    private func ask(_ path: String, _ body: [UInt8]) throws -> [UInt8]? {
        do {
            return try connection.send(
                .init(method: "POST", path: base + path, body: body, seconds: options.patienceSeconds))
        } catch let error as RemoteError where error.code == .notFound {
            return nil
        }
    }

    // MARK: Downloads

    func prepareToSend(_ request: TransferRequest, progress: SyncProgressHandler?) throws {
        let isBegun = fetched?.what == .changes(request)
        if !isBegun {
            try begin(.changes(request), "/downloads", JSONDocument.encode(Message.Transfer(request)))
        }
        // It stalled when it comes here again.
        try fetched?.fetch.wait(whole: isBegun, progress: progress)
    }

    func prepareToSend(rows: [StateRows]) throws {
        try begin(.rows(rows), "/repairs", StateRows.encode(rows))
        try fetched?.fetch.wait(whole: true, progress: nil)
    }

    private func begin(_ what: What, _ path: String, _ request: [UInt8]) throws {
        endFetch()
        fetched = (what, try RemoteFetch(connection, options, folder: folder, path, request))
    }

    private func endFetch() {
        fetched?.fetch.close()
        fetched = nil
    }

    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        if fetched?.what != .changes(request) { try prepareToSend(request, progress: progress) }
        return try handOut(sink)
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        if fetched?.what != .rows(rows) { try prepareToSend(rows: rows) }
        return try handOut(sink)
    }

    private func handOut(
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        guard let fetch = fetched?.fetch else { throw RemoteError(.failed, "nothing was fetched") }
        let summary = try fetch.handOut(sink)
        fetched = nil
        return summary
    }

    // MARK: Uploads

    var changeCountMax: Int64 { options.changeCountMax }

    func askForMoreTime() { asksForMoreTime = true }

    /// A bundle that is larger than this is uploaded while it is made.
    private static let smallByteCount: Int64 = 4 << 20

    /// Whether bundles are compressed that are sent: where that is wanted, and the server reads it.
    private var sendsCompressed: Bool {
        options.compression.isUsed(with: connection.address) && connection.codecs.contains(Message.codec)
    }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        let spool = try ByteSpool(folder: folder, byteCountMax: options.transferByteCountMax)
        let sink = try spool.sink(isCompressed: sendsCompressed)
        // This thread leaves the connection alone until that one has ended.
        nonisolated(unsafe) let upload = RemoteUpload(connection, options, spool, isLong: asksForMoreTime)
        var work: BackgroundWork<ApplySummary>?
        do {
            try frames { frame in
                try sink(frame)
                if work == nil, spool.byteCount > Self.smallByteCount {
                    work = BackgroundWork { try upload.run() }
                }
                // Once the upload has failed, the rest of the export is of no use.
                try work?.check()
            }
            try spool.finish()
        } catch {
            spool.fail(error)
            work?.wait()
            throw error
        }
        return try work?.value() ?? upload.run()
    }
}
