/// What a relay did that a client had to make up for. No edit is lost by it: replicas write again what is missing.
public enum RelayEvent: Hashable, Sendable, CustomStringConvertible {
    /// The channel is at a position before one that it had, in whatever epoch.
    case wentBack(from: RelayPosition, to: RelayPosition)
    /// The channel is in another epoch, and not before the position that it had. Each start of a relay begins one.
    case otherEpoch
    /// A file is an older version than the one that was seen.
    case olderFile(RelayFileName)

    /// Whether somebody should know: an honest relay, whose storage is whole, does not do it.
    public var isOfConcern: Bool { self != .otherEpoch }

    /// For people, as the end of a sentence about the relay.
    public var description: String {
        switch self {
        case .wentBack(let former, let present):
            """
            it went back from position \(former) to \(present): it was put back to an older state, or shows an old one; all \
            of it was read anew, and what is missing there is written again
            """
        case .otherEpoch:
            "it was started anew, so all of it was read anew"
        case .olderFile(let file): "it shows an older version of \(file) than before; the file was left out"
        }
    }
}
