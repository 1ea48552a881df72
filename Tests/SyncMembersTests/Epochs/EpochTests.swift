import Crypto
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

@Suite(.anyEngine) struct EpochTests {
    private func ring(_ person: Person, _ state: MembershipState) -> EpochKeyring {
        var ring = EpochKeyring()
        ring.open(state, with: person.keys)
        return ring
    }

    /// The state with a new epoch by somebody.
    private func withEpoch(_ state: MembershipState, by person: Person) throws -> (
        MembershipState, StatementID
    ) {
        let epoch = try state.nextEpoch(by: person.keys, keyring: ring(person, state))
        return (try state.adding([epoch]), epoch.id)
    }

    @Test func anEpochIsDueUntilAllWhoTakePartHaveOne() throws {
        var club = try Club()
        let bob = try club.person()
        let founded = try club.state(club.found)
        #expect(founded.isEpochDue && founded.currentEpoch == nil)
        let (first, one) = try withEpoch(founded, by: club.founder)
        #expect(!first.isEpochDue && first.currentEpoch == one)
        // After an addition the epoch may still be used; after a removal it may not.
        let added = try club.adds(bob, .writer, by: club.founder, after: try #require(first.statements[one]))
        let grown = try first.adding([added])
        #expect(grown.isEpochDue && grown.currentEpoch == one)
        let (second, two) = try withEpoch(grown, by: club.founder)
        #expect(!second.isEpochDue && second.currentEpoch == two)
        let removal = try second.statement(
            .removeMember(MemberRemoval(member: bob.member)), by: club.founder.keys)
        let shrunk = try second.adding([removal])
        #expect(shrunk.isEpochDue && shrunk.currentEpoch == nil)
        let (third, three) = try withEpoch(shrunk, by: club.founder)
        #expect(third.currentEpoch == three && !third.isEpochDue)
        #expect(third.epochs.map(\.generation) == [1, 2, 3])
        #expect(ring(bob, third).opened == [one, two])
        #expect(ring(club.founder, third).opened == [one, two, three])
    }

    @Test func newcomersAndTheRecoveryKeyReadWhatWasWrittenBefore() throws {
        var club = try Club()
        var state = try club.state(club.found)
        var epochs: [StatementID] = []
        for _ in 0..<4 {
            let bob = try club.person()
            let (next, epoch) = try withEpoch(state, by: club.founder)
            epochs.append(epoch)
            let added = try next.statement(
                .addMember(
                    NewMember(member: bob.member, name: MemberName("b"), role: .reader, device: bob.keys.card)
                ),
                by: club.founder.keys)
            state = try next.adding([added])
            #expect(ring(bob, state).opened.isEmpty)
            #expect(ring(bob, state).closed[epoch]?.code == .cannotOpen)
            let (after, last) = try withEpoch(state, by: club.founder)
            epochs.append(last)
            state = after
            #expect(ring(bob, state).opened == Set(epochs) && ring(bob, state).closed.isEmpty)
            // It brings the key of one, and this one those of all others, so that epochs don't grow with their number.
            #expect(state.epoch(last)?.earlier == [epoch])
            #expect(state.brought(by: last).union([last]) == Set(epochs))
            #expect(!state.isEpochDue(for: ring(club.founder, state)))
        }
        var rescue = EpochKeyring()
        rescue.open(state, with: club.recovery)
        #expect(rescue.opened == Set(epochs))
        let mine = ring(club.founder, state)
        for epoch in epochs {
            #expect(mine[epoch]?.bytes == rescue[epoch]?.bytes)
        }
        #expect(Set(epochs.compactMap { mine[$0]?.bytes }).count == epochs.count)
    }

    @Test func whoHasKeysThatANewcomersEpochLacksBringsThem() throws {
        var club = try Club()
        let bob = try club.person()
        let (first, one) = try withEpoch(try club.state(club.found), by: club.founder)
        let added = try club.adds(bob, .writer, by: club.founder, after: try #require(first.statements[one]))
        let (state, two) = try withEpoch(try first.adding([added]), by: bob)
        #expect(state.currentEpoch == two && !state.isEpochDue)
        #expect(ring(bob, state).closed.keys.sorted() == [one])
        #expect(!state.isEpochDue(for: ring(bob, state)) && state.isEpochDue(for: ring(club.founder, state)))
        let (mended, three) = try withEpoch(state, by: club.founder)
        #expect(ring(bob, mended).opened == [one, two, three] && ring(bob, mended).closed.isEmpty)
        #expect(
            !mended.isEpochDue(for: ring(bob, mended)) && !mended.isEpochDue(for: ring(club.founder, mended)))
    }

    @Test func epochsThatDidNotKnowEachOtherAreBothOpened() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let state = try club.state(club.found, added)
        let one = try state.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        let two = try state.nextEpoch(by: bob.keys, keyring: EpochKeyring())
        let both = try state.adding([one, two])
        #expect(both.currentEpoch == max(one.id, two.id) && !both.isEpochDue)
        #expect(ring(bob, both).opened == [one.id, two.id])
        let (next, three) = try withEpoch(both, by: bob)
        #expect(next.currentEpoch == three && next.epochs.last?.generation == 2)
        #expect(next.epoch(three)?.earlier == [one.id, two.id].sorted())
    }

    @Test func anEpochMeanwhileIsNotUsedAfterARemoval() throws {
        var club = try Club()
        let (bob, carol) = (try club.person(), try club.person())
        let one = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let two = try club.adds(carol, .writer, by: club.founder, after: one)
        let state = try club.state(club.found, one, two)
        let removal = try state.statement(
            .removeMember(MemberRemoval(member: bob.member)), by: club.founder.keys)
        let byCarol = try state.nextEpoch(by: carol.keys, keyring: EpochKeyring())
        let byBob = try state.nextEpoch(by: bob.keys, keyring: EpochKeyring())
        let after = try state.adding([removal, byCarol, byBob])
        #expect(after.currentEpoch == nil && after.isEpochDue)
        #expect(after.uncounted == [byBob.id: .issuerRemoved(by: removal.id)])
        #expect(after.epochs.filter(\.counts).map(\.id) == [byCarol.id])
        let (next, last) = try withEpoch(after, by: carol)
        #expect(next.currentEpoch == last && ring(bob, next)[last] == nil)
    }

    @Test func anEpochIsNotUsedThatSomebodyCanOpenWhoLostARecovery() throws {
        var club = try Club()
        let (bob, one, two) = (try club.person(), try club.person(), try club.person())
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let first = try club.recovers(one, after: added)
        let second = try club.recovers(two, after: added)
        let lost = first.id < second.id ? first : second
        let branch = try club.state(club.found, added, lost)
        let epoch = try branch.nextEpoch(by: bob.keys, keyring: EpochKeyring())
        #expect(try branch.adding([epoch]).currentEpoch == epoch.id)
        let state = try branch.adding([epoch, first, second])
        #expect(state.currentEpoch == nil && state.isEpochDue)
    }

    @Test func readersMakeNoEpochAndNobodyLeavesAnybodyOut() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .reader, by: club.founder, after: club.found)
        let state = try club.state(club.found, added)
        let error = #expect(throws: MembershipError.self) {
            try state.nextEpoch(by: bob.keys, keyring: EpochKeyring())
        }
        #expect(error?.code == .notAllowed)
        // An epoch of an earlier state lacks Bob.
        let alone = try club.state(club.found).nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        let forced = try club.says(club.founder, alone.statement.kind, after: added)
        let after = try state.adding([forced])
        #expect(
            after.uncounted == [forced.id: .epochWrong] && after.currentEpoch == nil && after.epochs.isEmpty)
    }

    @Test func anEpochIsTheNextOne() throws {
        let club = try Club()
        let state = try club.state(club.found)
        let good = try state.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        guard case .epoch(let epoch) = good.statement.kind else { return }
        for generation in [2, Int64.max] {
            let skipping = Epoch(
                generation: generation, commitment: epoch.commitment, recipients: epoch.recipients,
                recovery: epoch.recovery, earlier: [], sealedKeys: [])
            let statement = try club.says(club.founder, .epoch(skipping), after: club.found)
            let after = try state.adding([try SignedStatement(bytes: statement.bytes)])
            #expect(after.uncounted == [statement.id: .epochWrong])
            let next = try after.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
            #expect(try after.adding([next]).currentEpoch == next.id)
        }
        for generation in [0, -1, Int64.min] {
            let wrong = Epoch(
                generation: generation, commitment: epoch.commitment, recipients: epoch.recipients,
                recovery: epoch.recovery, earlier: [], sealedKeys: [])
            #expect(throws: MembershipError.self) {
                try club.says(club.founder, .epoch(wrong), after: club.found)
            }
        }
    }

    @Test func whatIsNotThePromisedKeyIsNotTaken() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let state = try club.state(club.found, added)
        let good = try state.nextEpoch(by: club.founder.keys, keyring: EpochKeyring())
        guard case .epoch(let epoch) = good.statement.kind else { return }
        let seal = state.seal(of: epoch)
        // Bob gets another key than everybody else.
        let recipients = try epoch.recipients.map { wrapped in
            wrapped.recipient == bob.device
                ? try seal.wrap(EpochKey(), for: bob.keys.card, as: .device) : wrapped
        }
        let bad = Epoch(
            generation: 1, commitment: epoch.commitment, recipients: recipients, recovery: epoch.recovery,
            earlier: [], sealedKeys: [])
        let statement = try club.says(club.founder, .epoch(bad), after: added)
        let after = try state.adding([statement])
        #expect(after.currentEpoch == statement.id)
        let bobs = ring(bob, after)
        #expect(bobs.opened.isEmpty && bobs.closed[statement.id]?.code == .cannotOpen)
        #expect(ring(club.founder, after).opened == [statement.id])
        // Bob makes the next one, which lacks the key that he could not open. A later one brings it.
        let (mended, next) = try withEpoch(after, by: bob)
        #expect(mended.currentEpoch == next && mended.epoch(next)?.earlier == [])
        let (full, last) = try withEpoch(mended, by: club.founder)
        #expect(ring(bob, full).opened == [statement.id, next, last])
        #expect(full.epoch(last)?.earlier == [statement.id, next].sorted())
    }

    @Test func aKeyThatAnEpochOnlySaysToBringIsBroughtByTheNext() throws {
        var club = try Club()
        let bob = try club.person()
        let added = try club.adds(bob, .writer, by: club.founder, after: club.found)
        let (first, one) = try withEpoch(try club.state(club.found, added), by: club.founder)
        let good = try first.nextEpoch(by: bob.keys, keyring: ring(bob, first))
        guard case .epoch(let epoch) = good.statement.kind else { return }
        // Its key opens another key than the one that it names.
        let key = try #require(ring(bob, try first.adding([good]))[good.id])
        let bad = Epoch(
            generation: 2, commitment: epoch.commitment, recipients: epoch.recipients,
            recovery: epoch.recovery, earlier: [one],
            sealedKeys: try first.seal(of: epoch).seal([EpochKey()], named: [one], under: key))
        let statement = try club.says(bob, .epoch(bad), after: try #require(first.statements[one]))
        let state = try first.adding([statement])
        #expect(state.currentEpoch == statement.id && state.brought(by: statement.id) == [one])
        #expect(state.brought(by: statement.id, checkedBy: ring(club.founder, state)).isEmpty)
        #expect(state.isEpochDue(for: ring(club.founder, state)))
        let (mended, last) = try withEpoch(state, by: club.founder)
        #expect(mended.epoch(last)?.earlier == [one, statement.id].sorted())
        #expect(!mended.isEpochDue(for: ring(club.founder, mended)))
    }

    @Test func wrappedKeysAreFoundByTheirRecipients() throws {
        var club = try Club()
        var last = club.found
        var people = [club.founder]
        for _ in 0..<6 {
            let person = try club.person()
            last = try club.adds(person, .writer, by: people[0], after: last)
            people.append(person)
        }
        let none = WrappedKeys([])
        #expect(none.isEmpty && none.key(for: people[0].device) == nil && none.areAscending)
        let key = { (id: DeviceID, byteCount: Int) in
            Epoch.WrappedKey(recipient: id, bytes: [UInt8](repeating: UInt8(id.low & 0xFF), count: byteCount))
        }
        let devices = people.map(\.device).sorted()
        let all = WrappedKeys(devices.map { key($0, 80) })
        #expect(all.count == 7 && all.areAscending && all.areWhole && Array(all.recipients) == devices)
        for device in devices {
            #expect(all.key(for: device) == key(device, 80))
            #expect(all.key(for: DeviceID(high: device.high, low: device.low &+ 1)) == nil)
        }
        #expect(!WrappedKeys(devices.reversed().map { key($0, 80) }).areAscending)
        #expect(!WrappedKeys([key(devices[0], 80), key(devices[0], 80)]).areAscending)
        // Two that have the length of two, and are none.
        #expect(!WrappedKeys([key(devices[0], 79), key(devices[1], 81)]).areWhole)
    }

    @Test func keysForDifferentUsesHaveNothingInCommon() throws {
        let key = EpochKey()
        let uses = [
            key.subkey(for: "a"), key.subkey(for: "b"), key.subkey(for: "a", salt: [1]), key.historyKey,
            key.subkey(for: ""),
        ]
        #expect(Set(uses.map { $0.withUnsafeBytes { Array($0) } }).count == uses.count)
        #expect(key.subkey(for: "a") == key.subkey(for: "a"))
        #expect(!uses.contains { $0.withUnsafeBytes { Array($0) } == key.bytes })
    }
}
