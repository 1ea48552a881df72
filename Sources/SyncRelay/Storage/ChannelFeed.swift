import Synchronization

/// Tells those who wait for changes of channels.
package final class ChannelFeed: Sendable {
    private struct Channel {
        var observers: [Int64: @Sendable (RelayMoment?) -> Void] = [:]
        /// What was told last. Two commits may be told in another order than they came in.
        var moment: RelayMoment?
    }

    private let state = Mutex<(channels: [RelayChannelID: Channel], lastNumber: Int64)>(([:], 0))

    /// Makes one that nobody waits for.
    package init() {}

    /// How many channels somebody waits for.
    var channelCount: Int { state.withLock { $0.channels.count } }

    /// The channels that somebody waits for.
    package var channels: [RelayChannelID] { state.withLock { Array($0.channels.keys) } }

    /// Whether somebody waits for a channel.
    package func isObserved(_ channel: RelayChannelID) -> Bool {
        state.withLock { $0.channels[channel] != nil }
    }

    /// The position that was told last; nil when none was.
    package func lastPosition(of channel: RelayChannelID) -> RelayPosition? {
        state.withLock { $0.channels[channel]?.moment?.position }
    }

    /// Begins an observation.
    package func observe(
        _ channel: RelayChannelID, _ onMoment: @escaping @Sendable (RelayMoment?) -> Void
    ) -> RelayObservation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.channels[channel, default: Channel()].observers[state.lastNumber] = onMoment
            return state.lastNumber
        }
        return RelayObservation { [weak self] in self?.end(number, channel) }
    }

    private func end(_ number: Int64, _ channel: RelayChannelID) {
        // What an observer holds goes with it, and not under the lock.
        let ended = state.withLock { state -> (@Sendable (RelayMoment?) -> Void)? in
            let ended = state.channels[channel]?.observers.removeValue(forKey: number)
            if state.channels[channel]?.observers.isEmpty == true { state.channels[channel] = nil }
            return ended
        }
        _ = ended
    }

    /// Tells of a change, or of another epoch. What was told before is not told again.
    package func tell(_ channel: RelayChannelID, _ moment: RelayMoment) {
        state.withLock { state in
            guard let known = state.channels[channel] else { return }
            if let last = known.moment, last.epoch == moment.epoch, last.position >= moment.position {
                return
            }
            state.channels[channel]?.moment = moment
            for observer in known.observers.values { observer(moment) }
        }
    }

    /// Tells that a channel was removed.
    package func tellRemoval(of channel: RelayChannelID) {
        let observers = state.withLock { state in
            state.channels.removeValue(forKey: channel)?.observers.values.map { $0 } ?? []
        }
        for observer in observers { observer(nil) }
    }
}
