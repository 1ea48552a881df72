import CipherStore
import Foundation
import SyncEngine
import SyncMembers
import TestSupport
import Testing

@testable import SyncBucket
@testable import SyncTesting

/// Members of a database that meets in a bucket.
@Suite(.s3Server) struct BucketMemberTests {
    private func titles(_ replica: MailboxReplicas.Replica) throws -> [String] {
        try replica.queue.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
    }

    /// Makes the first replica an admin, and each other one another member.
    ///
    /// - parameter trying: Takes a step, again where the bucket fails.
    private func found(_ stores: MailboxReplicas, trying: (() throws -> Void) throws -> Void) throws {
        _ = try stores.all[0].synchronizer.membership.found(MemberName("anna"))
        try trying { try stores.sync(0) }
        for number in stores.all.indices.dropFirst() {
            let invitation = try stores.all[0].synchronizer.membership.invite(
                MemberName("member \(number)"), as: .writer)
            try trying { try stores.sync(0) }
            try trying {
                try stores.all[number].synchronizer.membership.accept(
                    invitation, through: stores.all[number].transport)
            }
            try trying { try stores.sync(number) }
        }
    }

    @Test func aRemovedMemberReadsNothingThatIsWrittenLater() throws {
        let server = try S3Server()
        let stores = try MailboxReplicas(3, seed: 1) { _ in try! server.mailbox(prefix: "club") }
        try found(stores) { try $0() }
        for number in stores.all.indices { try stores.insert(number, number, "of \(number)") }
        #expect(try stores.settle() && stores.areEqual())
        let (anna, removed) = (stores.all[0], stores.all[2])
        let member = try #require(
            try anna.synchronizer.membership.members()?.first { $0.member.name.text == "member 2" })
        try anna.synchronizer.membership.remove(member.member.id)
        try stores.insert(0, 10, "after the removal")
        try stores.insert(2, 11, "too late")
        for number in [0, 1, 2, 0, 1] { try stores.sync(number) }
        for number in 0...1 {
            #expect(try titles(stores.all[number]) == ["after the removal", "of 0", "of 1", "of 2"])
        }
        #expect(try titles(removed) == ["of 0", "of 1", "of 2", "too late"])
        #expect(try stores.sync(2).unsent?.reason == .removed)
    }

    /// Each request may fail in any way, and listings lag.
    @Test(arguments: Campaign.seeds(1, nightly: 20))
    func membersConvergeWhateverTheBucketDoes(seed: UInt64) throws {
        let server = try S3Server()
        let stores = try MailboxReplicas(3, seed: seed) { _ in
            try! server.mailbox(prefix: "club", attempts: 2)
        }
        let place = { (error: any Error) in (error as? MailboxError)?.code == .unreachable }
        try server.failAtRandom(
            seed: seed, rate: 0.15, ["500", "503", "drop", "lost", "cut", "double", "lag", "lag"])
        try found(stores) { step in
            for attempt in 1... {
                do {
                    return try step()
                } catch let error where attempt < 50 && place(error) {
                } catch let error as SyncError where attempt < 50 && error.code == .notMember {
                    // The listing lags, and has no statement that invites somebody yet.
                }
            }
        }
        var random = SimulationRandom(seed: seed, part: 7)
        var own: Set<String> = []
        for step in 0..<40 {
            let replica = random.number(below: stores.all.count)
            if random.number(below: 3) == 0 {
                try stores.insert(replica, 100 + step, "own \(step)")
                own.insert("own \(step)")
            } else {
                do { try stores.sync(replica) } catch { try #require(place(error), "\(error)") }
            }
        }
        try server.fail()
        #expect(try stores.settle() && stores.areEqual())
        #expect(try own.isSubset(of: titles(stores.all[0])))
        #expect(try stores.all[0].synchronizer.membership.members()?.count == 3)
    }
}
