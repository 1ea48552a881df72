import CipherStore
import Foundation
import SyncEngine
import SyncMembers

/// What has to hold of the folder that a remote names.
enum FolderRemote {
    /// Throws when the folder is not there: it may be a drive that is not, or a mistyped name.
    ///
    /// - parameter creationHint: How one is made, where a command can do that.
    static func requireFolder(_ path: String, creationHint: String? = nil) throws {
        try refuseFile(path)
        guard !FileManager.default.fileExists(atPath: path) else { return }
        var hints = ["is the drive there?"]
        if let similar = similarFolder(path) {
            hints = ["did you mean: \(RemoteArgument.words(forFolder: similar))"]
        }
        throw Failure(
            "\(path): there is no such folder", hints: hints + (creationHint.map { [$0] } ?? []))
    }

    /// Throws when a file is there, in the place of which no folder can be made.
    static func refuseFile(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
            return
        }
        throw Failure(
            "\(path): it is a file, and no folder", hints: ["another store is named without dir:"])
    }

    /// A folder beside the one that is missing whose name is nearly the same.
    private static func similarFolder(_ path: String) -> String? {
        let url = URL(fileURLWithPath: path)
        let parent = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let folders = names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: parent + "/" + name, isDirectory: &isFolder)
                && isFolder.boolValue
        }
        guard let name = NameSuggestion.nearest(url.lastPathComponent, among: folders.sorted()) else {
            return nil
        }
        guard let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}

/// What push, pull and sync do with a folder, a bucket or a relay.
struct FolderExchange {
    let direction: SyncDirection
    let options: StoreOptions
    let remote: RemoteOptions
    let chosen: ChosenRemote
    let place: SharedPlace
    /// What the command said of the place, if it can.
    let placeOptions: PlaceOptions?
    /// Whether the line says which remote it is of.
    let isLabelled: Bool

    private struct Refused: Encodable {
        let replica: String
        let member: String?
        let reason: String
    }

    private struct Document: Encodable {
        let messageType: String?
        let time: String?
        let store: String
        let remote: String
        let pulled: Int64
        let pushed: Int64
        let conflicts: Int64
        let parked: Int64
        let bytesPulled: Int64
        let bytesPushed: Int64
        let replicas: Int
        let compacted: Bool
        let remarks: [String]
        /// What this store may do, in a database with members.
        let role: String?
        /// The replicas whose files were not taken in, and why.
        let refused: [Refused]?
        /// How many changes are not sent, because this store may not write.
        let unsent: Int64?
        /// The requests to a bucket, which cost money.
        let requests: Int?
        let seconds: Double
    }

    private var addsSnapshot: Bool { placeOptions?.snapshot == true }

    /// Reads the passphrase of the place, and opens the store.
    func prepare(_ store: ExchangedStore) throws -> PreparedExchange {
        let context = store.context
        try place.require(creates: remote.create)
        _ = try store.secret()
        if place.noun == "relay", remote.isPassphraseGiven && !isLabelled {
            throw Failure.usage("a relay needs no passphrase: the store has its key")
        }
        // One that is there now and gone later has lost its drive.
        let makesFolder = remote.create && !FileManager.default.fileExists(atPath: place.location)
        let opened = try place.open(
            store: options.store, remote, cost: remote.cost.scrypt, context, makesFolder: makesFolder,
            synchronizer: store.synchronizer)
        let synchronizer = try store.synchronizer()
        let told = ToldRemarks()
        var ready = PreparedExchange(
            name: chosen.name, synchronizer: synchronizer, remembered: chosen.remembered
        ) { output in
            try run(synchronizer, opened, output, told, context)
        } preview: {
            try explaining { try synchronizer.preview(direction, with: opened.transport) }
        } createTables: {
            throw Failure.usage(
                "a \(place.noun) does not tell how tables are made",
                hints: place.definitionHints(store: CommandWords.path(options.store)))
        }
        ready.folder = place.folder
        ready.relay = opened.relay
        return ready
    }

    private func run(
        _ synchronizer: Synchronizer, _ opened: OpenedPlace, _ output: PreparedExchange.Output,
        _ told: ToldRemarks, _ context: CommandContext
    ) throws -> ExitStatus {
        let (transport, start) = (opened.transport, ContinuousClock.now)
        let earlier = opened.requestCount?() ?? 0
        defer { conclude(opened, context) }
        try placeOptions?.remember(synchronizer)
        let report = try explaining { try exchange(synchronizer, transport, context) }
        // The exchange may have written one already, in the place of one that was damaged. A store that only reads writes none.
        let isSnapshotAdded = addsSnapshot && !report.isSnapshotRenewed && !onlyReads(report)
        if isSnapshotAdded {
            let progress = PageProgress(context)
            try synchronizer.publishSnapshot(in: transport, progress: progress.update)
            progress.finish()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let document = Document(
            messageType: output.messageType, time: output.time, store: options.store, remote: chosen.name,
            pulled: report.pulled?.rowCount ?? 0,
            pushed: report.pushed?.rowCount ?? 0, conflicts: report.pulled?.conflictCount ?? 0,
            parked: report.pulled?.parkedCount ?? 0, bytesPulled: report.pulled?.byteCount ?? 0,
            bytesPushed: report.pushed?.byteCount ?? 0, replicas: report.replicas.count,
            compacted: report.isCompacted, remarks: report.remarks, role: report.role?.description,
            refused: report.refused.isEmpty
                ? nil
                : report.refused.map {
                    Refused(
                        replica: $0.replica.description, member: $0.member?.text, reason: $0.reason.rawValue)
                },
            unsent: report.unsent?.count,
            requests: opened.requestCount.map { $0() - earlier },
            seconds: (seconds * 1000).rounded() / 1000)
        if try output.tells(report.pulled, report.pushed) {
            let label = isLabelled ? "\(PrintableText.escaped(chosen.name)): " : ""
            try context.print(document, text: output.line(label + text(report, isSnapshotAdded)))
        }
        if output.isOnce { try context.untrackedRemark(synchronizer, options.store) }
        for line in told.lines(of: report.notes, output) { context.note(line) }
        return try remarks(report, context)
    }

    /// Says what a relay did that an honest one does not do.
    private func conclude(_ opened: OpenedPlace, _ context: CommandContext) {
        guard let relay = opened.relay else { return }
        do {
            for words in try relay.conclude() { context.note("\(chosen.name): \(words)") }
        } catch {
            context.note("what was seen of the relay could not be noted: \(error)")
        }
    }

    private func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            if let failure = place.failure(opening: error) { throw failure }
            throw error
        } catch let error as SyncError where error.code == .otherStore {
            throw Failure.refused(
                error.message,
                hints: [
                    place.ownPlaceHint,
                    "replicas are made with: syncctl init <new> --join \(place.words)",
                ])
        }
    }

    private func exchange(
        _ synchronizer: Synchronizer, _ transport: MailboxTransport, _ context: CommandContext
    ) throws -> FolderReport {
        let progress = ExchangeProgress(context, pullUnit: .bytes)
        defer { progress.finish() }
        return try synchronizer.run(direction, transport, progress: progress.update)
    }

    private func text(_ report: FolderReport, _ isSnapshotAdded: Bool) -> String {
        let text = ExchangeText(direction: direction, pulled: report.pulled, pushed: report.pushed)
        let snapshot =
            isSnapshotAdded ? ["snapshot added"] : report.isSnapshotRenewed ? ["snapshot renewed"] : []
        return (text.parts + snapshot).joined(separator: ", ")
    }

    /// Whether this store may not say what all tables hold, which a snapshot does, too.
    private func onlyReads(_ report: FolderReport) -> Bool { report.unsent?.reason == .someTables }

    private func remarks(_ report: FolderReport, _ context: CommandContext) throws -> ExitStatus {
        if let old = report.renewedReplica {
            let reason =
                report.isRenewedForMember
                ? "it is the device of another member now, and the former one keeps that"
                : "its file is a copy, or was restored from an older one"
            context.note("this store was replica \(old.shortDescription) and is a new one: \(reason)")
        }
        if addsSnapshot && onlyReads(report) {
            context.note("no snapshot was added: a new replica would take it for everything")
        }
        if let reason = report.unrecordedReason {
            context.note("the changes were exchanged, but the contact could not be noted: \(reason)")
        }
        let status = context.parkedRemark(report.pulled?.parkedCount ?? 0, options.store)
        let isDone = report.remarks.isEmpty && report.unsent == nil && report.unrecordedReason == nil
        return isDone ? status : .attention
    }
}
