import SyncRelay

extension PostgresRelayStorage {
    /// PostgreSQL, and the bounds of its options.
    public var outline: RelayStorageOutline {
        RelayStorageOutline(
            kind: "PostgreSQL", channelByteCountMax: options.channelByteCountMax,
            channelFileCountMax: options.channelFileCountMax, channelCountMax: options.channelCountMax)
    }
}
