import SyncMembers
import SyncWire
import TestSupport
import Testing

@Suite(.anyEngine) struct RecoveryTests {
    @Test func theRecoveryKeyPutsAnAdminInWhenNoneIsLeft() throws {
        var club = try Club()
        let (bob, rescuer, carol) = (try club.person(), try club.person(), try club.person())
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let one = try club.says(club.founder, .removeMember(MemberRemoval(member: bob.member)), after: added)
        let other = try club.says(
            bob, .removeMember(MemberRemoval(member: club.founder.member)), after: added)
        let nobody = try club.state(club.found, added, one, other)
        #expect(nobody.members.values.allSatisfy { $0.role == nil })
        let content = Recovery(member: rescuer.member, name: try MemberName("r"), device: rescuer.keys.card)
        let recovered = try nobody.recovering(content, by: club.recovery)
        let state = try nobody.adding([recovered])
        #expect(state.role(of: rescuer) == .admin && state.recovery == club.recovery.card)
        let next = try state.statement(
            .addMember(
                NewMember(member: carol.member, name: MemberName("c"), role: .writer, device: carol.keys.card)
            ),
            by: rescuer.keys)
        // Whatever those who are gone say of their time, they can't name who came later.
        let revenge = try club.says(
            bob, .removeMember(MemberRemoval(member: rescuer.member)), after: added)
        let late = try club.says(bob, .removeMember(MemberRemoval(member: carol.member)), after: next)
        let after = try state.adding([next, revenge, late])
        #expect(after.role(of: rescuer) == .admin && after.role(of: carol) == .writer)
        #expect(after.uncounted == [revenge.id: .targetUnknown, late.id: .issuerUnknown])
    }

    @Test func anotherKeyDoesNotRecover() throws {
        var club = try Club()
        let rescuer = try club.person()
        let wrong = try club.recovers(rescuer, with: club.recoveryKey(), after: club.found)
        let state = try club.state(club.found, wrong)
        #expect(state.uncounted == [wrong.id: .recoveryKeyWrong] && state.role(of: rescuer) == nil)
    }

    @Test func aRecoveryMayNameAnotherKey() throws {
        var club = try Club()
        let (one, two, three) = (try club.person(), try club.person(), try club.person())
        let next = try club.recoveryKey()
        let first = try club.recovers(one, successor: next.card, after: club.found)
        let old = try club.recovers(two, after: first)
        let second = try club.recovers(three, with: next, after: first)
        let state = try club.state(club.found, first, old, second)
        #expect(state.recovery == next.card)
        #expect(state.role(of: one) == .admin && state.role(of: three) == .admin)
        #expect(state.uncounted == [old.id: .recoveryKeyWrong])
    }

    @Test func ofTwoRecoveriesThatDidNotKnowEachOtherOneCounts() throws {
        var club = try Club()
        let (one, two, carol) = (try club.person(), try club.person(), try club.person())
        let first = try club.recovers(one, after: club.found)
        let second = try club.recovers(two, after: club.found)
        let (winner, loser) = first.id > second.id ? (one, two) : (two, one)
        let (won, lost) = first.id > second.id ? (first, second) : (second, first)
        let byLoser = try club.adds(carol, .writer, by: loser, after: lost)
        let state = try club.state(club.found, first, second, byLoser)
        #expect(state.role(of: winner) == .admin && state.members[loser.member] == nil)
        #expect(state.uncounted[lost.id] == .otherRecovery(won.id))
        #expect(state.uncounted[byLoser.id] == .authorityLost(through: lost.id))
        for (person, isLost) in [(winner, false), (loser, true), (carol, true)] {
            #expect(state.isLostToOtherRecovery(person.keys.card.id) == isLost)
        }
        // Whoever recovers later, knowing one of them only, takes that one along.
        let third = try club.person()
        let upon = try club.recovers(third, after: byLoser)
        let after = try state.adding([upon])
        #expect(after.role(of: third) == .admin && after.role(of: loser) == .admin)
        #expect(after.role(of: carol) == .writer && after.members[winner.member] == nil)
        #expect(after.uncounted == [won.id: .otherRecovery(upon.id)])
    }

    @Test func aRecoveredAdminCanBeRemovedByWhoKnowsIt() throws {
        var club = try Club()
        let rescuer = try club.person()
        let recovered = try club.recovers(rescuer, after: club.found)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: rescuer.member)), after: recovered)
        #expect(try club.state(club.found, recovered, removed).role(of: rescuer) == nil)
    }
}
