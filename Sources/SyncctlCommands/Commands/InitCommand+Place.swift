import CipherStore
import SyncEngine

extension InitCommand {
    /// Begins from the snapshot of a folder or bucket, and brings what came after it.
    func joinPlace(
        _ place: SharedPlace, _ path: String, _ passphrase: borrowing Passphrase, _ context: CommandContext
    ) throws {
        let transport = try place.open(store: path, remotePassphrase, context).transport
        Interruption.listen()
        let progress = PageProgress(context)
        do {
            try Synchronizer.join(
                transport, at: path, passphrase: passphrase, invitation: membership.invitation(),
                progress: progress.update)
        } catch {
            throw explained(error, of: place)
        }
        progress.finish()
        // The store is whole, whatever becomes of this.
        let queue = try context.open(path, Secret(passphrase))
        let synchronizer = try Synchronizer(existing: queue)
        remember(synchronizer, context)
        do {
            let report = try synchronizer.run(.both, transport)
            try queue.close()
            for remark in report.notes { context.note(remark) }
        } catch {
            // It can't be made again, as its file is there.
            context.note(
                "the store joined; its first synchronization is repeated by: syncctl sync \(CommandWords.path(path))"
            )
            throw explained(error, of: place)
        }
    }

    /// Before the first synchronization, which may fail: then `sync` repeats it with the same place.
    private func remember(_ synchronizer: Synchronizer, _ context: CommandContext) {
        guard let remembered = join.flatMap({ ChosenRemote(given: $0, bucket).remembered }) else { return }
        do {
            try synchronizer.remember(remote: remembered)
        } catch {
            context.note("the store joined, but the remote could not be noted: \(error)")
        }
    }

    /// An error with what to do about it, where that is known.
    private func explained(_ error: any Error, of place: SharedPlace) -> any Error {
        switch error {
        case let error as StoreError: place.failure(opening: error) ?? error
        case let error as SyncError where error.code == .notMember && membership.file == nil:
            Failure.refused(
                error.message, hints: ["use what an admin gets by syncctl member invite: --membership-file"])
        case let error as SyncError where error.code == .snapshotMissing:
            Failure(
                error.message,
                hints: [
                    "a replica puts one there with: syncctl sync <its store> --remote \(place.words) --snapshot",
                    "if one has done so, compare the name of the \(place.noun) with the one given there",
                ])
        default: error
        }
    }
}
