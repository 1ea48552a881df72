import SyncMembers
import SyncWire
import TestSupport
import Testing

@Suite(.anyEngine) struct ReplicaTests {
    @Test func writersWriteTheReplicasOfTheirDevices() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let (one, two) = (club.identifier(), club.identifier())
        let writer = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let reader = try club.adds(carol, .reader, by: club.founder, after: writer)
        let first = try club.says(bob, .bindReplica(one), after: reader)
        let second = try club.says(carol, .bindReplica(two), after: first)
        let state = try club.state(club.found, writer, reader, first, second)
        #expect(state.mayWrite(one, 1) && state.mayWrite(one, .max))
        #expect(!state.mayWrite(two, 1) && state.replicas[two]?.lastSequence == 0)
        #expect(!state.mayWrite(one, 0) && !state.mayWrite(one, -1) && !state.mayWrite(one, .min))
        #expect(!state.mayWrite(club.identifier(), 1))
    }

    @Test func aRemovalSaysWhichChangesStillCount() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let (one, two) = (club.identifier(), club.identifier())
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let admin = try club.adds(carol, .admin, by: club.founder, after: added)
        let first = try club.says(bob, .bindReplica(one), after: admin)
        let second = try club.says(bob, .bindReplica(two), after: first)
        let before = try club.state(club.found, added, admin, first, second)
        let known = VersionVector([one: 40, club.identifier(): 9])
        #expect(before.cutOffs(ofMember: bob.member, knowing: known) == [one: 40])
        #expect(before.cutOffs(ofDevice: bob.device, knowing: known) == [one: 40])
        #expect(before.cutOffs(ofMember: carol.member, knowing: known).isEmpty)
        let removed = try before.statement(
            .removeMember(MemberRemoval(member: bob.member, cutOffs: [one: 40])), by: club.founder.keys)
        let state = try before.adding([removed])
        #expect(state.mayWrite(one, 40) && !state.mayWrite(one, 41) && !state.mayWrite(two, 1))
        // Of several removals, the smallest number counts, of a device and of its member.
        let other = try club.says(
            carol, .removeDevice(DeviceRemoval(device: bob.device, cutOffs: [one: 30, two: 5])), after: second
        )
        let both = try state.adding([other])
        #expect(both.mayWrite(one, 30) && !both.mayWrite(one, 31) && !both.mayWrite(two, 1))
        #expect(both.cutOffs(ofMember: bob.member, knowing: known) == [one: 30])
        // A later removal may name less, and no more.
        let less = try both.statement(
            .removeMember(MemberRemoval(member: bob.member, cutOffs: [one: 12])), by: carol.keys)
        #expect(try both.adding([less]).replicas[one]?.lastSequence == 12)
        let more = try both.statement(
            .removeMember(MemberRemoval(member: bob.member, cutOffs: [one: .max])), by: carol.keys)
        #expect(try both.adding([more]).replicas[one]?.lastSequence == 30)
    }

    @Test func ofTwoDevicesThatClaimAReplicaTheSmallerStatementStands() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let replica = club.identifier()
        let one = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let two = try club.adds(carol, .writer, by: club.founder, after: one)
        let byBob = try club.says(bob, .bindReplica(replica), after: two)
        let byCarol = try club.says(carol, .bindReplica(replica), after: two)
        let state = try club.state(club.found, one, two, byBob, byCarol)
        let (winner, loser) = byBob.id < byCarol.id ? (bob, carol) : (carol, bob)
        #expect(state.replicas[replica]?.device == winner.device)
        #expect(state.replicas[replica]?.otherClaimants == [loser.device])
        // Whoever knows that a replica is claimed can't claim it.
        let late = try club.says(carol, .bindReplica(replica), after: byBob)
        let after = try club.state(club.found, one, two, byBob, late)
        #expect(after.replicas[replica]?.device == bob.device)
        #expect(after.uncounted == [late.id: .alreadyThere])
        // A claim that does not count claims nothing.
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: winner.member)), after: two)
        #expect(try state.adding([removed]).replicas[replica]?.device == loser.device)
    }

    @Test func aDeviceThatTwoAdminsAddToTwoMembersBelongsToOne() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let twin = Person(member: club.identifier(), keys: bob.keys)
        let admin = try club.adds(carol, .admin, by: club.founder, after: club.found)
        let one = try club.adds(bob, .writer, by: club.founder, after: admin)
        let other = try club.adds(twin, .reader, by: carol, after: admin)
        let state = try club.state(club.found, admin, one, other)
        let winner = one.id < other.id ? bob : twin
        #expect(state.devices[bob.device]?.member == winner.member)
        #expect(state.members[winner.member]?.devices == [bob.device])
    }
}
