import Foundation
import SyncEngine
import SyncWire

/// A replica that is served over HTTPS.
///
/// What is sent and received waits in a spool, so that no transaction is open while the network is
/// waited for, and a transfer goes on where it broke.
final class HTTPPeer: CarriedPeer, AdaptingPeer, OverlappingPeer {
    private let connection: RemoteConnection
    private let folder: String
    private let options: HTTPTransport.Options
    private let keepsConnection: Bool
    private var asksForMoreTime = false
    var fetching: (what: BundleRequest, fetch: any BundleFetch)?

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

    // MARK: Operations

    func carry(_ body: [UInt8], to address: OperationAddress) throws -> [UInt8] {
        try connection.send(
            .init(
                method: address.method.rawValue, path: connection.base + "/" + address.path, body: body,
                seconds: options.patienceSeconds))
    }

    func begin(_ request: BundleRequest) throws -> any BundleFetch {
        try RemoteFetch(connection, options, folder: folder, request)
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
    ) throws -> ApplySummary { try receive(frames, meanwhile: { nil }) }

    func receive(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void, meanwhile: () -> Meanwhile?
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
        guard let other = meanwhile() else { return try work?.value() ?? upload.run() }
        let application = work ?? BackgroundWork { try upload.run() }
        // What it prepares is of no use once this has failed.
        other { try application.check() }
        return try application.value()
    }

    func keep(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> any KeptFrames {
        let spool = try ByteSpool(folder: folder, byteCountMax: options.transferByteCountMax)
        try frames { try spool.append($0) }
        try spool.finish()
        return spool
    }
}

extension ByteSpool: KeptFrames {}
