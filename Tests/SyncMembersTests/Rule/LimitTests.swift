import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

@Suite(.anyEngine) struct LimitTests {
    /// A club of so many members, each with one device, by a line of statements.
    private func crowd(_ count: Int) throws -> (club: Club, people: [Person], all: [SignedStatement]) {
        var club = try Club()
        var people = [club.founder]
        var all = [club.found]
        while people.count < count {
            let person = try club.person()
            all.append(try club.adds(person, .writer, by: club.founder, after: all[all.count - 1]))
            people.append(person)
        }
        return (club, people, all)
    }

    @Test func oneOfAThousandMembersIsRemoved() throws {
        var (club, people, all) = try crowd(MembershipLimits.memberCountMax)
        let full = try club.state(of: all)
        #expect(full.members.count == 1000 && full.uncounted.isEmpty)
        // There is no room for one more.
        let late = try club.adds(club.person(), .reader, by: club.founder, after: all[all.count - 1])
        #expect(try full.adding([late]).uncounted == [late.id: .full])
        all.append(
            try full.statement(
                .removeMember(MemberRemoval(member: people[500].member)), by: club.founder.keys))
        let removed = try club.state(of: all)
        let epoch = try removed.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        let state = try removed.adding([epoch])
        #expect(state.currentEpoch == epoch.id && !state.isEpochDue)
        #expect(state.epoch(epoch.id)?.recipients.count == 999)
        #expect(epoch.bytes.count < 100_000)
        for (index, expected) in [(0, 1), (500, 0), (999, 1)] {
            var ring = EpochKeyring()
            ring.open(state, with: people[index].keys)
            #expect(ring.opened.count == expected)
        }
        // Now there is room.
        let next = try club.adds(club.person(), .reader, by: club.founder, after: epoch)
        #expect(try state.adding([next]).uncounted.isEmpty)
    }

    @Test func statementsOfAnotherDatabaseAreRefused() throws {
        let club = try Club()
        let other = try MembershipState.found(
            StoreID(high: 1, low: 1), member: club.founder.member, name: MemberName("Ada"),
            keys: club.founder.keys,
            recovery: club.recovery.card)
        let error = #expect(throws: MembershipError.self) { try club.state(club.found, other) }
        #expect(error?.code == .otherStore)
    }

    @Test func aStateHasABoundOfStatements() throws {
        var club = try Club()
        var all = [club.found]
        while all.count <= MembershipLimits.statementCountMax {
            all.append(try club.says(club.founder, .bindReplica(club.identifier()), after: club.found))
        }
        let error = #expect(throws: MembershipError.self) { try club.state(of: all) }
        #expect(error?.code == .tooLarge)
        let most = try club.state(of: Array(all.dropLast()))
        #expect(most.replicas.count == all.count - 2 && most.heads.count == all.count - 2)
        #expect(!most.hasRoomForMember)
        // A statement names at most 64 of the heads, and takes these together.
        let next = try most.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        #expect(next.statement.parents.count == 64)
    }

    @Test func nobodyIsInvitedWhereTheRestIsForRemovals() throws {
        let (count, bytes) = (MembershipLimits.statementCountMax, MembershipLimits.totalByteCountMax)
        #expect(try Club().state(of: []).hasRoomForMember)
        #expect(MembershipState.hasRoomForMember(beside: count - 501, byteCount: bytes - (4 << 20) - 1))
        #expect(!MembershipState.hasRoomForMember(beside: count - 500, byteCount: 0))
        #expect(!MembershipState.hasRoomForMember(beside: 0, byteCount: bytes - (4 << 20)))
        // Others who belong to the database have half of that, and removals the rest.
        #expect(MembershipState.hasRoomBesideRemovals(beside: count - 251, byteCount: bytes - (2 << 20) - 1))
        #expect(!MembershipState.hasRoomBesideRemovals(beside: count - 250, byteCount: 0))
        #expect(!MembershipState.hasRoomBesideRemovals(beside: 0, byteCount: bytes - (2 << 20)))
    }

    /// Whoever has been let in can say a lot of things at once. That keeps nobody from being removed, or let in.
    @Test func anEpochKnowsWhatItIsForAmongMoreHeadsThanItNames() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let added = try club.adds(bob, .reader, by: club.founder, after: club.found)
        var all = [club.found, added]
        for _ in 0..<400 {
            all.append(try club.says(bob, .bindReplica(club.identifier()), after: added))
        }
        var state = try club.state(of: all)
        let new = NewMember(
            member: carol.member, name: try MemberName("carol"), role: .writer, device: carol.keys.card)
        for kind in [
            StatementKind.addMember(new), .removeMember(MemberRemoval(member: bob.member)),
        ] {
            state = try state.adding([state.statement(kind, by: club.founder.keys)])
            let epoch = try state.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
            state = try state.adding([epoch])
            #expect(state.heads.count > MembershipLimits.parentCountMax)
            #expect(state.currentEpoch == epoch.id && !state.isEpochDue)
        }
        // Another one, who knows of both, makes one that counts, too.
        let last = try state.nextEpoch(by: carol.keys, keyring: EpochKeyring())
        #expect(try state.adding([last]).currentEpoch == last.id)
    }

    /// Somebody who was removed can still sign removals of its own device, as if from before, and they count.
    @Test func removalsThatFillTheParentsKeepNobodyFromSayingWhatCounts() throws {
        var club = try Club()
        let (bob, carol, dora) = (try club.person(), try club.person(), try club.person())
        let added = try club.adds(bob, .reader, by: club.founder, after: club.found)
        let addsDora = try club.adds(dora, .admin, by: club.founder, after: club.found)
        let addsCarol = try club.adds(carol, .writer, by: dora, after: addsDora)
        var all = [club.found, added, addsDora, addsCarol]
        for number in 1...400 {
            let removal = DeviceRemoval(device: bob.device, cutOffs: [club.identifier(): Int64(number)])
            all.append(try club.says(bob, .removeDevice(removal), after: added))
        }
        let state = try club.state(of: all)
        #expect(state.uncounted.isEmpty && state.heads.count == 401)
        // Neither the founder nor carol has said anything upon carol's addition, which no removal rests upon.
        let kinds: [StatementKind] = [
            .removeMember(MemberRemoval(member: carol.member)),
            .removeDevice(DeviceRemoval(device: carol.device)),
            .setRole(RoleChange(member: carol.member, role: .reader)),
        ]
        for kind in kinds {
            let next = try state.statement(kind, by: club.founder.keys)
            #expect(next.statement.parents.contains(addsCarol.id))
            #expect(try state.adding([next]).uncounted[next.id] == nil)
        }
        let binding = try state.statement(.bindReplica(club.identifier()), by: carol.keys)
        #expect(try state.adding([binding]).uncounted[binding.id] == nil)
        // Epochs one after the other take all removals together, 63 each.
        var (now, count) = (state, 0)
        while now.currentEpoch == nil, count < 8 {
            now = try now.adding([now.nextEpoch(by: carol.keys, keyring: EpochKeyring())])
            count += 1
        }
        #expect(now.currentEpoch != nil && !now.isEpochDue && count == 7)
    }

    @Test func linesThatCrossManyTimesTakeNoLonger() throws {
        // A million million paths lead to the last statement.
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .admin, by: club.founder, after: club.found)
        var all = [club.found, added]
        var (left, right) = (added, added)
        for step in 0..<40 {
            let kind: StatementKind =
                step == 20
                ? .removeMember(MemberRemoval(member: bob.member)) : .bindReplica(club.identifier())
            let next =
                try step == 0
                ? (
                    club.says(club.founder, kind, after: left),
                    club.says(bob, .bindReplica(club.identifier()), after: right)
                )
                : (
                    club.says(club.founder, kind, after: left, right),
                    club.says(bob, .bindReplica(club.identifier()), after: left, right)
                )
            (left, right) = next
            all += [left, right]
        }
        let state = try club.state(of: all)
        // All that Bob said from the removal on.
        #expect(state.uncounted.count == 20 && state.replicas.count == 39 + 20)
    }
}
