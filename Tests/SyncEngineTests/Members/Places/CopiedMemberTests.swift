import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// A plain copy of a member's store that can't see that it is one, while the original goes on as another member's.
@Suite struct CopiedMemberTests {
    let club: MemberStores
    let ben: TestReplica
    let copy: TestReplica
    let former: ReplicaID

    init() throws {
        club = try MemberStores()
        let original = try club.join("ben")
        try original.insert(50, "before")
        try club.settle(club.anna, original)
        try club.anna.synchronizer.membership.setRole(.reader, of: club.member("ben").id)
        try club.settle(club.anna, original)
        former = try original.replica()
        try original.queue.close()
        try club.stores.copy("ben.db", to: "copy.db")
        ben = try club.stores.open("ben.db")
        copy = try club.stores.open("copy.db", copyOf: "ben.db")
    }

    /// Both files write what nobody takes in, under one identity. Then the original is an admin's, takes another identity, and
    /// tells what it wrote as changes of the former one.
    ///
    /// - parameter more: How many changes more the copy makes.
    private func diverge(more: Int) throws {
        for number in [60, 61] as [UInt8] { try ben.insert(number, "of ben") }
        try copy.execute("DELETE FROM note WHERE title = 'before'")
        for number in 0...more { try copy.insert(70 + UInt8(number), "of the copy") }
        for (replica, count) in [(ben, Int64(2)), (copy, Int64(2 + more))] {
            #expect(try club.sync(replica).unsent == UnsentChanges(count: count, reason: .role(.reader)))
        }
        try ben.synchronizer.membership.recover(by: club.recovery, as: MemberName("ben again"))
        #expect(try club.sync(ben).renewedReplica == former)
        try club.sync(club.anna)
        #expect(try club.anna.titles() == ["of anna", "before", "of ben", "of ben"])
    }

    private func makeCopyWriter() throws {
        try club.anna.synchronizer.membership.setRole(.writer, of: club.member("ben").id)
        try club.sync(club.anna)
    }

    private func expectRest(more: Int) throws {
        for _ in 0..<2 { try club.settle(club.anna, ben, copy) }
        let titles =
            ["of anna", "of ben", "of ben"] + Array(repeating: "of the copy", count: 1 + more)
        #expect(try club.anna.titles() == titles)
        let expected = try club.anna.dump()
        for replica in [ben, copy] { #expect(try replica.dump() == expected) }
        for replica in [club.anna, ben, copy] {
            let report = try club.sync(replica)
            #expect(report.pulled == nil && report.pushed == nil && report.unsent == nil)
            #expect(report.remarks.isEmpty && report.refused.isEmpty)
        }
    }

    @Test(arguments: [0, 1])
    func aCopyWithAsManyChangesOrMoreTakesAnotherIdentity(more: Int) throws {
        try diverge(more: more)
        // Nothing is new to it by its number.
        #expect(try club.sync(copy).renewedReplica == former)
        #expect(try copy.replica() != former)
        try makeCopyWriter()
        try expectRest(more: more)
    }

    /// It has not read what shows that it is a copy, as with programs that did not look.
    @Test func whatACopyWroteUnderTheFormerIdentityIsToldAgain() throws {
        try diverge(more: 1)
        try makeCopyWriter()
        #expect(try club.sync(copy, .push).pushed != nil)
        #expect(try club.sync(club.anna).remarks.contains { $0.contains("not here yet") })
        #expect(try club.sync(copy).renewedReplica == former)
        try expectRest(more: 1)
    }
}
