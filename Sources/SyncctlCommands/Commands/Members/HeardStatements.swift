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
    /// - returns: The place that was named; and what could not be used, or not be heard, which was printed, too.
    /// - throws: A ``Failure`` when none could be asked.
    func hear() throws -> (given: SharedPlace?, remarks: [String]) {
        let places = try places()
        var remarks: [String] = []
        guard !places.isEmpty else {
            throw Failure.refused(
                "the store knows no relay, folder or bucket that tells what was said of members meanwhile",
                hints: ["name one with: --remote dir:<folder>", Self.offlineHint])
        }
        var failures: [Failure] = []
        for place in places {
            do {
                try hear(from: place, &remarks)
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
                note("what was said of members was not heard from everywhere: \(failure.message)", &remarks)
            }
            return (remote.given == nil ? nil : places.first.flatMap { SharedPlace($0.argument) }, remarks)
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

    private func note(_ text: String, _ remarks: inout [String]) {
        store.context.note(text)
        remarks.append(text)
    }

    private func hear(from chosen: ChosenRemote, _ remarks: inout [String]) throws {
        let context = store.context
        guard let place = SharedPlace(chosen.argument) else {
            throw Failure.usage(
                "members meet in a folder, in a bucket or at a relay",
                hints: ["name it with: --remote dir:<folder>"])
        }
        try place.require(creates: nil)
        let opened = try place.open(
            store: store.options.store, remote, context, synchronizer: store.synchronizer)
        let (isHeard, found) = try store.synchronizer().membership.hear(through: opened.transport)
        for remark in found { note(remark, &remarks) }
        for words in try opened.relay?.conclude() ?? [] { note("\(chosen.name): \(words)", &remarks) }
        guard isHeard else {
            throw Failure(
                "\(place.location) holds nothing that was said of these members, or the passphrase does not open it",
                status: .remoteRefused)
        }
    }
}
