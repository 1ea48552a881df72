import SyncRelay
import Synchronization

/// What an observer is told, for tests that wait for it.
final class ToldMoments: Sendable {
    private let stream: AsyncStream<RelayMoment?>
    private let observation: RelayObservation

    init(_ storage: some RelayStorage, _ channel: RelayChannelID) {
        let (stream, continuation) = AsyncStream.makeStream(of: RelayMoment?.self)
        self.stream = stream
        observation = storage.observe(channel) { continuation.yield($0) }
    }

    deinit { observation.cancel() }

    /// Waits for a moment that is as wanted.
    func wait(_ isWanted: (RelayMoment) -> Bool) async -> RelayMoment? {
        for await moment in stream {
            guard let moment else { return nil }
            if isWanted(moment) { return moment }
        }
        return nil
    }

    /// Waits until the channel is removed.
    func waitForRemoval() async -> Bool {
        for await moment in stream where moment == nil { return true }
        return false
    }
}
