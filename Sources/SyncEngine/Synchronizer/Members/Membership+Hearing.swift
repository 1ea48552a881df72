import CipherStore
import SyncMembers
import SyncWire

/// What others have said of members meanwhile.
extension Membership {
    /// So many files show whether the passphrase is the right one.
    private static var trialCountMax: Int { 3 }

    /// Brings here what was said of members in a mailbox, and no rows, before something is said that has to know it, such as a
    /// recovery: ``recover(by:as:successor:)``.
    ///
    /// Files that could not be read before are read again.
    ///
    /// - parameter mailbox: The place that keeps the files.
    /// - returns: Whether it holds something that was said in this membership, and the passphrase opens it; and what could not be used.
    /// - throws: ``SyncError`` of code `notMember` when the passphrase opens nothing of what was read there before; `StoreError`,
    ///   ``MailboxError``, `DatabaseError`.
    package func hear(through mailbox: MailboxTransport) throws -> (isHeard: Bool, remarks: [String]) {
        let (peer, name) = (synchronizer.peer, mailbox.mailbox.name)
        guard try peer.hasMembers() else { return (false, []) }
        let store = try peer.store()
        mailbox.expectFiles(of: store)
        var statements = try FolderStatements(mailbox, FolderContents.replicas(in: mailbox))
        let known = try synchronizer.database.read { try StatementFiles.load($0, mailbox: name) }
        let held = statements.listed.filter { file in
            known[file.path.description].map { $0.byteCount == file.byteCount && !$0.held.isEmpty } ?? false
        }.sorted { $0.byteCount < $1.byteCount }
        // Under a wrong passphrase, what is new would pass for damaged, and not be read again for an hour.
        for file in held.prefix(Self.trialCountMax) where !statements.isOpened {
            _ = try statements.content(of: file, store)
        }
        guard held.isEmpty || statements.isOpened else {
            throw SyncError(
                .notMember,
                statements.remarks.last
                    ?? "\(mailbox.mailbox.location): what was said of members can't be read")
        }
        let waiting = known.values.filter(\.waits)
        if !waiting.isEmpty {
            try synchronizer.database.write { db in
                for entry in waiting { try StatementFiles.remove(db, mailbox: name, entry.path) }
            }
        }
        let isKnown = try statements.pull(peer) != nil
        let holdsSome = statements.entries.values.contains { !$0.held.isEmpty }
        return (isKnown && statements.isOpened && holdsSome, statements.remarks)
    }
}
