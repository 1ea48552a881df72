import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What is written of the statements about members.
extension FolderStatements {
    /// A replica that has so many files of its own writes one in their place, of what they held.
    private static var ownCountMax: Int { 8 }
    /// How many files are read again because somebody misses what they should hold.
    private static var recheckCountMax: Int { 16 }
    /// A newcomer can tell nobody what it misses. So a file that invites one has all statements, if they are no more bytes.
    private static var invitingByteCountMax: Int { 4 << 20 }

    /// Reads files again that should hold statements which somebody misses: anybody may have put others in their place.
    ///
    /// - parameters:
    ///     - lacked: The statements.
    ///     - complaints: Who says so, and in which head.
    mutating func recheck(
        _ lacked: Set<StatementID>, _ complaints: [String], _ state: MembershipState, _ peer: StorePeer
    ) throws {
        var checked = try peer.checkedFiles(.statements, in: folder.mailbox.name)
        var (suspected, others): ([Listed], [Listed]) = ([], [])
        // What is too long, or has another size than it had, is not among the entries.
        for file in listed where !readNow.contains(file.path) {
            guard let entry = entries[file.path.description], entry.isOpened else { continue }
            if entry.held.contains(where: { lacked.contains($0) }) {
                if checked.answer(Self.question(file, complaints)) != .sound { suspected.append(file) }
            } else {
                others.append(file)
            }
        }
        guard !suspected.isEmpty else { return try peer.keep(checked, in: folder.mailbox.name) }
        // A file that the passphrase does not open is another one if the passphrase is the right one.
        if !isOpened, let other = others.min(by: { $0.byteCount < $1.byteCount }) {
            _ = try content(of: other, state.store)
        }
        let now = max(0, peer.environment.milliseconds())
        // When there are too many, it is the turn of others the next time.
        let start = Int(now / 1000 % Int64(suspected.count))
        let (mailbox, queue) = (folder.mailbox.name, suspected[start...] + suspected[..<start])
        var changed: [StatementFiles.Entry] = []
        for file in queue.prefix(Self.recheckCountMax) {
            guard let content = try self.content(of: file, state.store) else {
                // Who misses it can't read it either. It is not noted: the place may give it again.
                if withheld.contains(file.path) { entries[file.path.description] = nil }
                continue
            }
            let names = Set(content.statements.map(\.id))
            let held = names.filter { state.statements[$0] != nil }
            let waits = content.isDamaged || held.count < names.count
            let entry = StatementFiles.Entry(
                path: file.path.description, byteCount: file.byteCount,
                triedMilliseconds: waits ? max(1, now) : 0, held: held.sorted(), isOpened: content.isOpened)
            guard entry != entries[entry.path] else {
                if !waits { checked.note(Self.question(file, complaints), .sound) }
                continue
            }
            entries[entry.path] = entry
            changed.append(entry)
        }
        try peer.keep(checked, in: mailbox)
        guard !changed.isEmpty else { return }
        try peer.database.write { db in
            for entry in changed { try StatementFiles.note(db, mailbox: mailbox, entry) }
        }
    }

    private static func question(_ file: Listed, _ complaints: [String]) -> CheckedFiles.Question {
        CheckedFiles.question(file.path.description, version: file.version, complaints: complaints)
    }

    /// Writes what is known here and in no file of the mailbox, as one file.
    ///
    /// One that takes the place of its own files has what they held, too, and not what is in those of others: everybody would
    /// keep a copy of everything there.
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
        let all = Array(record.state.statements.values)
        if isInviting(missing, all) {
            missing = all
        } else if replaced.count >= Self.ownCountMax {
            let own = Set(replaced.flatMap { entries[$0.description]?.held ?? [] })
            missing += all.filter { own.contains($0.id) }
        } else {
            replaced = []
        }
        missing.sort { $0.id < $1.id }
        let path = paths.file(StatementFile.name(peer.environment.identifier()))
        let now = Date(timeIntervalSince1970: Double(peer.environment.milliseconds()) / 1000)
        let byteCount = try place.place.write(path, replacing: false) { sink in
            try StatementFile.write(
                missing, lock: folder.lock(record.state.store), now: now, padding: place.padding, to: sink)
        }
        // Should the file not get there, no listing has it, and this counts for nothing.
        let entry = StatementFiles.Entry(
            path: path.description, byteCount: byteCount, triedMilliseconds: 0, held: missing.map(\.id),
            isOpened: true)
        let mailbox = folder.mailbox.name
        try peer.database.write { try StatementFiles.note($0, mailbox: mailbox, entry) }
        place.place.remove(replaced)
    }

    private func isInviting(_ missing: [SignedStatement], _ all: [SignedStatement]) -> Bool {
        let invites = missing.contains { statement in
            if case .addMember = statement.statement.kind { true } else { false }
        }
        return invites && all.reduce(0) { $0 + $1.bytes.count } <= Self.invitingByteCountMax
    }
}
