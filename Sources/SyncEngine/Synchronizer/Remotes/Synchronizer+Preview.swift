import CipherStore
import SyncWire

extension Synchronizer {
    /// Says what a synchronization would exchange now, and exchanges nothing.
    ///
    /// Files on this machine are read and not written to. A server, or a store at the other end of a pipe, is
    /// asked who it is and what it knows. For its answer it numbers its latest changes, and changes nothing
    /// else. Conflicts are not predicted.
    ///
    /// - throws: ``SyncError`` of code `otherStore`; what the connection throws; `DatabaseError`.
    public func preview(
        _ direction: SyncDirection = .both, with transport: any Transport
    ) throws -> SyncPreview {
        let remote = try transport.connect(environment)
        defer { remote.close() }
        let other = remote as? StorePeer
        let (here, there) = (try peer.outlook(), try other?.outlook() ?? remote.greet())
        guard here.store == there.store else {
            throw SyncError(.otherStore, "the remote is a replica of another database")
        }
        let tables = try database.read { try ScopeStore(db: $0).tableNames(of: transport.name) }
        func request(_ greeting: Greeting) -> TransferRequest {
            TransferRequest(base: greeting.vector, parts: greeting.facts.parts, tables: tables)
        }
        var preview = SyncPreview()
        if direction != .pull { preview.outgoing = try peer.rowCounts(request(there)) }
        guard direction != .push else { return preview }
        preview.incoming = try other?.rowCounts(request(here))
        if other == nil { preview.incomingChangeCount = Self.changeCount(there.vector, beyond: here.vector) }
        return preview
    }

    /// Does the same for a mailbox. Only the heads are read, and new statements about members, which are kept.
    ///
    /// - throws: As ``preview(_:with:)-(_,Transport)``; `StoreError` of code `wrongPassphrase`; ``MailboxError`` of
    ///   code `unreachable`.
    public func preview(
        _ direction: SyncDirection = .both, with mailbox: MailboxTransport
    ) throws -> SyncPreview {
        let here = try peer.outlook()
        var mailbox = mailbox
        let replicas = try FolderContents.replicas(in: mailbox)
        let members = try peer.meetMembers(replicas, &mailbox)
        let contents = try FolderContents(mailbox, store: here.store, replicas: replicas, members: members)
        var known = VersionVector()
        for bundle in contents.bundles { known.join(bundle.target) }
        var preview = SyncPreview()
        if direction != .pull {
            preview.outgoing = try peer.rowCounts(TransferRequest(base: known))
        }
        if direction != .push {
            preview.incomingChangeCount = Self.changeCount(known, beyond: here.vector)
        }
        return preview
    }

    private static func changeCount(_ vector: VersionVector, beyond known: VersionVector) -> Int64 {
        vector.sequences.reduce(0) { sum, entry in
            sum.addingReportingOverflow(max(0, entry.value - known[entry.key])).partialValue
        }
    }
}
