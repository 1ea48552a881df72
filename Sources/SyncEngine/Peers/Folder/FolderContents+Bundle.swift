import SyncWire

extension FolderContents {
    /// A bundle that is there.
    struct Bundle {
        let replica: ReplicaID
        let name: String
        let number: Int64
        let file: MailboxPath
        /// How messages name it.
        let path: String
        let base: VersionVector
        let target: VersionVector
        let byteCount: Int
        /// Whether the replica's head lists it, and it has the size that the head says.
        let isListed: Bool
        /// The SHA-256 that its replica has signed; nil in a database without members.
        var digest: String?

        /// Whether it can be applied by a replica that knows nothing.
        var isWhole: Bool { base.sequences.isEmpty }
        /// What a head calls it.
        var identity: String { "\(replica)/\(name)" }

        /// Checks that the file is the one that is listed.
        ///
        /// - throws: ``SyncError`` of code `invalidBundle`.
        func require(sender: ReplicaID, base: VersionVector, target: VersionVector) throws {
            guard sender == replica, base == self.base, target == self.target else {
                throw SyncError(.invalidBundle, "the bundle is not the one that its replica lists")
            }
        }
    }
}
