import CipherStore
import Foundation
import SyncWire

/// One synchronization with a folder, in whatever mailbox it is.
struct FolderSession {
    /// Where the files are. While this replica writes, changes wait there until they are committed.
    var folder: MailboxTransport
    let peer: StorePeer
    let environment: SyncEnvironment
    let progress: ((SyncProgress) throws -> Void)?

    /// Bundles that can't be read although they are complete by their size.
    var unreadable: Set<String> = []
    /// Bundles of files that have to give way before anybody takes what they wrote.
    var forked: Set<String> = []
    /// Bundles that this store has no room for, or that were made for one that holds some tables or rows only.
    var untakable: Set<String> = []
    /// Bundles that say something of changes which two files made under one number: what is written here can't build on
    /// them.
    var disputed: Set<String> = []
    /// Bundles that say nothing new by their numbers, and mean other changes by these.
    var suspected: Set<String> = []
    /// Bundles that build on what is not here: of replicas that were retired before anybody saw what is in them, or on deletions
    /// that were forgotten.
    var late: Set<String> = []
    /// What this file wrote under an identity that it gave up.
    var abandoned: (replica: ReplicaID, generation: Int64, bundles: Set<String>)?
    /// The head that this replica has when it has written; nil before that.
    var head: FolderHead?
    /// When the files were listed.
    var listedMilliseconds = Int64.min
    /// The members of the database; nil when it has none.
    var members: FolderMembers?
    /// Their statements in the mailbox.
    var statements: FolderStatements?

    init(
        folder: MailboxTransport, peer: StorePeer, environment: SyncEnvironment,
        progress: ((SyncProgress) throws -> Void)?
    ) {
        self.folder = folder.cancelled(by: environment.cancellation)
        self.peer = peer
        self.environment = environment
        self.progress = progress
    }

    func run(_ direction: SyncDirection) throws -> FolderReport {
        var session = self
        return try session.exchange(direction)
    }

    private mutating func exchange(_ direction: SyncDirection) throws -> FolderReport {
        // The folder is read first: what another process of this file sends meanwhile, this file knows when it greets.
        listedMilliseconds = environment.milliseconds()
        let replicas = try FolderContents.replicas(in: folder)
        try meetMembers(replicas)
        let contents = try FolderContents(
            folder, store: peer.store(), replicas: replicas, members: members,
            checked: peer.checkedFiles(.bundles, in: folder.name),
            headers: peer.knownHeaders(in: folder.name))
        var greeting = try peer.greet()
        try peer.keep(contents.checked, in: folder.name)
        try peer.keep(contents.headers, in: folder.name)
        folder.padding = try peer.database.read { try SyncSetting.padding($0) }
        try peer.requireNoChoice(greeting, with: folder.name)
        var report = FolderReport(local: greeting.replica)
        if let fork = try fork(contents, greeting) {
            // What this file writes needs a name of its own.
            report.renewedReplica = greeting.replica
            try peer.renewIdentity([fork])
            greeting = try peer.greet()
            report.local = greeting.replica
        }
        if members?.isClaimedByAnother(greeting.replica) == true {
            // Nobody would take in what this device signs for it.
            report.renewedReplica = greeting.replica
            report.isRenewedForMember = peer.formerReplica == nil
            let former = greeting
            try peer.renewIdentity([])
            greeting = try peer.greet()
            abandonClaimed(former.replica, contents, knowing: former.vector)
            report.local = greeting.replica
        }
        report.renewedReplica = peer.formerReplica ?? report.renewedReplica
        report.replicas = contents.heads.keys.sorted()
        report.remarks = (statements?.remarks ?? []) + contents.remarks
        // This replica wrote what it did before it was a member's.
        report.refused = contents.refused.filter { $0.replica != report.local }
        report.role = members?.role
        try compareChains(contents, greeting)
        if direction != .push { try pull(contents, &greeting, &report) }
        // What came is told in any case, and so no error.
        let onlyReads = try direction == .both && report.pulled != nil && !peer.canTellAllTables()
        if onlyReads {
            report.unsent = try unsent(.someTables, contents.reachable(), greeting)
        } else if direction != .pull {
            try peer.requireAllTables(greeting, with: folder.name)
            try pushAtOnce(contents, greeting, &report)
        }
        remember(contents, greeting, &report)
        try noteRemovals(&report)
        if direction != .pull, !onlyReads { try lookAtSnapshot(contents, &report) }
        return report
    }

    // MARK: Pull

    private mutating func pull(
        _ contents: FolderContents, _ greeting: inout Greeting, _ report: inout FolderReport
    ) throws {
        let former = greeting.vector
        var known = former
        var applied = ApplySummary()
        var bytes: Int64 = 0
        while let bundle = next(contents, known) {
            suspected.remove(bundle.identity)
            do {
                let summary = try apply(bundle)
                applied.add(summary)
                bytes = bytes.addingSaturated(Int64(max(0, bundle.byteCount)))
                known.join(bundle.target)
                // Changes got other numbers.
                if summary.renewedReplica != nil { known = try peer.greet().vector }
            } catch let error where Self.concernsFile(error) || error is DigestedSource.Mismatch {
                unreadable.insert(bundle.identity)
                tell(error, of: bundle, in: &report)
            } catch let error as SyncError where error.code == .forkedReplica {
                forked.insert(bundle.identity)
                dispute(error.forks, by: bundle.replica, contents, greeting)
                // Here, too, if this file gave way.
                known = try peer.greet().vector
                // A file that got another identity has told all that it has under that. A copy of it that goes on under the
                // former one finds that out by the heads of others.
                guard !greeting.facts.retirements.contains(where: { $0.replica == bundle.replica }) else {
                    continue
                }
                report.remarks.append("\(bundle.path): \(error.message)")
            } catch let error as SyncError where Self.needsWhole(error) {
                late.insert(bundle.identity)
                report.remarks.append("\(bundle.path): \(error.message)")
            } catch let error where Self.isUntakable(error) {
                // Its author can do nothing about it, and what others wrote, and what is written here, does not wait.
                untakable.insert(bundle.identity)
                let message = (error as? SyncError)?.message ?? (error as? DatabaseError)?.message
                report.remarks.append("\(bundle.path): \(message ?? "it can't be taken in")")
            }
        }
        // Those that were found broken before, and are still missed.
        for (bundle, error) in contents.unreadable where !known.covers(bundle.target) {
            if let error { tell(error, of: bundle, in: &report) }
        }
        greeting = try peer.greet()
        var heads = contents.heads
        if greeting.replica != report.local {
            abandon(report.local, contents, knowing: former)
            if abandoned != nil { heads[report.local] = nil }
            report.renewedReplica = report.local
            report.isRenewedForMember = false
            report.local = greeting.replica
        }
        if bytes > 0 {
            report.pulled = SyncReport.Transfer(
                rowCount: applied.rowCount, byteCount: bytes, applied: applied)
        }
        for (replica, head) in heads.sorted(by: { $0.key < $1.key })
        where !greeting.vector.covers(FolderHead.decode(head.vector)) {
            report.remarks.append(
                "replica \(replica.shortDescription) has changes whose files are not here yet; synchronize again later"
            )
        }
    }

    private func tell(_ error: any Error, of bundle: FolderContents.Bundle, in report: inout FolderReport) {
        if error is DigestedSource.Mismatch, let members {
            report.refused.append(members.refusal(bundle.replica, .digestWrong))
        } else {
            report.remarks.append("\(bundle.path): \((error as? StoreError)?.message ?? "\(error)")")
        }
    }

    /// The smallest bundle that brings something and builds on nothing that is missing here.
    private func next(_ contents: FolderContents, _ known: VersionVector) -> FolderContents.Bundle? {
        contents.bundles.filter {
            !unreadable.contains($0.identity) && !forked.contains($0.identity)
                && !late.contains($0.identity) && !untakable.contains($0.identity)
                && (!known.covers($0.target) || suspected.contains($0.identity)) && known.covers($0.base)
        }.min { $0.byteCount < $1.byteCount }
    }

    private func apply(_ bundle: FolderContents.Bundle) throws -> ApplySummary {
        let report = progress.map { progress in
            { (completed: Int64, total: Int64) in
                try progress(
                    SyncProgress(direction: .pull, completedRowCount: completed, totalRowCount: total))
            }
        }
        let header = try BundleFile.header(of: folder.open(bundle.file))
        try bundle.require(sender: header.sender, base: header.base, target: header.target)
        try Self.requireAllTables(header)
        let terms: (Database) throws -> UploadTerms = { _ in .ofMailbox }
        return try peer.receiveStored(on: terms) { _, sink in
            let (file, source) = try folder.open(bundle.file, digest: bundle.digest)
            try BundleFile.forEachFrame(of: file, path: bundle.path, progress: report) { frame in
                try environment.cancellation?.check()
                try sink(frame)
            }
            try source.check()
            try environment.cancellation?.check()
        }
    }

    /// Whether an error is about what a bundle builds on, so that one of everything would be taken in.
    private static func needsWhole(_ error: SyncError) -> Bool {
        [.rowsMissing, .resyncRequired].contains(error.code)
            || (error.code == .retiredReplica && error.isOfSender)
    }

    /// Whether an error is about what one bundle brings, and neither its author nor this store can do anything about it.
    private static func isUntakable(_ error: any Error) -> Bool {
        switch error {
        case let error as SyncError:
            [.capacityExceeded, .changedMeanwhile, .scopeUnsupported].contains(error.code)
        case let error as DatabaseError: error.resultCode == .SQLITE_TOOBIG
        default: false
        }
    }

    /// Throws for a bundle that says of single tables more than of all, or was made for who holds some rows. Nobody who may
    /// write to a folder makes one, and who took its rows in could write to no folder any more (``StorePeer/requireAllTables``).
    static func requireAllTables(_ header: BundleHeader) throws {
        guard header.facts.parts.allSatisfy({ header.target.covers($0.target) }),
            header.facts.partials.isEmpty, header.facts.restrictions.isEmpty
        else {
            throw SyncError(
                .scopeUnsupported,
                "the bundle has changes of some tables only, or some rows of one, and a folder holds all tables or none"
            )
        }
    }

    /// Whether an error is about one file of the folder, and others can still be used.
    private static func concernsFile(_ error: any Error) -> Bool {
        switch error {
        case let error as StoreError:
            [
                .missing, .empty, .cannotRead, .archiveDamaged, .wrongPassphrase, .formatTooNew,
                .encryptionMismatch, .costOutOfRange,
            ]
            .contains(error.code)
        case let error as SyncError: [.invalidBundle, .otherStore].contains(error.code)
        default: error is WireError
        }
    }

    /// Notes what the others said that they know.
    private func remember(
        _ contents: FolderContents, _ greeting: Greeting, _ report: inout FolderReport
    ) {
        do {
            for (replica, head) in contents.heads where replica != greeting.replica {
                try peer.remember(
                    replica, name: folder.name, knowing: FolderHead.decode(head.vector),
                    at: min(head.writtenMilliseconds, environment.milliseconds()))
            }
        } catch {
            // The changes are committed: that must not read as a failure.
            report.unrecordedReason = "\(error)"
        }
    }
}

extension StorePeer {
    /// What was found before in files of a mailbox that somebody complains about.
    func checkedFiles(_ kind: CheckedFiles.Kind, in mailbox: String) throws -> CheckedFiles {
        let now = environment.milliseconds()
        return try database.read { try CheckedFiles.load($0, kind, mailbox: mailbox, at: now) }
    }

    /// Keeps what was found by now.
    func keep(_ checked: CheckedFiles, in mailbox: String) throws {
        guard checked.hasChanged, canWrite else { return }
        try database.write { try checked.save($0, mailbox: mailbox) }
    }
}
