import CipherStore

/// What a copy of a store keeps of the remotes of the original, without their names.
///
/// The names tell of folders, servers and machines. But whether all tables were ever exchanged holds of a copy as well. A choice of
/// tables or rows for a remote stays with its name: a copy that forgot it would send that remote what was to stay here.
enum UnnamedRemote {
    /// Stands for all of them. No file, folder or server is called so, and no transport or mailbox of an app may be.
    static let name = "/"

    /// Refuses a remote that is called so: what it did, and what is chosen for it, would count as that of all remotes of the original.
    ///
    /// - throws: ``SyncError`` of code `reservedName`.
    static func requireOther(_ name: String) throws {
        guard name == self.name else { return }
        throw SyncError(
            .reservedName,
            "a remote can't be called \(name): a store keeps that name for the remotes of the store that it is a copy of. Give the transport or the mailbox another name"
        )
    }

    /// Replaces the names in a copy.
    static func replaceAll(_ db: Database) throws {
        try SyncAttempts.forgetNames(db, hasMetWhole: try ScopeStore(db: db).hasMetWhole())
        // An archive keeps them until a store is made of it.
        try PeerRegister(db: db).forgetNames()
    }
}
