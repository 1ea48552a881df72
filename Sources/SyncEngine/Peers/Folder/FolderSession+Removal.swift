import SyncWire

/// What a replica takes out of its subfolder.
extension FolderSession {
    /// Takes bundles of this replica off its list that a bundle of everything replaces: its own newer
    /// one, or another replica's. Of two bundles of everything that replace each other, that of the
    /// smaller replica id stays.
    func removeReplaced(
        _ head: inout FolderHead, _ bundles: [FolderContents.Bundle], _ own: ReplicaID
    ) {
        let others = bundles.filter { $0.isListed && $0.isWhole && $0.replica != own }
        let wholes = head.bundles.filter(\.base.isEmpty)
        head.bundles.removeAll { file in
            let target = file.targetVector
            if wholes.contains(where: { $0.name > file.name && $0.targetVector.covers(target) }) {
                return true
            }
            return others.contains { other in
                other.target.covers(target) && (!file.base.isEmpty || other.replica < own)
            }
        }
    }

    /// Removes all that this file has written under an identity that it gives up, but for statements: those are anybody's.
    func removeFiles(of former: ReplicaID) {
        let paths = FolderPaths(former)
        let files = (try? folder.place.files(in: paths.folder)) ?? []
        folder.place.remove(
            files.map(\.name).filter { !StatementFile.isName($0) }.map { paths.file($0) })
    }

    /// Removes what this replica wrote and no longer lists. The head that lists the rest is written.
    ///
    /// - parameter names: The files that were there when this session began: what came since, another process of this file
    ///   writes, and lists next. That takes it a while, so that a snapshot may be there already.
    func tidy(_ paths: FolderPaths, _ head: FolderHead, _ names: Set<String>) throws {
        // A snapshot that no head lists may be listed again, or is removed once another one is written. Who may not write
        // does neither.
        let snapshot = try head.snapshot?.name ?? (mayWrite ? snapshotRecord()?.name : nil)
        let listed = Set(head.bundles.map(\.name) + [snapshot].compactMap { $0 })
        let now = environment.milliseconds()
        var removed: [MailboxPath] = []
        // The exchange is done: what can't be looked through now is so the next time.
        for file in (try? folder.place.files(in: paths.folder)) ?? [] {
            let isOurs = FolderPaths.number(ofBundle: file.name) != nil || FolderPaths.isSnapshot(file.name)
            if isOurs && names.contains(file.name) && !listed.contains(file.name)
                && !isNewSnapshot(file.name)
            {
                removed.append(paths.file(file.name))
            } else if FolderPaths.isLeftover(file.name) {
                // Another process may be writing it.
                let age = now.subtractingReportingOverflow(file.modifiedMilliseconds ?? now).partialValue
                if age > 86_400_000 { removed.append(paths.file(file.name)) }
            }
        }
        folder.place.remove(removed)
    }

    /// So long after a snapshot was begun it is not taken for one that was given up, if no head lists it.
    private static var snapshotMillisecondsMax: Int64 { 600_000 }

    /// Whether a file is a snapshot that was begun just now, by its name.
    private func isNewSnapshot(_ name: String) -> Bool {
        FolderPaths.number(ofSnapshot: name).map { !isPast($0, by: Self.snapshotMillisecondsMax) } ?? false
    }
}
