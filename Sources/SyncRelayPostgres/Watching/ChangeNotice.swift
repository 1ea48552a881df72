import SyncRelay

/// What relays tell each other through the database: a channel, and its position or that it is gone.
///
/// Anybody who may connect to the database can send one. So it only says where to look, and what is seen there counts.
struct ChangeNotice: Hashable {
    /// The name under which notices go.
    static let name = "cipherstore_relay"

    let channel: RelayChannelID
    /// The position after a change; nil when the channel was removed.
    let position: RelayPosition?

    init(_ channel: RelayChannelID, _ position: RelayPosition?) {
        self.channel = channel
        self.position = position
    }

    /// Reads a payload; nil when it is none of a relay.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let channel = RelayChannelID(parts[0]) else { return nil }
        guard parts[1] != "gone" else {
            self.init(channel, nil)
            return
        }
        guard let position = RelayNumber.natural(parts[1]) else { return nil }
        self.init(channel, position)
    }

    /// The payload.
    var text: String { "\(channel) " + (position.map { "\($0)" } ?? "gone") }
}
