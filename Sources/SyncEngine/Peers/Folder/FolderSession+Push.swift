import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What a replica writes.
extension FolderSession {
    /// A head is written anew when it is a day old.
    private static var headMillisecondsMax: Int64 { 86_400_000 }

    /// The files are listed again before the head is written when they were listed so long ago: another process may have
    /// listed something in the head meanwhile, and a listing may be a request.
    private static var listingMillisecondsMax: Int64 { 60_000 }

    /// Writes what others lack. A place that can do that shows a bundle, the head that lists it, and the removal of what
    /// they replace at once: who sees a bundle without its head can't rely on it, and would write its changes again.
    mutating func pushAtOnce(
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
        guard try prepareMembers(contents, greeting, &report) else { return }
        var contents = contents
        contents.adopt(members)
        let paths = FolderPaths(greeting.replica)
        var head = contents.heads[greeting.replica] ?? FolderHead(greeting)
        head.prepare(for: members?.record.device?.card.id)
        head.tell(greeting.vector, greeting.facts.chains)
        head.points = greeting.facts.chains[greeting.replica] ?? []
        if let members {
            head.tell(
                statements: members.record.state.heads,
                lacking: members.lacking(in: contents, but: greeting.replica))
        }
        complain(&head, contents, greeting.vector)
        head.snapshot = try head.snapshot ?? lostSnapshot(of: greeting.replica)
        let untaken = contents.untaken(greeting, at: environment.milliseconds())
        let refused = unreadable.union(forked).union(disputed).union(late).union(untakable)
        let left = refused.union(head.untaken).union(untaken).union(abandoned?.bundles ?? [])
        let usable = contents.bundles.filter { !left.contains($0.identity) }
        head.bundles.removeAll { file in
            !usable.contains { $0.replica == greeting.replica && $0.name == file.name }
        }
        // What cannot be taken in before its file gives way is told by nobody else either.
        let reachable = contents.reachable(without: left)
        if let role = members?.role, role < .writer {
            try keepToItself(&head, reachable, greeting, &report)
        } else if isCompactionDue(usable, reachable, greeting)
            || !reachable.covers(greeting.vector) && isOutgrown(head, greeting)
        {
            try write(since: VersionVector(), &head, paths, greeting, &report)
            report.isCompacted = true
        } else if contents.bundles.contains(where: {
            $0.replica == greeting.replica && untaken.contains($0.identity)
        }) {
            // What it builds on may mean something else to whoever can't take it in.
            try write(since: VersionVector(), &head, paths, greeting, &report)
        } else if !reachable.covers(greeting.vector) {
            try write(since: reachable, &head, paths, greeting, &report)
        }
        removeReplaced(&head, usable, greeting.replica)
        if isDue(head, contents.heads[greeting.replica]) {
            try takeOver(&head, &contents, greeting)
            try contents.write(&head, through: folder, environment)
        }
        removeAbandoned()
        try tidy(paths, head, contents.names[greeting.replica] ?? [])
        self.head = head
    }

    /// Takes over what another process of this file has written into the head since this session has read it.
    private func takeOver(
        _ head: inout FolderHead, _ contents: inout FolderContents, _ greeting: Greeting
    ) throws {
        let former = contents.heads[greeting.replica]
        let (age, overflows) = environment.milliseconds().subtractingReportingOverflow(listedMilliseconds)
        if overflows || age < 0 || age > Self.listingMillisecondsMax {
            // Buckets and relays answer from the listing that they know.
            // Without it the head is written from what is known, as what it lists is there already.
            _ = try? FolderContents.replicas(in: contents.folder)
            try environment.cancellation?.check()
        }
        guard contents.readAgain(greeting.replica, of: greeting.store),
            let current = contents.heads[greeting.replica]
        else { return }
        head.generation = max(head.generation, current.generation)
        guard mayWrite else { return }
        if current.snapshot != former?.snapshot { head.snapshot = current.snapshot }
        let known = Set((former?.bundles ?? []).map(\.name) + head.bundles.map(\.name))
        head.bundles += current.bundles.filter { !known.contains($0.name) }
        head.bundles.sort { $0.name < $1.name }
    }

    /// Says what of others can't be used here. A complaint lasts until the bundle is gone or could be read.
    private func complain(_ head: inout FolderHead, _ contents: FolderContents, _ known: VersionVector) {
        let present = contents.bundles + contents.unreadable.map(\.bundle)
        let targets = Dictionary(
            present.map { ($0.identity, $0.target) }, uniquingKeysWith: { one, _ in one })
        let lacks = { (bundle: String) in targets[bundle].map { !known.covers($0) } ?? false }
        head.unreadable = Array(
            unreadable.union(head.unreadable.filter(lacks)).sorted().prefix(FolderHead.complaintCountMax))
        head.untaken = head.untaken.union(forked).union(late).filter(lacks)
    }

    /// Whether a head is written: it says something new, or is so old that others could take its replica for gone.
    private func isDue(_ head: FolderHead, _ former: FolderHead?) -> Bool {
        // A newcomer would not get the key of a head in an epoch that does not count any more.
        if let former, let members, !members.isShared(former.salt) { return true }
        guard var former, head != former else {
            return former == nil || age(of: head) > Self.headMillisecondsMax
        }
        former.know(as: head)
        // Only what was read here is new. Each other replica would read the head for that.
        guard head == former else { return true }
        return age(of: head) >= min(folder.acknowledgementMilliseconds, Self.headMillisecondsMax)
    }

    /// How long ago a head was written. One of the future was written before the clock was set back: it is as old as any, as
    /// nothing would be due until that future is there.
    private func age(of head: FolderHead) -> Int64 {
        let now = environment.milliseconds()
        let (age, overflows) = now.subtractingReportingOverflow(head.writtenMilliseconds)
        return overflows || age < 0 ? .max : age
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

    /// Whether the head would get too long with one more bundle: one of everything replaces those that it lists.
    private func isOutgrown(_ head: FolderHead, _ greeting: Greeting) -> Bool {
        !head.bundles.isEmpty
            && head.byteCount(withOneTo: greeting.vector) > folder.compaction.headByteCountMax
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
        var digest: DigestingSink?
        let byteCount = try folder.place.write(paths.file(name), replacing: false) { sink in
            digest = members.map { _ in DigestingSink(sink) }
            let file = try SealedFileWriter(
                kind: BundleFile.kind, lock: folder.lock(greeting.store), now: now,
                padding: folder.padding, output: digest?.write ?? sink)
            let compressor = try FrameCompressor()
            var request = TransferRequest(base: base)
            request.isOfAllTables = true
            let summary = try peer.send(request, progress: rows) { frame in
                try environment.cancellation?.check()
                if reader.header == nil { try reader.consume(frame, onHeader: { _ in }, onRow: { _ in }) }
                try compressor.compress(frame, to: file.write)
            }
            try file.end()
            // Another process may have given the file another identity meanwhile.
            guard reader.header?.sender == greeting.replica else {
                throw SyncError(
                    .changedMeanwhile, "this store got another replica id meanwhile; synchronize again")
            }
            // The store may have become one that holds a part only, since it greeted.
            if let header = reader.header { try Self.requireAllTables(header) }
            rowCount = summary.rowCount
        }
        // Readers hold the bundle to what the head says of it. It builds on nothing where deletions were forgotten since.
        let target = reader.header?.target ?? greeting.vector
        head.bundles.append(
            FolderHead.File(
                name: name, base: FolderHead.encode(reader.header?.base ?? base),
                target: FolderHead.encode(target), byteCount: byteCount, sha256: digest?.text))
        // Another process of this file may have learned more meanwhile, and no hash was read at these numbers.
        head.tell(target, greeting.facts.chains)
        report.pushed = SyncReport.Transfer(
            rowCount: rowCount, byteCount: Int64(byteCount), applied: ApplySummary())
    }
}
