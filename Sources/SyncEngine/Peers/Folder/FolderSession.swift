import CipherStore
import Foundation
import SyncWire

/// One synchronization with a folder, in whatever mailbox it is.
struct FolderSession {
    /// Where the files are. While this replica writes, changes wait there until they are committed.
    private(set) var folder: MailboxTransport
    let peer: StorePeer
    let environment: SyncEnvironment
    let progress: ((SyncProgress) throws -> Void)?

    /// A head is written anew when it is a day old.
    private static let headMillisecondsMax: Int64 = 86_400_000

    /// Bundles that can't be read although they are complete by their size.
    private var unreadable: Set<String> = []
    /// Bundles of files that have to give way before anybody takes what they wrote.
    var forked: Set<String> = []

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
        let contents = try FolderContents(folder, store: peer.store())
        var greeting = try peer.greet()
        guard
            try greeting.facts.parts.allSatisfy({ greeting.vector.covers($0.target) })
                && peer.exchangesAllTables(with: folder.name) && greeting.facts.partials.isEmpty
        else {
            throw SyncError(
                .scopeUnsupported,
                """
                a folder holds all tables or none, and this replica exchanges some only, or holds some rows of \
                one, or has changes of some only of other replicas: synchronize all tables with a store
                """)
        }
        var report = FolderReport(local: greeting.replica)
        if let fork = try fork(contents, greeting) {
            // What this file writes needs a name of its own.
            report.renewedReplica = greeting.replica
            try peer.renewIdentity([fork])
            greeting = try peer.greet()
            report.local = greeting.replica
        }
        report.renewedReplica = peer.formerReplica ?? report.renewedReplica
        report.replicas = contents.heads.keys.sorted()
        report.remarks = contents.remarks
        if direction != .push { try pull(contents, &greeting, &report) }
        if direction != .pull { try pushAtOnce(contents, greeting, &report) }
        remember(contents, greeting, &report)
        return report
    }

    // MARK: Pull

    private mutating func pull(
        _ contents: FolderContents, _ greeting: inout Greeting, _ report: inout FolderReport
    ) throws {
        var known = greeting.vector
        var applied = ApplySummary()
        var bytes: Int64 = 0
        while let bundle = next(contents, known) {
            do {
                applied.add(try apply(bundle))
                bytes = bytes.addingSaturated(Int64(max(0, bundle.byteCount)))
                known.join(bundle.target)
            } catch let error where Self.concernsFile(error) {
                unreadable.insert(bundle.identity)
                report.remarks.append(
                    "\(bundle.path): \((error as? StoreError)?.message ?? "\(error)")")
            } catch let error as SyncError where error.code == .forkedReplica {
                forked.insert(bundle.identity)
                // A file that got another identity has told all that it has under that.
                guard !greeting.facts.retirements.contains(where: { $0.replica == bundle.replica }) else {
                    continue
                }
                report.remarks.append("\(bundle.path): \(error.message)")
            }
        }
        greeting = try peer.greet()
        var heads = contents.heads
        if greeting.replica != report.local {
            if try abandon(report.local, contents) { heads[report.local] = nil }
            report.renewedReplica = report.local
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

    /// The smallest bundle that brings something and builds on nothing that is missing here.
    private func next(_ contents: FolderContents, _ known: VersionVector) -> FolderContents.Bundle? {
        contents.bundles.filter {
            !unreadable.contains($0.identity) && !forked.contains($0.identity)
                && !known.covers($0.target) && known.covers($0.base)
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
        guard header.sender == bundle.replica, header.base == bundle.base, header.target == bundle.target
        else {
            throw SyncError(.invalidBundle, "the bundle is not the one that its replica lists")
        }
        return try peer.receive { sink in
            let file = try folder.open(bundle.file)
            try BundleFile.forEachFrame(of: file, path: bundle.path, progress: report) { frame in
                try environment.cancellation?.check()
                try sink(frame)
            }
            try environment.cancellation?.check()
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
        case let error as SyncError: [.invalidBundle, .otherStore, .rowsMissing].contains(error.code)
        default: error is WireError
        }
    }

    // MARK: Push

    /// Writes what others lack. A place that can do that shows a bundle, the head that lists it, and the removal of what
    /// they replace at once: who sees a bundle without its head can't rely on it, and would write its changes again.
    private mutating func pushAtOnce(
        _ contents: FolderContents, _ greeting: Greeting, _ report: inout FolderReport
    ) throws {
        let place = folder
        folder = place.batching()
        defer { folder = place }
        try push(contents, greeting, &report)
        try folder.place.commit()
    }

    private mutating func push(
        _ contents: FolderContents, _ greeting: Greeting, _ report: inout FolderReport
    ) throws {
        let paths = FolderPaths(greeting.replica)
        var head = contents.heads[greeting.replica] ?? FolderHead(greeting)
        head.vector = FolderHead.encode(greeting.vector)
        head.points = greeting.facts.chains[greeting.replica] ?? []
        // A complaint lasts until the bundle is gone or could be read.
        let present = Set(contents.bundles.map(\.identity))
        head.unreadable = unreadable.union(
            head.unreadable.filter { present.contains($0) && !isCovered($0, contents, greeting.vector) }
        ).sorted()
        let usable = contents.bundles.filter {
            !unreadable.contains($0.identity) && !forked.contains($0.identity)
        }
        head.bundles.removeAll { file in
            !usable.contains { $0.replica == greeting.replica && $0.name == file.name }
        }
        // What cannot be taken in before its file gives way is told by nobody else either.
        let reachable = contents.reachable(without: unreadable.union(forked))
        if isCompactionDue(usable, reachable, greeting) {
            try write(since: VersionVector(), &head, paths, greeting, &report)
            report.isCompacted = true
        } else if !reachable.covers(greeting.vector) {
            try write(since: reachable, &head, paths, greeting, &report)
        }
        removeReplaced(&head, usable, greeting.replica)
        var contents = contents
        if isDue(head, contents.heads[greeting.replica]) {
            try contents.write(&head, through: folder, environment)
        }
        tidy(paths, head)
    }

    /// Whether a head is written: it says something new, or is so old that others could take its replica for gone.
    private func isDue(_ head: FolderHead, _ former: FolderHead?) -> Bool {
        guard var former, head != former else {
            return former == nil || age(of: head) > Self.headMillisecondsMax
        }
        former.vector = head.vector
        // Only what was read here is new. Each other replica would read the head for that.
        guard head == former else { return true }
        return age(of: head) >= min(folder.acknowledgementMilliseconds, Self.headMillisecondsMax)
    }

    private func age(of head: FolderHead) -> Int64 {
        environment.milliseconds().subtractingReportingOverflow(head.writtenMilliseconds).partialValue
    }

    /// Whether a replica does without a bundle, because it got its changes another way.
    private func isCovered(_ identity: String, _ contents: FolderContents, _ vector: VersionVector) -> Bool {
        contents.bundles.first { $0.identity == identity }.map { vector.covers($0.target) } ?? true
    }

    /// Whether the bundles that build on others outgrew the one of everything.
    private func isCompactionDue(
        _ bundles: [FolderContents.Bundle], _ reachable: VersionVector, _ greeting: Greeting
    ) -> Bool {
        // Only who knows everything that the folder holds can replace it.
        guard greeting.vector.covers(reachable) else { return false }
        let wholes = bundles.filter { $0.isListed && $0.isWhole }
        guard let whole = wholes.map(\.byteCount).max() else { return false }
        // One that builds on what is gone would stay, whatever is written.
        let increments = bundles.filter { bundle in
            !bundle.isWhole && reachable.covers(bundle.target)
                && !wholes.contains { $0.target.covers(bundle.target) }
        }
        return increments.count >= folder.compaction.bundleCountMax
            || increments.reduce(0) { $0.addingSaturated($1.byteCount) }
                > max(whole, folder.compaction.byteCountMax)
    }

    private func write(
        since base: VersionVector, _ head: inout FolderHead, _ paths: FolderPaths, _ greeting: Greeting,
        _ report: inout FolderReport
    ) throws {
        let last = head.bundles.compactMap { FolderPaths.number(ofBundle: $0.name) }.max() ?? 0
        let number = max(last + 1, environment.milliseconds())
        let name = FolderPaths.bundleName(number, environment.random())
        var reader = BundleReader()
        let rows = progress.map { progress in
            { (completed: Int64, total: Int64) in
                try progress(
                    SyncProgress(direction: .push, completedRowCount: completed, totalRowCount: total))
            }
        }
        let now = Date(timeIntervalSince1970: Double(environment.milliseconds()) / 1000)
        var rowCount: Int64 = 0
        let byteCount = try folder.place.write(paths.file(name), replacing: false) { sink in
            let file = try SealedFileWriter(
                kind: BundleFile.kind, lock: folder.lock(greeting.store), now: now, output: sink)
            let compressor = try FrameCompressor()
            let summary = try peer.send(since: base, progress: rows) { frame in
                try environment.cancellation?.check()
                if reader.header == nil { try reader.consume(frame, onHeader: { _ in }, onRow: { _ in }) }
                try compressor.compress(frame, to: file.write)
            }
            try file.end()
            rowCount = summary.rowCount
        }
        let target = reader.header?.target ?? greeting.vector
        head.bundles.append(
            FolderHead.File(
                name: name, base: FolderHead.encode(base), target: FolderHead.encode(target),
                byteCount: byteCount))
        head.vector = FolderHead.encode(target)
        report.pushed = SyncReport.Transfer(
            rowCount: rowCount, byteCount: Int64(byteCount), applied: ApplySummary())
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
