import SyncMembers
import SyncWire
import TestSupport
import Testing

/// Strong removal: what somebody who is removed did, and who removed them did not know, does not count.
@Suite(.anyEngine) struct RemovalTests {
    @Test func aMemberTakesPartUntilItIsRemoved() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: bob.member)), after: added)
        let before = try club.state(club.found, added)
        #expect(before.role(of: bob) == .writer && before.isActive(bob))
        #expect(before.role(of: bob.device) == .writer)
        let after = try club.state(club.found, added, removed)
        #expect(after.role(of: bob) == nil && !after.isActive(bob))
        #expect(after.role(of: bob.device) == nil)
        #expect(after.members[bob.member]?.removedBy == [removed.id])
        #expect(after.devices[bob.device]?.removedBy == [removed.id])
        #expect(after.heads == [removed.id] && after.uncounted.isEmpty)
    }

    @Test func onlyAdminsManageMembers() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let state = try club.state(club.found, added)
        let kinds: [StatementKind] = [
            .addMember(
                NewMember(
                    member: carol.member, name: try MemberName("c"), role: .reader, device: carol.keys.card)),
            .removeMember(MemberRemoval(member: club.founder.member)),
            .removeDevice(DeviceRemoval(device: club.founder.device)),
            .setRole(RoleChange(member: bob.member, role: .admin)),
            .addDevice(NewDevice(member: club.founder.member, device: carol.keys.card)),
        ]
        for kind in kinds {
            let error = #expect(throws: MembershipError.self) { try state.statement(kind, by: bob.keys) }
            #expect(error?.code == .notAllowed)
            let forced = try club.says(bob, kind, after: added)
            let after = try state.adding([forced])
            #expect(after.uncounted == [forced.id: .roleTooLow(.admin)])
            #expect(after.members == state.members && after.devices == state.devices)
        }
        let stranger = try club.says(carol, .bindReplica(club.identifier()), after: added)
        #expect(try state.adding([stranger]).uncounted == [stranger.id: .issuerUnknown])
    }

    @Test func membersManageTheirOwnDevices() throws {
        var club = try Club()
        let (bob, phone) = (try club.person(), try club.person())
        let added = try club.adds(bob, .reader, by: club.founder, after: club.found)
        let second = try club.says(
            bob, .addDevice(NewDevice(member: bob.member, device: phone.keys.card)), after: added)
        let lost = Person(member: bob.member, keys: phone.keys)
        let removed = try club.says(lost, .removeDevice(DeviceRemoval(device: bob.device)), after: second)
        let state = try club.state(club.found, added, second, removed)
        #expect(state.uncounted.isEmpty)
        #expect(!state.isActive(bob) && state.isActive(lost))
        #expect(state.members[bob.member]?.devices == [bob.device, phone.device].sorted())
    }

    @Test func whatARemovedMemberDidMeanwhileDoesNotCount() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: bob.member)), after: added)
        let known = try club.adds(carol, .writer, by: bob, after: added)
        let meanwhile = try club.state(club.found, added, removed, known)
        #expect(meanwhile.role(of: carol) == nil && meanwhile.members[carol.member] == nil)
        #expect(meanwhile.uncounted == [known.id: .issuerRemoved(by: removed.id)])
        // The same, known to who removes, stays.
        let later = try club.says(
            club.founder, .removeMember(MemberRemoval(member: bob.member)), after: known)
        #expect(try club.state(club.found, added, known, later).role(of: carol) == .writer)
    }

    @Test func backDatedStatementsOfARemovedDeviceDoNotCount() throws {
        var club = try Club()
        let (bob, phone) = (try club.person(), try club.person())
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let removed = try club.says(
            club.founder, .removeDevice(DeviceRemoval(device: bob.device)), after: added)
        var last = added
        var all = [club.found, added, removed]
        for _ in 0..<5 {
            last = try club.says(bob, .bindReplica(club.identifier()), after: last)
            all.append(last)
        }
        all.append(
            try club.says(
                bob, .addDevice(NewDevice(member: bob.member, device: phone.keys.card)), after: last))
        let state = try club.state(of: all)
        #expect(state.uncounted.count == 6 && state.replicas.isEmpty)
        #expect(state.devices[phone.device] == nil)
        // Whoever knows of the removal can say nothing at all.
        let after = try club.says(bob, .bindReplica(club.identifier()), after: removed)
        #expect(try state.adding([after]).uncounted[after.id] == .issuerUnknown)
    }

    @Test func sockPuppetsOfARemovedAdminFallWithIt() throws {
        var club = try Club()
        let (bob, puppet, second, dave) = (
            try club.person(), try club.person(), try club.person(), try club.person()
        )
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: bob.member)), after: added)
        let one = try club.adds(puppet, .admin, by: bob, after: added)
        let two = try club.adds(second, .admin, by: puppet, after: one)
        let three = try club.adds(dave, .writer, by: second, after: two)
        let state = try club.state(club.found, added, removed, one, two, three)
        #expect(state.members.count == 2)
        #expect(state.uncounted[one.id] == .issuerRemoved(by: removed.id))
        #expect(state.uncounted[two.id] == .authorityLost(through: one.id))
        #expect(state.uncounted[three.id] == .authorityLost(through: two.id))
        // Their removals count, as those of the removed admin itself do: see decision 27.
        let revenge = try club.says(
            puppet, .removeMember(MemberRemoval(member: club.founder.member)), after: one)
        #expect(try state.adding([revenge]).role(of: club.founder) == nil)
    }

    @Test func twoAdminsWhoRemoveEachOtherAreBothRemoved() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let third = try club.adds(carol, .admin, by: bob, after: added)
        let one = try club.says(club.founder, .removeMember(MemberRemoval(member: bob.member)), after: third)
        let other = try club.says(
            bob, .removeMember(MemberRemoval(member: club.founder.member)), after: third)
        let state = try club.state(club.found, added, third, one, other)
        #expect(state.role(of: bob) == nil && state.role(of: club.founder) == nil)
        #expect(state.role(of: carol) == .admin && state.uncounted.isEmpty)
        #expect(state.heads == [one.id, other.id].sorted())
    }

    @Test func theLastAdminMayBeRemoved() throws {
        let club = try Club()
        let gone = try club.says(
            club.founder, .removeMember(MemberRemoval(member: club.founder.member)), after: club.found)
        let state = try club.state(club.found, gone)
        #expect(state.role(of: club.founder) == nil)
        #expect(state.members.values.allSatisfy { $0.role == nil })
    }

    @Test func identitiesDoNotComeBack() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let removed = try club.says(
            club.founder, .removeMember(MemberRemoval(member: bob.member)), after: added)
        let state = try club.state(club.found, added, removed)
        let again = Person(member: club.identifier(), keys: bob.keys)
        let sameMember = Person(member: bob.member, keys: try club.person().keys)
        for person in [bob, again, sameMember] {
            let statement = try club.adds(person, .writer, by: club.founder, after: removed)
            #expect(try state.adding([statement]).uncounted[statement.id] == .alreadyThere)
        }
    }

    @Test func statementsWaitForTheirParents() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        let bound = try club.says(bob, .bindReplica(club.identifier()), after: added)
        let state = try club.state(club.found, bound)
        #expect(state.waiting == [bound.id] && state.missing == [added.id])
        #expect(state.replicas.isEmpty && state.heads == [club.found.id])
        #expect(try club.state(bound).waiting == [bound.id])
        #expect(try state.adding([added]).waiting.isEmpty)
        #expect(try state.adding([added]) == club.state(added, club.found, bound))
        #expect(try club.state().heads.isEmpty)
    }

    @Test func anotherFoundingIsNobodysConcern() throws {
        var club = try Club()
        let mallory = try club.person()
        let other = try MembershipState.found(
            Club.store, member: mallory.member, name: MemberName("Mallory"), keys: mallory.keys,
            recovery: club.recovery.card)
        let replica = try club.says(mallory, .bindReplica(club.identifier()), after: other)
        let mixed = try club.says(mallory, .bindReplica(club.identifier()), after: other, club.found)
        let state = try club.state(club.found, other, replica, mixed)
        #expect(state.members.count == 1 && state.replicas.isEmpty)
        #expect(state.uncounted[other.id] == .foundedElsewhere && state.uncounted.count == 3)
    }

    /// What remains of an invitation that was used: `Schemas/membership/v1.md`, section 7.
    @Test func keysForOneUseCanStillRemoveAndNothingElse() throws {
        var club = try Club()
        let link = try club.person()
        let own = Person(member: link.member, keys: try club.person().keys)
        let added = try club.adds(link, .writer, by: club.founder, after: club.found)
        let accepted = try club.says(
            link, .addDevice(NewDevice(member: link.member, device: own.keys.card)), after: added)
        let spent = try club.says(own, .removeDevice(DeviceRemoval(device: link.device)), after: accepted)
        let claim = try club.says(own, .bindReplica(club.identifier()), after: spent)
        let all = [club.found, added, accepted, spent, claim]
        let thief = Person(member: link.member, keys: try club.person().keys)
        let device = try club.says(
            link, .addDevice(NewDevice(member: link.member, device: thief.keys.card)), after: accepted)
        let later = try club.state(of: all + [device])
        #expect(later.isActive(own) && !later.isActive(thief))
        #expect(later.uncounted == [device.id: .issuerRemoved(by: spent.id)])
        for (removed, parent) in [(link, added), (own, accepted)] {
            let removal = try club.says(
                link, .removeDevice(DeviceRemoval(device: removed.device)), after: parent)
            let state = try club.state(of: all + [removal])
            #expect(!state.isActive(own) && state.uncounted[claim.id] != nil)
            #expect(state.role(of: own) == .writer)
        }
    }

    /// The device is new where its addition does not count, so an admin can add it again: what somebody else has added the
    /// keys for one use don't reach.
    @Test func anAdminBringsBackWhomKeysForOneUseHaveLockedOut() throws {
        var club = try Club()
        let link = try club.person()
        let own = Person(member: link.member, keys: try club.person().keys)
        let thief = Person(member: link.member, keys: try club.person().keys)
        let added = try club.adds(link, .admin, by: club.founder, after: club.found)
        let accepted = try club.says(
            link, .addDevice(NewDevice(member: link.member, device: own.keys.card)), after: added)
        let spent = try club.says(own, .removeDevice(DeviceRemoval(device: link.device)), after: accepted)
        let (guest, host) = (try club.person(), try club.person())
        let invited = try club.adds(guest, .writer, by: own, after: spent)
        let other = try club.adds(host, .writer, by: club.founder, after: invited)
        let removal = try club.says(
            link, .removeDevice(DeviceRemoval(device: link.device)), after: added)
        let all = [club.found, added, accepted, spent, invited, other, removal]
        let locked = try club.state(of: all)
        // Its device and whom it let in; not whom others let in.
        #expect(!locked.isActive(own) && !locked.isActive(guest) && locked.isActive(host))
        let again = try club.says(
            club.founder, .addDevice(NewDevice(member: link.member, device: own.keys.card)),
            after: other, removal)
        let claim = try club.says(
            link, .addDevice(NewDevice(member: link.member, device: thief.keys.card)), after: added)
        let attempts = [
            claim, try club.says(thief, .removeDevice(DeviceRemoval(device: link.device)), after: claim),
            try club.says(link, .removeDevice(DeviceRemoval(device: own.device)), after: accepted),
            try club.says(link, .removeDevice(DeviceRemoval(device: own.device)), after: again),
        ]
        for count in 0...attempts.count {
            let state = try club.state(of: all + [again] + attempts.prefix(count))
            #expect(state.isActive(own) && state.role(of: own) == .admin)
            #expect(!state.isActive(link) && !state.isActive(thief) && state.isActive(host))
        }
    }
}
