import CipherStore
import Crypto
import Foundation

extension SQLiteRelayStorage {
    public func makeChannel(
        _ channel: RelayChannelID, _ registration: RelayRegistration
    ) async throws -> Bool {
        // Most clients ask for one that is there: nothing is written for them.
        if let known = try await self.registration(of: channel) {
            return try Self.compare(known, registration)
        }
        let options = options
        return try await queue.run { db in
            if let known = try Self.registration(db, channel) {
                return try Self.compare(known, registration)
            }
            let count = try db.row("SELECT count(*) FROM channel")?.decode(Int64.self, atIndex: 0) ?? 0
            guard count < options.channelCountMax else {
                throw RelayProblem(.full, "the relay has as many channels as it may have")
            }
            try db.run(
                """
                INSERT INTO channel (id, birth, readDigest, writeDigest, position, byteCount, fileCount,
                    removalCount, forgotten)
                VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0)
                """,
                [
                    Data(channel.bytes), Data(RelayEpoch.random().bytes),
                    Data(registration.readToken.bytes), Data(registration.writeToken.bytes),
                ])
            return true
        }
    }

    private static func compare(_ known: RelayRegistration, _ new: RelayRegistration) throws -> Bool {
        let isRead = known.readToken.isSame(as: new.readToken)
        let isWrite = known.writeToken.isSame(as: new.writeToken)
        guard isRead && isWrite else {
            throw RelayProblem(.conflict, "the channel is there, with other tokens")
        }
        return false
    }

    public func registration(of channel: RelayChannelID) async throws -> RelayRegistration? {
        try await read { try Self.registration($0, channel) }
    }

    private static func registration(_ db: Database, _ channel: RelayChannelID) throws -> RelayRegistration? {
        guard
            let row = try db.row(
                "SELECT readDigest, writeDigest FROM channel WHERE id = ?", [Data(channel.bytes)])
        else { return nil }
        guard let read = RelayDigest(bytes: Array(try row.decode(Data.self, atIndex: 0))),
            let write = RelayDigest(bytes: Array(try row.decode(Data.self, atIndex: 1)))
        else { throw RelayProblem(.unavailable, "the storage is damaged: a digest has not 32 bytes") }
        return RelayRegistration(readToken: read, writeToken: write)
    }

    public func state(of channel: RelayChannelID) async throws -> RelayChannelState {
        let row = try await read { try ChannelRow.require($0, channel) }
        return RelayChannelState(
            epoch: try epoch(row.birth), position: row.position, byteCount: row.byteCount,
            byteCountMax: options.channelByteCountMax, fileCount: row.fileCount)
    }

    public func removeChannel(_ channel: RelayChannelID) async throws {
        let feed = feed
        try await queue.run(onCommit: { feed.tellRemoval(of: channel) }) { db in
            guard let row = try ChannelRow.fetch(db, channel) else { return }
            for table in ["file", "upload"] {
                try db.run(
                    """
                    INSERT INTO discarded (body)
                    SELECT body FROM \(table) WHERE channel = ? AND body IS NOT NULL AND body > 0
                    """, [row.number])
            }
            for table in ["file", "upload", "invitation"] {
                try db.run("DELETE FROM \(table) WHERE channel = ?", [row.number])
            }
            try db.run("DELETE FROM channel WHERE number = ?", [row.number])
        }
        queue.noteLeisureWork()
    }

    public func observe(
        _ channel: RelayChannelID, _ onMoment: @escaping @Sendable (RelayMoment?) -> Void
    ) -> RelayObservation {
        feed.observe(channel, onMoment)
    }
}
