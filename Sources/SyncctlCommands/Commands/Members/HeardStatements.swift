import CipherStore
import SyncEngine

/// Brings here what others have said of members, before a command says what has to know it.
struct HeardStatements {
    /// The store of the command.
    let store: ExchangedStore
    /// The place that was named, and how places are reached.
    let remote: RemoteOptions

    private static let offlineHint =
        "go on without: --offline; of two uses of the recovery key that did not know each other one counts, and whom the other one let in is out"

    /// Asks the place that was named, else all that the store knows.
    ///
    /// - throws: A ``Failure`` when none could be asked.
    func hear() throws {
        let places = try places()
        guard !places.isEmpty else {
            throw Failure.refused(
                "the store knows no relay, folder or bucket that tells what was said of members meanwhile",
                hints: ["name one with: --remote dir:<folder>", Self.offlineHint])
        }
        var failures: [Failure] = []
        for place in places {
            do {
                try hear(from: place)
            } catch {
                var failure = Failure(explaining: error, store: store.options.store)
                if failure.status == .cancelled { throw failure }
                if places.count > 1, !failure.message.hasPrefix(place.name) {
                    failure.message = "\(place.name): \(failure.message)"
                }
                failures.append(failure)
            }
        }
        guard failures.count == places.count, let first = failures.first else {
            for failure in failures {
                store.context.note(
                    "what was said of members was not heard from everywhere: \(failure.message)")
            }
            return
        }
        throw Failure(
            "what was said of members meanwhile could not be heard: "
                + failures.map(\.message).joined(separator: "; "),
            hints: first.hints + [Self.offlineHint], status: first.status)
    }

    private func places() throws -> [ChosenRemote] {
        if let given = remote.given { return [try ChosenRemote(given: given, remote.bucket, store)] }
        return try store.synchronizer().knownPlaces(remote)
    }

    private func hear(from chosen: ChosenRemote) throws {
        let context = store.context
        guard let place = SharedPlace(chosen.argument) else {
            throw Failure.usage(
                "members meet in a folder, in a bucket or at a relay",
                hints: ["name it with: --remote dir:<folder>"])
        }
        try place.require(creates: nil)
        let opened = try place.open(
            store: store.options.store, remote, context, synchronizer: store.synchronizer)
        let (isHeard, remarks) = try store.synchronizer().membership.hear(through: opened.transport)
        for remark in remarks { context.note(remark) }
        for words in try opened.relay?.conclude() ?? [] { context.note("\(chosen.name): \(words)") }
        guard isHeard else {
            throw Failure(
                "\(place.location) holds nothing that was said of these members, or the passphrase does not open it",
                status: .remoteRefused)
        }
    }
}
