import CipherStore
import SyncWire

/// Gives a store a new replica id.
///
/// Two files with one replica id lose changes: each hides the other's behind
/// its own numbers. A new id costs little, so it is made whenever there is doubt.
enum ReplicaIdentity {
    /// Makes a clone, that is a copy of another replica's file, a replica of its own.
    ///
    /// What the original had written stays the original's. Log entries that it
    /// had not folded, which only a foreign copy has, become the clone's, and merge as equal values.
    ///
    /// - parameter original: What errors call the file that it is a copy of.
    /// - throws: ``SyncError``, of code `unsafeSchema` when something in the schema reaches into the metadata; `DatabaseError`.
    static func mintForClone(
        _ db: Database, _ environment: SyncEnvironment, of original: String
    ) throws {
        try MetadataSchema.upgrade(db)
        // Somebody else may have written the file: what is kept of statements is believed later, and so is the mark.
        try ForeignSchema.check(db, of: original)
        try SchemaMark(db: db).forget()
        try StatementLedger.removeForged(db, of: StoreMetadata.require(db).store)
        try mintForCopy(db, environment)
        try PeerRegister(db: db).removeAll()
        try RemoteSchema.forget(db)
        try StoreFence.forget(db)
    }

    /// Makes a file that turned out to be a copy a replica of its own. What it holds under
    /// versions is the original's; what the log holds beyond that may be the copy's.
    static func mintForCopy(_ db: Database, _ environment: SyncEnvironment) throws {
        let metadata = try StoreMetadata.require(db)
        // The original knew at least what its copy knows.
        try ReplicaRegister(db: db).note(
            metadata.vector, of: metadata.replicaID(), at: environment.milliseconds())
        try PartialTable.beginIdentity(db, after: metadata)
        try OriginalValues.removeStale(db)
        try addReplica(db, environment)
        try debugAssert(
            StoreMetadata.require(db).replicaID() != metadata.replicaID(), "two files have one identity")
        try ChangeLog(db).beginAnew(after: metadata.folded)
    }

    @discardableResult
    static func addReplica(_ db: Database, _ environment: SyncEnvironment) throws -> Int64 {
        let number = try ReplicaRegister(db: db).add(environment.identifier())
        try StoreMetadata.setSelf(db, number)
        return number
    }
}
