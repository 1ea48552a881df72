import CipherStore
import SyncWire

/// What a replica can say of itself whose file can't be written.
extension StorePeer {
    /// Greets; a replica that can't be written does so as it was when it was last brought up to date.
    ///
    /// - parameter requiringVersions: Whether all of its edits have to have versions, because they are to be
    ///   sent.
    /// - throws: ``StoreError`` of code `cannotWrite` when they don't.
    func greetAsItIs(requiringVersions: Bool = true) throws -> Greeting {
        guard !canWrite else { return try greet() }
        return try database.read { db in
            if requiringVersions { try requireVersions(db) }
            let metadata = try StoreMetadata.require(db)
            return try self.greeting(db, metadata, metadata.vector[metadata.replicaID()])
        }
    }

    /// Whether the file may be written, as far as that is known without writing. The readers of a pool never
    /// may.
    var canWrite: Bool { database.writeWithoutTransaction { $0.canWrite } }

    /// Throws when something would have to be written first, or else values would be sent under the versions
    /// of what they replaced.
    func requireVersions(_ db: Database) throws {
        let metadata = try StoreMetadata.require(db)
        let isReady =
            try metadata.format == MetadataSchema.version && FoldedStore.isFolded(db)
            && SchemaInspection(db: db).isUpToDate()
        guard !isReady else { return }
        throw StoreError(
            .cannotWrite,
            """
            it can't be written, and holds edits, or tables that another program changed, which have to be noted in it \
            before they can be sent; copy the file to where it can be written
            """, path: database.path)
    }
}
