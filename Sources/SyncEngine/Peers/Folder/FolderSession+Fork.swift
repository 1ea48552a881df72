import SyncWire

/// Files that go on under one identity, and what a folder shows of them.
extension FolderSession {
    /// Whether this file was restored from an older copy, or another one goes on under its identity.
    func fork(_ contents: FolderContents, _ greeting: Greeting) throws -> Fork? {
        if let head = contents.heads[greeting.replica],
            let fork = try peer.fork(of: greeting.replica, from: head.points)
        {
            return fork
        }
        guard contents.sequence(of: greeting.replica) > greeting.ownSequence else { return nil }
        return Fork(replica: greeting.replica, common: 0)
    }

    /// Removes what this file wrote under the identity that it just gave up, when nobody takes it in any more: what it
    /// said goes on under the new one. Its head was found to be of this file when the session began, so no other file
    /// that keeps the identity has written since.
    ///
    /// - parameter former: The identity that it gave up.
    /// - returns: Whether anything was removed.
    mutating func abandon(_ former: ReplicaID, _ contents: FolderContents) throws -> Bool {
        guard let head = contents.heads[former], try peer.fork(of: former, from: head.points) != nil else {
            return false
        }
        let paths = FolderPaths(former)
        folder.place.remove(paths.file(FolderPaths.headName))
        let bundles = contents.bundles.filter { $0.replica == former }
        forked.formUnion(bundles.map(\.identity))
        folder.place.remove(bundles.map(\.file))
        return true
    }
}
