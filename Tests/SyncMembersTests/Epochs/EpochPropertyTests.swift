import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

/// Who can open which key, over random histories with epochs.
@Suite(.anyEngine) struct EpochPropertyTests {
    /// What devices that hear of each other late make of a membership, with an epoch wherever one is due.
    private struct World {
        var club: Club
        var random: SplitMix64
        var people: [Person]
        var states: [MembershipState]
        var rings: [EpochKeyring]
        var all: MembershipState

        init(seed: UInt64) throws {
            club = try Club(seed: seed)
            random = SplitMix64(seed: seed ^ 0xE9)
            people = [club.founder]
            all = try club.state(club.found)
            states = [all]
            rings = [EpochKeyring()]
            for _ in 0..<18 { try step() }
            for index in people.indices { rings[index].open(all, with: people[index].keys) }
        }

        mutating func step() throws {
            let speaker = random.below(people.count)
            if random.oneIn(3) { states[speaker] = try states[speaker].adding(all.statements.values) }
            let person = people[speaker]
            rings[speaker].open(states[speaker], with: person.keys)
            if states[speaker].isEpochDue, !random.oneIn(3) {
                if let epoch = try? states[speaker].nextEpoch(by: person.keys, keyring: rings[speaker]) {
                    try say(epoch, speaker)
                }
                return
            }
            let target = people[random.below(people.count)]
            switch random.below(5) {
            case 0, 1, 2:
                let new = try club.person()
                let content = NewMember(
                    member: new.member, name: try MemberName("n"), role: random.oneIn(2) ? .admin : .writer,
                    device: new.keys.card)
                guard let added = try? states[speaker].statement(.addMember(content), by: person.keys) else {
                    return
                }
                try say(added, speaker)
                people.append(new)
                states.append(states[speaker])
                rings.append(EpochKeyring())
            case 3:
                let removal = StatementKind.removeMember(MemberRemoval(member: target.member))
                if let removed = try? states[speaker].statement(removal, by: person.keys) {
                    try say(removed, speaker)
                }
            default:
                let removal = StatementKind.removeDevice(DeviceRemoval(device: target.device))
                if let removed = try? states[speaker].statement(removal, by: person.keys) {
                    try say(removed, speaker)
                }
            }
        }

        private mutating func say(_ statement: SignedStatement, _ speaker: Int) throws {
            states[speaker] = try states[speaker].adding([statement])
            all = try all.adding([statement])
        }
    }

    @Test func nobodyOpensAKeyThatIsLaterThanTheirRemoval() throws {
        var checked = 0
        for seed in 0..<80 as Range<UInt64> {
            let world = try World(seed: seed)
            let graph = world.all.evaluation.graph
            for (index, person) in world.people.enumerated() {
                for removal in world.all.devices[person.device]?.removedBy ?? [] {
                    let node = try #require(graph.nodes.firstIndex { $0.id == removal })
                    for epoch in world.all.epochs {
                        let place = try #require(graph.nodes.firstIndex { $0.id == epoch.id })
                        guard world.all.evaluation.pasts[place].statements.contains(node) else { continue }
                        #expect(world.rings[index][epoch.id] == nil, "seed \(seed)")
                        checked += 1
                    }
                }
                if let current = world.all.currentEpoch, !world.all.isActive(person) {
                    #expect(world.rings[index][current] == nil, "seed \(seed)")
                }
            }
        }
        #expect(checked > 100)
    }

    @Test func whoTakesPartOpensTheCurrentKeyAndAllBeforeIt() throws {
        var checked = 0
        for seed in 100..<140 as Range<UInt64> {
            let world = try World(seed: seed)
            guard let current = world.all.currentEpoch, !world.all.isEpochDue else { continue }
            let earlier = world.all.epoch(current)?.earlier ?? []
            for (index, person) in world.people.enumerated() where world.all.isActive(person) {
                #expect(world.rings[index].opened.isSuperset(of: earlier + [current]), "seed \(seed)")
                checked += 1
            }
            var rescue = EpochKeyring()
            rescue.open(world.all, with: world.club.recovery)
            #expect(rescue.opened == Set(world.all.epochs.map(\.id)), "seed \(seed)")
        }
        #expect(checked > 20)
    }

    @Test func theOrderOfDeliveryChangesNoEpoch() throws {
        for seed in 200..<230 as Range<UInt64> {
            let world = try World(seed: seed)
            var random = SplitMix64(seed: seed)
            let order = world.all.statements.values.sorted { $0.id < $1.id }.shuffled(using: &random)
            let first = try world.club.state(of: Array(order.prefix(order.count / 2)))
            #expect(try first.adding(order) == world.all, "seed \(seed)")
        }
    }
}
