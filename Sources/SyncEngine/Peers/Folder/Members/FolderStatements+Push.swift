import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What is written of the statements about members.
extension FolderStatements {
    /// A replica that has so many files of its own writes one in their place.
    private static var ownCountMax: Int { 8 }

    /// Writes what is known here and in no file of the mailbox, as one file.
    ///
    /// - parameters:
    ///     - place: The mailbox, or one where changes wait.
    ///     - replica: This replica, in whose folder it goes.
    func push(
        _ record: MembershipRecord, through place: MailboxTransport, of replica: ReplicaID, _ peer: StorePeer
    ) throws {
        let held = Set(entries.values.flatMap(\.held))
        var missing = record.state.statements.values.filter { !held.contains($0.id) }
        guard !missing.isEmpty else { return }
        let paths = FolderPaths(replica)
        var replaced = listed.map(\.path).filter { $0.folder == paths.folder }
        if replaced.count < Self.ownCountMax { replaced = [] }
        if !replaced.isEmpty { missing = Array(record.state.statements.values) }
        missing.sort { $0.id < $1.id }
        let path = paths.file(StatementFile.name(peer.environment.identifier()))
        let now = Date(timeIntervalSince1970: Double(peer.environment.milliseconds()) / 1000)
        let byteCount = try place.place.write(path, replacing: false) { sink in
            try StatementFile.write(
                missing, lock: folder.lock(record.state.store), now: now, padding: place.padding, to: sink)
        }
        // Should the file not get there, no listing has it, and this counts for nothing.
        let entry = StatementFiles.Entry(
            path: path.description, byteCount: byteCount, triedMilliseconds: 0, held: missing.map(\.id))
        let mailbox = folder.mailbox.name
        try peer.database.write { try StatementFiles.note($0, mailbox: mailbox, entry) }
        place.place.remove(replaced)
    }
}
