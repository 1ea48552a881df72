import SyncMembers
import SyncWire
import TestSupport
import Testing

@Suite(.anyEngine) struct RoleTests {
    private func setRole(_ person: Person, _ role: MemberRole, _ cutOffs: [ReplicaID: Int64] = [:])
        -> StatementKind
    {
        .setRole(RoleChange(member: person.member, role: role, cutOffs: cutOffs))
    }

    @Test func aLoweredRoleTakesBackWhatItNoLongerAllows() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let lowered = try club.says(club.founder, setRole(bob, .writer), after: added)
        let tooMuch = try club.adds(carol, .reader, by: bob, after: added)
        let fine = try club.says(bob, .bindReplica(club.identifier()), after: added)
        let state = try club.state(club.found, added, lowered, tooMuch, fine)
        #expect(state.role(of: bob) == .writer)
        #expect(state.uncounted == [tooMuch.id: .issuerRemoved(by: lowered.id)])
        #expect(state.replicas.count == 1)
    }

    @Test func rolesGoUpAndDown() throws {
        var club = try Club()
        let bob = try club.person()
        var all = [club.found, try club.adds(bob, .reader, by: club.founder, after: club.found)]
        for role in [MemberRole.writer, .admin, .reader, .admin, .writer, .reader, .writer] {
            all.append(try club.says(club.founder, setRole(bob, role), after: all[all.count - 1]))
            #expect(try club.state(of: all).role(of: bob) == role)
        }
        let same = try club.says(club.founder, setRole(bob, .writer), after: all[all.count - 1])
        #expect(try club.state(of: all + [same]).uncounted == [same.id: .alreadyThere])
    }

    @Test func ofARaiseAndALoweringThatDidNotKnowEachOtherTheLoweringStands() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let one = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let two = try club.adds(carol, .admin, by: club.founder, after: one)
        let raised = try club.says(carol, setRole(bob, .admin), after: two)
        let lowered = try club.says(club.founder, setRole(bob, .reader), after: two)
        let state = try club.state(club.found, one, two, raised, lowered)
        #expect(state.role(of: bob) == .reader)
        let again = try club.says(carol, setRole(bob, .writer), after: raised, lowered)
        #expect(try state.adding([again]).role(of: bob) == .writer)
    }

    @Test func aRoleFromTwoAdminsOutlivesOneOfThem() throws {
        var club = try Club()
        let (bob, carol, dave) = (try club.person(), try club.person(), try club.person())
        let one = try club.adds(bob, .reader, by: club.founder, after: club.found)
        let two = try club.adds(carol, .admin, by: club.founder, after: one)
        let byAda = try club.says(club.founder, setRole(bob, .admin), after: two)
        let byCarol = try club.says(carol, setRole(bob, .admin), after: two)
        let act = try club.adds(dave, .writer, by: bob, after: byAda, byCarol)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: carol.member)), after: byAda)
        let state = try club.state(club.found, one, two, byAda, byCarol, act, removed)
        #expect(state.role(of: bob) == .admin && state.role(of: dave) == .writer)
        #expect(state.uncounted.keys.sorted() == [byCarol.id])
        // Without the other one, what was built upon the role falls.
        let alone = try club.adds(dave, .writer, by: bob, after: byCarol)
        let fallen = try club.state(club.found, one, two, byCarol, alone, removed, byAda)
        #expect(fallen.role(of: dave) == nil && fallen.role(of: bob) == .admin)
        #expect(fallen.uncounted[alone.id] == .authorityLost(through: byCarol.id))
    }

    @Test func whoBecomesAReaderKeepsWhatWasKnown() throws {
        var club = try Club()
        let bob = try club.person()
        let replica = club.identifier()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let bound = try club.says(bob, .bindReplica(replica), after: added)
        let lowered = try club.says(club.founder, setRole(bob, .reader, [replica: 7]), after: bound)
        let state = try club.state(club.found, added, bound, lowered)
        #expect(state.mayWrite(replica, 7) && !state.mayWrite(replica, 8))
        let raised = try club.says(club.founder, setRole(bob, .writer), after: lowered)
        #expect(try state.adding([raised]).mayWrite(replica, 8))
    }
}
