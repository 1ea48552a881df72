import CipherStore

/// What a copy of a store keeps of the remotes of the original, without their names.
///
/// The names tell of folders, servers and machines. But whether all tables were ever exchanged holds of a copy as well. A choice of
/// tables or rows for a remote stays with its name: a copy that forgot it would send that remote what was to stay here.
enum UnnamedRemote {
    /// Stands for all of them. No file, folder or server is called so.
    static let name = "/"

    /// Replaces the names in a copy.
    static func replaceAll(_ db: Database) throws {
        try SyncAttempts.forgetNames(db, hasMetWhole: try ScopeStore(db: db).hasMetWhole())
        // An archive keeps them until a store is made of it.
        try PeerRegister(db: db).forgetNames()
    }
}
