/// What a storage is and how much it takes, for whoever runs a relay.
public struct RelayStorageOutline: Hashable, Sendable {
    /// The kind of storage in a few words, such as `SQLite file`. It names no path, host or user: others may see it.
    public let kind: String
    /// The most bytes of a channel; nil when nothing bounds them.
    public let channelByteCountMax: Int64?
    /// The most files of a channel; nil when nothing bounds them.
    public let channelFileCountMax: Int64?
    /// The most channels; nil when nothing bounds them.
    public let channelCountMax: Int64?

    /// Makes an outline.
    public init(
        kind: String, channelByteCountMax: Int64? = nil, channelFileCountMax: Int64? = nil,
        channelCountMax: Int64? = nil
    ) {
        self.kind = kind
        self.channelByteCountMax = channelByteCountMax
        self.channelFileCountMax = channelFileCountMax
        self.channelCountMax = channelCountMax
    }
}

extension RelayStorage {
    /// What can be said of any storage: nothing of its kind, and no bounds.
    public var outline: RelayStorageOutline { RelayStorageOutline(kind: "storage") }
}

extension SQLiteRelayStorage {
    /// An SQLite file, and the bounds of its options.
    public var outline: RelayStorageOutline {
        RelayStorageOutline(
            kind: "SQLite file", channelByteCountMax: options.channelByteCountMax,
            channelFileCountMax: options.channelFileCountMax, channelCountMax: options.channelCountMax)
    }
}
