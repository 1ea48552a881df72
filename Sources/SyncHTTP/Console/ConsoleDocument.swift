import SyncEngine

/// What the server's page shows of a store. Times are milliseconds of Unix time.
struct ConsoleDocument: Encodable, Sendable {
    struct Store: Encodable, Sendable {
        let id: String
        /// The name of its file.
        let name: String
        /// Which replica the server is.
        let replica: String
        let tables: [Table]
        /// How many devices there are; the list has the newest ones.
        let devices: Int
    }

    struct Table: Encodable, Sendable {
        let name: String
        let rows: Int64
    }

    struct Device: Encodable, Sendable {
        let device: Int64
        let label: String
        let replica: String?
        let readOnly: Bool
        /// The tables that it may exchange; nothing when those are all.
        let tables: [String]?
        /// The tables of which it may exchange some rows only, with their scope columns.
        let rows: [String]?
        let enrolled: Int64
        let seen: Int64?
        let synced: Int64?
        let revoked: Int64?
        /// Its open streams.
        let streams: Int
        let lag: Lag?
    }

    /// A replica that is no device: a file, or one that a folder or another replica told of.
    struct Peer: Encodable, Sendable {
        let replica: String
        let name: String
        let synced: Int64
        let lag: Lag?
    }

    /// The changes that a replica has not acknowledged.
    struct Lag: Encodable, Equatable, Sendable {
        let changes: Int64
        /// When the oldest of them was made; nothing when that is not known any more.
        let oldest: Int64?
        /// Whether there may be fewer, because the replica holds a part of the database.
        let atMost: Bool

        init(_ lag: ReplicaLags.Lag) {
            (changes, oldest, atMost) = (lag.changeCount, lag.oldestMilliseconds, lag.isAtMost)
        }
    }

    struct Remote: Encodable, Sendable {
        let name: String
        let tried: Int64
        let succeeded: Int64?
        let failures: Int64
        let error: String?
    }

    struct Conflicts: Encodable, Sendable {
        struct Item: Encodable, Sendable {
            let id: Int64
            let table: String
            let key: String
            let column: String
            /// The value that lost, shortened.
            let lost: String
            /// Who had written it: a device, a remote, or the start of a replica's id.
            let writer: String
            let winner: String
            let reason: String
            let found: Int64
        }

        let open: Int
        let items: [Item]
    }

    struct Parked: Encodable, Sendable {
        struct Item: Encodable, Sendable {
            let table: String
            let key: String
            let reason: String
            let message: String
            let since: Int64?
            let otherTable: String?
            let otherKey: String?
        }

        let count: Int64
        let items: [Item]
    }

    let now: Int64
    let store: Store
    let devices: [Device]
    let peers: [Peer]
    let remotes: [Remote]
    let conflicts: Conflicts
    let parked: Parked
}
