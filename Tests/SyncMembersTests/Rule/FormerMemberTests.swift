import SyncMembers
import SyncWire
import TestSupport
import Testing

/// Whoever reads the statements can name the card of any device, and any member. That gives nobody a hold over those who
/// were added by others: a removal takes from the additions that it knew.
@Suite(.anyEngine) struct FormerMemberTests {
    /// A founder; somebody who was removed; an admin and whom it let in, who came later; a recovery, later still.
    private struct Line {
        var club: Club
        let former, bob, carol, rescuer: Person
        let added: SignedStatement
        let all: [SignedStatement]

        init(former role: MemberRole) throws {
            var club = try Club()
            former = try club.person()
            bob = try club.person()
            carol = try club.person()
            rescuer = try club.person()
            added = try club.adds(former, role, by: club.founder, after: club.found)
            let removed = try club.says(
                club.founder, .removeMember(MemberRemoval(member: former.member)), after: added)
            let second = try club.adds(bob, .admin, by: club.founder, after: removed)
            let third = try club.adds(carol, .writer, by: bob, after: second)
            let recovered = try club.recovers(rescuer, after: third)
            all = [club.found, added, removed, second, third, recovered]
            self.club = club
        }

        /// What the former member signs as if it was before its removal: that a device is its own, and is removed.
        func claims(_ device: Person) throws -> [SignedStatement] {
            let claim = try club.says(
                former, .addDevice(NewDevice(member: former.member, device: device.keys.card)), after: added)
            return [
                claim,
                try club.says(former, .removeDevice(DeviceRemoval(device: device.device)), after: claim),
            ]
        }

        /// Requires that nobody but the former member has lost anything.
        func requireUnharmed(_ state: MembershipState) {
            for (person, role) in [(bob, .admin), (carol, .writer), (rescuer, .admin)]
                as [(Person, MemberRole)]
            {
                #expect(state.role(of: person) == role && state.isActive(person))
                #expect(state.role(of: person.device) == role)
                #expect(state.members[person.member]?.removedBy == [])
                #expect(state.devices[person.device]?.removedBy == [])
            }
            #expect(state.role(of: club.founder) == .admin && state.isActive(club.founder))
            #expect(state.role(of: former) == nil && !state.isActive(former))
        }
    }

    @Test(arguments: [MemberRole.reader, .admin])
    func aFormerMemberRemovesNoDeviceThatWasAddedAfterIt(role: MemberRole) throws {
        let line = try Line(former: role)
        let before = try line.club.state(of: line.all)
        line.requireUnharmed(before)
        var state = before
        for person in [line.bob, line.carol, line.rescuer] {
            let claims = try line.claims(person)
            state = try state.adding(claims)
            // Its removal counts, as all do. It takes what the former member has added, which is nothing.
            #expect(state.uncounted[claims[0].id] != nil && state.uncounted[claims[1].id] == nil)
        }
        line.requireUnharmed(state)
        #expect(try line.club.state(of: state.statements.values.reversed()) == state)
        // Those who know of it go on, and can still remove each other.
        let device = DeviceRemoval(device: line.bob.device)
        let removal = try state.statement(.removeDevice(device), by: line.rescuer.keys)
        let after = try state.adding([removal])
        #expect(!after.isActive(line.bob) && after.isActive(line.carol))
        #expect(after.devices[line.bob.device]?.removedBy == [removal.id])
    }

    @Test func aFormerAdminRemovesNoMemberThatWasAddedAfterIt() throws {
        var line = try Line(former: .admin)
        var evil: [SignedStatement] = []
        for person in [line.bob, line.carol, line.rescuer] {
            let puppet = Person(member: person.member, keys: try line.club.person().keys)
            let named = try line.club.adds(puppet, .admin, by: line.former, after: line.added)
            let lowered = try line.club.says(
                line.former, .setRole(RoleChange(member: person.member, role: .reader)), after: named)
            let removed = try line.club.says(
                line.former, .removeMember(MemberRemoval(member: person.member)), after: named)
            evil += [named, lowered, removed]
        }
        let state = try line.club.state(of: line.all + evil)
        line.requireUnharmed(state)
        #expect(state.members[line.bob.member]?.devices == [line.bob.device])
    }

    @Test func twoFormerReadersTogetherRemoveNobodyElse() throws {
        // One claims the device of who added the other, the other one those who came later.
        var club = try Club()
        let (one, two, bob, carol) = (
            try club.person(), try club.person(), try club.person(), try club.person()
        )
        let first = try club.adds(one, .reader, by: club.founder, after: club.found)
        let gone = try club.says(club.founder, .removeMember(MemberRemoval(member: one.member)), after: first)
        let admin = try club.adds(bob, .admin, by: club.founder, after: gone)
        let second = try club.adds(two, .reader, by: bob, after: admin)
        let away = try club.says(bob, .removeMember(MemberRemoval(member: two.member)), after: second)
        let last = try club.adds(carol, .writer, by: bob, after: away)
        var all = [club.found, first, gone, admin, second, away, last]
        for (former, added, target) in [(one, first, bob), (two, second, carol)] {
            let claim = try club.says(
                former, .addDevice(NewDevice(member: former.member, device: target.keys.card)), after: added)
            all.append(claim)
            all.append(
                try club.says(former, .removeDevice(DeviceRemoval(device: target.device)), after: claim))
        }
        let state = try club.state(of: all)
        #expect(state.isActive(bob) && state.role(of: bob) == .admin)
        #expect(state.isActive(carol) && state.role(of: carol) == .writer)
        #expect(!state.isActive(one) && !state.isActive(two) && state.role(of: two) == nil)
    }

    @Test func nobodyComesBackWhenTheAdditionThatTheirRemovalKnewIsVoid() throws {
        var club = try Club()
        let (eve, bob, mallory) = (try club.person(), try club.person(), try club.person())
        let phone = Person(member: mallory.member, keys: try club.person().keys)
        let former = try club.adds(eve, .admin, by: club.founder, after: club.found)
        let admin = try club.adds(bob, .admin, by: club.founder, after: former)
        let added = try club.adds(mallory, .admin, by: bob, after: admin)
        let second = try club.says(
            club.founder, .addDevice(NewDevice(member: mallory.member, device: phone.keys.card)), after: added
        )
        let raised = try club.says(
            club.founder, .setRole(RoleChange(member: mallory.member, role: .writer)), after: second)
        let again = try club.says(
            club.founder, .setRole(RoleChange(member: mallory.member, role: .admin)), after: raised)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: mallory.member)), after: again)
        let gone = try club.says(
            club.founder, .removeMember(MemberRemoval(member: eve.member)), after: removed)
        let all = [club.found, former, admin, added, second, raised, again, removed, gone]
        // Eve removes Bob as if before he had added Mallory, and Mallory goes on as if before the removal.
        let revenge = try club.says(eve, .removeMember(MemberRemoval(member: bob.member)), after: admin)
        var rest = [revenge]
        for speaker in [mallory, phone] {
            let puppet = try club.person()
            rest.append(try club.adds(puppet, .admin, by: speaker, after: again))
            rest.append(
                try club.says(
                    speaker, .addDevice(NewDevice(member: mallory.member, device: puppet.keys.card)),
                    after: again))
        }
        let state = try club.state(of: all + rest)
        #expect(state.uncounted[added.id] == .issuerRemoved(by: revenge.id))
        #expect(state.role(of: mallory) == nil && !state.isActive(mallory) && !state.isActive(phone))
        #expect(state.devices.values.filter(\.isActive).map(\.member) == [club.founder.member])
        #expect(rest.dropFirst().allSatisfy { state.uncounted[$0.id] != nil })
    }

    /// What a reader claims that is a member still: it tries devices of its own until the name of the claim is small enough.
    private func claim(
        _ target: Person, before name: StatementID, by reader: Person, after parent: SignedStatement,
        _ club: inout Club
    ) throws -> [SignedStatement] {
        for _ in 0..<1000 {
            let own = Person(member: reader.member, keys: try club.person().keys)
            let device = try club.says(
                reader, .addDevice(NewDevice(member: reader.member, device: own.keys.card)), after: parent)
            let claim = try club.says(
                own, .addDevice(NewDevice(member: reader.member, device: target.keys.card)), after: device)
            guard claim.id < name else { continue }
            let removal = try club.says(
                own, .removeDevice(DeviceRemoval(device: target.device)), after: claim)
            return [device, claim, removal]
        }
        return []
    }

    @Test func aDeviceThatHasSpokenStaysWithItsMember() throws {
        var club = try Club()
        let (reader, bob) = (try club.person(), try club.person())
        let phone = Person(member: bob.member, keys: try club.person().keys)
        let first = try club.adds(reader, .reader, by: club.founder, after: club.found)
        let second = try club.adds(bob, .admin, by: club.founder, after: first)
        let added = try club.says(
            bob, .addDevice(NewDevice(member: bob.member, device: phone.keys.card)), after: second)
        let spoken = try club.says(phone, .bindReplica(club.identifier()), after: added)
        let claims = try claim(phone, before: added.id, by: reader, after: first, &club)
        #expect(claims.count == 3)
        let all = [club.found, first, second, added]
        for said in [Array(claims.prefix(2)), claims] {
            let state = try club.state(of: all + [spoken] + said)
            #expect(state.uncounted.isEmpty)
            #expect(state.isActive(phone) && state.role(of: phone.device) == .admin)
            #expect(state.devices[phone.device]?.member == bob.member)
            let next = try state.statement(.bindReplica(club.identifier()), by: phone.keys)
            #expect(try state.adding([next]).uncounted.isEmpty)
        }
        // Before the device has said anything, the smaller name decides.
        let silent = try club.state(of: all + claims.prefix(2))
        #expect(silent.devices[phone.device]?.member == reader.member)
        #expect(try silent.adding([spoken]).devices[phone.device]?.member == bob.member)
        // It takes itself back by its first word upon the addition alone, also after the claimant has removed it.
        let taken = try club.state(of: all + claims)
        #expect(!taken.isActive(phone))
        let back = try taken.adding([spoken])
        #expect(back.isActive(phone) && back.role(of: phone.device) == .admin && back.uncounted.isEmpty)
        // Its removal by an admin who does not know the claim is one all the same.
        let removal = try club.says(bob, .removeDevice(DeviceRemoval(device: phone.device)), after: spoken)
        let removed = try club.state(of: all + [spoken, removal] + claims)
        #expect(!removed.isActive(phone) && removed.devices[phone.device]?.removedBy == [removal.id])
    }

    @Test func nobodyClaimsAnInvitationThatWasNotUsed() throws {
        var club = try Club()
        let (reader, link) = (try club.person(), try club.person())
        let own = Person(member: link.member, keys: try club.person().keys)
        let first = try club.adds(reader, .reader, by: club.founder, after: club.found)
        let invited = try club.adds(link, .admin, by: club.founder, after: first)
        let claims = try claim(link, before: invited.id, by: reader, after: first, &club)
        #expect(claims.count == 3)
        let state = try club.state(of: [club.found, first, invited] + claims)
        #expect(state.isActive(link) && state.devices[link.device]?.member == link.member)
        let accepted = try state.statement(
            .addDevice(NewDevice(member: link.member, device: own.keys.card)), by: link.keys)
        let spent = try state.adding([accepted]).statement(
            .removeDevice(DeviceRemoval(device: link.device)), by: own.keys)
        let after = try state.adding([accepted, spent])
        #expect(after.isActive(own) && after.role(of: own.device) == .admin)
        #expect(!after.isActive(link) && after.uncounted.isEmpty)
    }
}
