import Crypto
import Foundation
import SyncEngine
import SyncWire

/// A replica that is served over HTTPS.
///
/// What is sent and received waits in a spool, so that no transaction is open while the network is
/// waited for, and a transfer goes on where it broke.
final class HTTPPeer: SyncPeer {
    private let connection: RemoteConnection
    private let folder: String
    private let options: HTTPTransport.Options
    private let keepsConnection: Bool
    private var fetched: Fetched?

    /// What was fetched, and what for.
    private struct Fetched {
        enum What: Equatable {
            case changes(TransferRequest)
            case rows([StateRows])
        }

        let what: What
        let spool: ByteSpool
        let rowCount: Int64

        init(_ what: What, _ result: (spool: ByteSpool, rowCount: Int64)) {
            self.what = what
            spool = result.spool
            rowCount = result.rowCount
        }
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
            try ScopeAdoption(book: book, remote: remote).adopt(terms) {
                let answer = try connection.send(.init(method: "GET", path: base + "/definitions"))
                return try JSONDocument.decode(Message.Definitions.self, from: answer).tables
            }
        }
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
        let document = try JSONDocument.encode(Message.Transfer(request))
        fetched = Fetched(.changes(request), try fetch("/downloads", document, progress))
    }

    func prepareToSend(rows: [StateRows]) throws {
        fetched = Fetched(.rows(rows), try fetch("/repairs", StateRows.encode(rows), nil))
    }

    private func fetch(
        _ path: String, _ request: [UInt8], _ progress: SyncProgressHandler?
    ) throws -> (ByteSpool, Int64) {
        let spool = try ByteSpool(folder: folder, byteCountMax: options.transferByteCountMax)
        let download = try RemoteDownload(connection, options).fetch(path, request) {
            piece, completed, download in
            try piece.withUnsafeBytes { try spool.append($0) }
            let rows = download.rowCount
            let share = download.byteCount > 0 ? Double(completed) / Double(download.byteCount) : 1
            try progress?(Int64(Double(rows) * share), rows)
        }
        try spool.finish()
        return (spool, download.rowCount)
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
        guard let fetched else { throw RemoteError(.failed, "nothing was fetched") }
        self.fetched = nil
        try fetched.spool.forEachFrame(sink)
        return TransferSummary(rowCount: fetched.rowCount, byteCount: fetched.spool.byteCount)
    }

    // MARK: Uploads

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ApplySummary {
        let spool = try ByteSpool(folder: folder, byteCountMax: options.transferByteCountMax)
        try frames { try spool.append($0) }
        try spool.finish()
        return try RemoteUpload(connection, options, spool).run()
    }
}
