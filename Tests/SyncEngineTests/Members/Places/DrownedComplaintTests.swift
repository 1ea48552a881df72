import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// A reader whose many replicas say so much that what others miss could be overlooked.
@Suite struct DrownedComplaintTests {
    /// What the heads of the reader say.
    enum Flood: CaseIterable, Sendable {
        /// They know statements that do not exist.
        case names
        /// They miss one that does, and each knows something else.
        case complaints
    }

    let club: MemberStores
    let ben: TestReplica
    let xena: TestReplica

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        let carl = try club.join("carl")
        xena = try club.join("xena", as: .reader)
        try club.settle(club.anna, ben, carl, xena)
    }

    private func record(_ replica: TestReplica) throws -> MembershipRecord {
        try #require(try replica.synchronizer.membership.record())
    }

    private func name(_ number: Int) throws -> StatementID {
        let digits = String(number, radix: 16)
        return try #require(
            StatementID(hexadecimal: String(repeating: "0", count: 64 - digits.count) + digits))
    }

    /// Binds replicas to xena's device, and leaves a head for each, as only xena can.
    private func flood(_ flood: Flood) throws {
        let replicas = (1...40).map { Identifier128(high: 5, low: UInt64($0)) }
        try xena.synchronizer.membership.speak { record, _ in
            try replicas.map { try record.say(.bindReplica($0)) }
        }
        try club.settle(xena, club.anna, ben)
        let record = try record(xena)
        for (place, replica) in replicas.enumerated() {
            let greeting = Greeting(
                store: record.state.store, replica: replica, vector: VersionVector(), ownSequence: 0)
            var head = FolderHead(greeting)
            switch flood {
            case .names: head.tell(statements: try (0..<16).map { try name(place * 16 + $0) }, lacking: [])
            case .complaints:
                let heads = record.state.heads
                head.tell(statements: heads + [try name(place)], lacking: heads.map(\.description))
            }
            try write(head, by: xena)
        }
    }

    /// Writes a head in the present epoch, signed by the device of a store.
    private func write(_ head: FolderHead, by author: TestReplica) throws {
        let record = try record(author)
        let keys = try #require(record.device)
        var head = head
        head.prepare(for: keys.card.id)
        head.generation += 1
        try head.write(
            FolderPaths(#require(head.replica)).file(FolderPaths.headName),
            club.transport(author).writing(in: #require(record.state.currentEpoch)),
            store: record.state.store, by: keys, now: club.stores.clock.environment.milliseconds())
    }

    /// Anna removes carl, and somebody damages the file that says so before ben has read it. Its size stays.
    private func removeCarlInVain() throws {
        let before = Set(try club.files(".statements"))
        try club.remove("carl")
        try club.sync(club.anna)
        let file = try #require(try club.files(".statements").first { !before.contains($0) })
        let url = URL(fileURLWithPath: club.path(file))
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: url)
    }

    @Test(arguments: Flood.allCases)
    func whatAMemberMissesIsWrittenAgain(flood: Flood) throws {
        try self.flood(flood)
        try removeCarlInVain()
        let known = try record(club.anna).state.statements.keys
        try club.sync(ben)
        #expect(try record(ben).state.statements.count < known.count)
        try club.sync(club.anna)
        try club.sync(ben)
        #expect(try Set(record(ben).state.statements.keys).isSuperset(of: known))
        #expect(try record(ben).current?.epoch == record(club.anna).current?.epoch)
    }

    @Test func oneMemberHasSoManyPlacesInAHead() throws {
        try flood(.names)
        try removeCarlInVain()
        try club.sync(ben)
        let lacked = try club.head(ben).lackedNames
        #expect(lacked.count { $0.hasPrefix("00000000") } == 16)
        // The epoch of anna's head.
        #expect(lacked.count == 17)
        // Who has nothing else to say does not write the same again.
        let generation = try club.head(ben).generation
        try club.sync(ben)
        #expect(try club.head(ben).generation == generation)
    }

    @Test func complaintsOfOneMemberLeaveRoomForThoseOfOthers() throws {
        try flood(.complaints)
        let record = try record(club.anna)
        let members = FolderMembers(record)
        func lacked() throws -> Set<StatementID> {
            let contents = try FolderContents(
                club.transport(club.anna), store: club.anna.peer.store(), members: members)
            return try members.lacked(in: contents, but: club.id(club.anna))
        }
        // They know all that there is.
        #expect(try lacked() == [])
        var head = try club.head(ben)
        head.tell(statements: [], lacking: record.state.heads.prefix(1).map(\.description))
        try write(head, by: ben)
        #expect(try lacked() == Set(record.state.statements.keys))
    }
}
