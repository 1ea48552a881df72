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

    /// Removes what this file wrote under the identity that it just gave up because of a bundle: what it said goes on under
    /// the new one. The old files would show changes under numbers that it gave up, too, and others would give theirs up
    /// for them. Its head was found to be of this file when the session began, so no other file that keeps the identity
    /// has written since.
    ///
    /// - parameter former: The identity that it gave up.
    mutating func abandon(_ former: ReplicaID, _ contents: FolderContents) {
        let paths = FolderPaths(former)
        folder.place.remove(paths.file(FolderPaths.headName))
        let bundles = contents.bundles.filter { $0.replica == former }
        forked.formUnion(bundles.map(\.identity))
        folder.place.remove(bundles.map(\.file))
    }

    /// Notes the bundles of others that say something of changes which two files made under one number. What they mean by it
    /// need not be what this file knows.
    ///
    /// - parameter forks: The replicas, with the last changes that both files have.
    mutating func dispute(_ forks: [Fork], _ contents: FolderContents, _ greeting: Greeting) {
        disputed.formUnion(
            contents.bundles.filter { bundle in
                bundle.replica != greeting.replica && forks.contains { bundle.target[$0.replica] > $0.common }
            }.map(\.identity))
    }
}
