import CipherStore
import SyncWire

/// What the receiver of a bundle file knows already.
public enum BundleBase: Sendable {
    /// Nothing: the bundle holds all changes, and anybody can apply it.
    case nothing
    /// What a replica knew when it was last heard of. It is in ``SyncStatus/peers``.
    case replica(ReplicaID)
    /// This much, as a request or any other bundle file of the receiver says.
    case vector(VersionVector)
}

/// What the application of a bundle file did.
public struct BundleReport: Equatable, Sendable {
    /// The replica that made the bundle.
    public let sender: ReplicaID
    /// What was applied; nil when all of it was here already.
    public let applied: ApplySummary?
    /// The replica id that this store had, when it turned out to be a restored copy and got a new one.
    public internal(set) var renewedReplica: ReplicaID?
}

extension Synchronizer {
    /// Writes changes into a bundle file.
    ///
    /// ```swift
    /// try synchronizer.writeBundle(
    ///     to: "stick/notes.bundle", since: .nothing, .sealed(ArchiveLock(passphrase: passphrase)))
    /// ```
    ///
    /// - parameters:
    ///     - path: Where the file goes; no file may be there.
    ///     - base: What the receiver knows already.
    ///     - scope: What it gets.
    ///     - protection: Who can read the file.
    ///     - progress: Called with the rows that were written, and about how many there are.
    /// - returns: The rows of the bundle, and the bytes of the file.
    /// - throws: ``SyncError``: `noSuchReplica`, `noSuchTable`; `StoreError`, of code `cannotWrite` when a
    ///   store that can't be written has edits without versions; `DatabaseError`. No file is left at `path`
    ///   then.
    @discardableResult
    public func writeBundle(
        to path: String, since base: BundleBase, scope: SyncScope = .everything,
        _ protection: BundleFile.Protection, progress: SyncProgressHandler? = nil
    ) throws -> TransferSummary {
        // Other programs may have changed the schema, or have written under an identity that is another
        // file's.
        _ = try peer.greetAsItIs()
        let request = TransferRequest(
            base: try vector(of: base),
            tables: try scope.tableNames.map { names in
                try database.read { try ScopeStore(db: $0).resolve(names).map { [$0.name] } }
            })
        try refuseParts(of: request.tables)
        var rowCount: Int64 = 0
        let byteCount = try writeFile(path, protection) { sink in
            rowCount = try peer.send(request, progress: progress, to: sink).rowCount
        }
        return TransferSummary(rowCount: rowCount, byteCount: byteCount)
    }

    /// A file says not whether its receiver knows what the rows here take into account.
    private func refuseParts(of tables: [[String]]?) throws {
        let parts = try database.read { try RowRequest.loadAll($0).map(\.partial) }
        let wanted = parts.filter { part in
            tables?.contains { $0.contains(where: part.names.contains) } != false
        }
        guard let name = wanted.first?.names.first else { return }
        throw SyncError(
            .scopeUnsupported,
            "this replica holds some rows of table \(name) only, which a bundle file can't say: choose other tables for it"
        )
    }

    /// Writes a request: a small bundle file without changes that says what this replica knows. Its receiver
    /// can make a bundle of exactly the changes that are missing here.
    ///
    /// - throws: `StoreError`, `DatabaseError`. No file is left at `path` then.
    public func writeRequest(to path: String, _ protection: BundleFile.Protection) throws {
        let greeting = try peer.greetAsItIs(requiringVersions: false)
        let header = BundleHeader(
            store: greeting.store, sender: greeting.replica, base: greeting.vector, target: greeting.vector,
            replicas: [], tables: [])
        _ = try writeFile(path, protection) { sink in
            var writer = try BundleWriter(header: header, sink: sink)
            try writer.finish()
        }
    }

    /// - returns: The bytes of the file.
    private func writeFile(
        _ path: String, _ protection: BundleFile.Protection,
        _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int64 {
        let file = try BundleFile.writer(path, protection, environment)
        do {
            let compressor = try FrameCompressor()
            try body { try compressor.compress($0, to: file.write) }
            try file.finish()
            return Int64(file.byteCount)
        } catch {
            file.discard()
            throw error
        }
    }

    private func vector(of base: BundleBase) throws -> VersionVector {
        switch base {
        case .nothing: VersionVector()
        case .vector(let vector): vector
        case .replica(let replica):
            try database.read { db in
                let metadata = try StoreMetadata.require(db)
                guard let vector = try ReplicaRegister(db: db).known(metadata)[replica] else {
                    throw SyncError(
                        .noSuchReplica, "replica \(replica.shortDescription) was never heard of here")
                }
                return vector
            }
        }
    }

    /// Applies a bundle file: all of it or nothing. Applying it again changes nothing.
    ///
    /// - parameter path: The file.
    /// - parameter access: How the file is read.
    /// - parameter progress: Called with the bytes that were read, and their number.
    /// - throws: ``SyncError``: `otherStore`, and `missingChanges` when the bundle builds on changes that
    ///   are not here; `StoreError` for the file; `WireError` for its content; `DatabaseError`.
    @discardableResult
    public func applyBundle(
        at path: String, _ access: BundleFile.Access, progress: SyncProgressHandler? = nil
    ) throws -> BundleReport {
        // Opened once: what a passphrase opens takes seconds to open.
        let file = try BundleFile.open(path, access)
        return try BundleReception(peer: peer, header: BundleFile.header(of: file))
            .run { sink in
                try file.rewind()
                try BundleFile.forEachFrame(of: file, path: path, progress: progress, sink)
            }
    }
}
