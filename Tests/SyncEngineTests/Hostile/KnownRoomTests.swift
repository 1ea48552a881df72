import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What is noted of what replicas know, where there is no room for all of it.
@Suite struct KnownRoomTests {
    private let hub: TestReplica
    private let speaker = AdmissionTests.replica(1)
    private let other = AdmissionTests.replica(2)
    private let third = AdmissionTests.replica(3)

    init() throws {
        hub = try TestStores().createWithScopes()
        let replicas = [speaker, other]
        try hub.queue.write { db throws in
            for replica in replicas { _ = try ReplicaRegister(db: db).add(replica) }
        }
    }

    @discardableResult
    private func note(
        _ vector: [ReplicaID: Int64], of replica: ReplicaID, at milliseconds: Int64 = 1, room: Int?
    ) throws -> Int {
        try hub.queue.write { db throws in
            try ReplicaRegister(db: db).note(
                VersionVector(vector), of: replica, at: milliseconds, room: room)
        }
    }

    private func known(_ replica: ReplicaID) throws -> VersionVector? {
        try hub.queue.read { db throws in
            try ReplicaRegister(db: db).known(StoreMetadata.require(db))[replica]
        }
    }

    private func seen(_ replica: ReplicaID) throws -> Int64? {
        try hub.queue.read { db throws in
            try Int64.fetchOne(
                db, sql: "SELECT seen FROM _sync_replica WHERE rid = ?", arguments: [replica.data])
        }
    }

    private func own() throws -> ReplicaID { try hub.synchronizer.identity().replica }

    /// One more replica on a full server must not stop what is noted of all others.
    @Test func whatIsNotedRisesWithoutRoomForMore() throws {
        let own = try own()
        #expect(try note([speaker: 5, own: 1], of: speaker, room: 2) == 2)
        #expect(try note([speaker: 7, own: 2, other: 3], of: speaker, room: 0) == 0)
        #expect(try known(speaker) == VersionVector([speaker: 7, own: 2]))
        #expect(try note([speaker: 7, own: 2, other: 3], of: speaker, room: 1) == 1)
        #expect(try known(speaker) == VersionVector([speaker: 7, own: 2, other: 3]))
    }

    /// Without it, changes of the replica would be forgotten that are not here yet.
    @Test func whatAReplicaWroteItselfAlwaysHasRoom() throws {
        let own = try own()
        #expect(try note([third: 4, own: 1], of: third, room: -1) == 1)
        #expect(try known(third) == VersionVector([third: 4]))
        try hub.queue.write { db throws in
            var facts = ReplicaFacts()
            facts.acknowledged[third] = VersionVector([third: 5, own: 1])
            try ReplicaRegister(db: db).learn(facts, from: speaker, knowing: VersionVector(), at: 1)
        }
        let acknowledged = try hub.queue.read { db throws in
            try Acknowledgement(db: db).others(StoreMetadata.require(db))[third]
        }
        #expect(acknowledged == VersionVector([third: 5, own: 1]))
    }

    /// What is said again at each synchronization, because it was not noted, would keep a replica that is gone for ever.
    @Test func whatIsNotNotedIsNoSignOfLife() throws {
        let own = try own()
        try note([other: 5], of: other, at: 1, room: 1)
        try note([other: 5, own: 1], of: other, at: 2, room: 0)
        #expect(try seen(other) == 1)
        try note([other: 6, own: 1], of: other, at: 3, room: 0)
        #expect(try seen(other) == 3)
        // Of a replica that wrote nothing, nothing was noted that could rise.
        try note([own: 1], of: speaker, at: 4, room: 0)
        #expect(try seen(speaker) == 4 && known(speaker) == nil)
        // Who speaks is there.
        try note([other: 6, own: 1], of: other, at: 5, room: nil)
        #expect(try seen(other) == 5)
    }

    /// Either of them keeps deletions from being forgotten.
    @Test(arguments: ["_sync_known", "_sync_acknowledged"])
    func whatIsKnownAndWhatIsAcknowledgedHaveRoomEach(table: String) throws {
        var isUsedUp = try hub.queue.read { try KnownRoom.isUsedUp($0) }
        #expect(!isUsedUp)
        try hub.queue.write { db throws in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(AdmissionLimits.knownEntryCountMax))
                    INSERT INTO \(table) (sid, origin, oseq) SELECT 1000000, 1000000 + i, 1 FROM n
                    """)
        }
        isUsedUp = try hub.queue.read { try KnownRoom.isUsedUp($0) }
        #expect(isUsedUp)
    }

    /// Many replicas that synchronize here leave room for what is said of others.
    @Test func replicasThatWereMetTakeNoRoomOfOthers() throws {
        let own = try own()
        let planted = AdmissionLimits.knownEntryCountMax / 4
        let counts = try hub.queue.write { db throws in
            let sid = try ReplicaRegister(db: db).number(of: speaker, at: 1)
            try PeerRegister(db: db).note(speaker, name: "speaker", at: 1, acknowledged: 0)
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(planted))
                    INSERT INTO _sync_known (sid, origin, oseq) SELECT \(sid), 1000000 + i, 1 FROM n
                    """)
            let room = ReplicaRegister(db: db).room
            var facts = ReplicaFacts()
            facts.known[other] = VersionVector([own: 1])
            try ReplicaRegister(db: db).learn(facts, from: third, knowing: VersionVector(), at: 1)
            let before = [try room.count(), try room.forHearsay()]
            // At the bound, what was said of others goes.
            try room.removeExcess(from: planted + 1)
            return before + [try room.count()]
        }
        #expect(counts == [planted + 1, planted - 1, planted])
    }
}
