import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

/// States to which statements come one by one.
@Suite(.anyEngine) struct AddingTests {
    /// Of a statement that was made upon all that is known, nothing else is judged again. That must not show.
    @Test func oneMoreStatementGivesTheStateOfAll() throws {
        var (shortCount, longCount) = (0, 0)
        for seed in 3000..<3060 as Range<UInt64> {
            let history = try RandomHistory(seed: seed, count: 16)
            var state = try history.club.state(of: [])
            for (index, statement) in history.all.enumerated() {
                if state.evaluation.graph.ends(with: statement) { shortCount += 1 } else { longCount += 1 }
                state = try state.adding([statement])
                let all = try history.club.state(of: Array(history.all[...index]))
                #expect(state == all, "seed \(seed), statement \(index)")
                #expect(state.evaluation.whole.statements == all.evaluation.whole.statements)
                #expect(state.evaluation.whole.void == all.evaluation.whole.void)
            }
        }
        #expect(shortCount > 100 && longCount > 100)
    }

    @Test func aLineOfInvitationsEpochsAndRemovalsGivesTheStateOfAll() throws {
        var club = try Club()
        var state = try club.state(club.found)
        var ring = EpochKeyring()
        var members: [MemberID] = []
        for number in 0..<24 {
            let person = try club.person()
            members.append(person.member)
            let new = NewMember(
                member: person.member, name: try MemberName("m"), role: .writer, device: person.keys.card)
            state = try state.adding([state.statement(.addMember(new), by: club.founder.keys)])
            if number % 3 == 2 {
                let removal = MemberRemoval(member: members.removeFirst())
                state = try state.adding([state.statement(.removeMember(removal), by: club.founder.keys)])
            }
            ring.open(state, with: club.founder.keys)
            state = try state.adding([state.nextEpoch(by: club.founder.keys, keyring: ring)])
            let current = try #require(state.currentEpoch)
            let epoch = try #require(state.epoch(current))
            let active = state.devices.values.filter(\.isActive).map(\.card.id).sorted()
            #expect(Array(epoch.recipients.recipients) == active)
        }
        #expect(try state == club.state(of: Array(state.statements.values)))
        // What another one of the same database is, or known already, changes nothing.
        #expect(try state.adding([club.found]) == state)
    }

    @Test func aStatementThatComesTooLateForTheRoomIsRefused() throws {
        var club = try Club()
        var all = [club.found]
        while all.count < MembershipLimits.statementCountMax {
            let replica = club.identifier()
            all.append(try club.says(club.founder, .bindReplica(replica), after: all[all.count - 1]))
        }
        let full = try club.state(of: all)
        let last = try club.says(club.founder, .bindReplica(club.identifier()), after: all[all.count - 1])
        #expect(full.evaluation.graph.ends(with: last))
        let error = #expect(throws: MembershipError.self) { try full.adding([last]) }
        #expect(error?.code == .tooLarge)
    }
}
