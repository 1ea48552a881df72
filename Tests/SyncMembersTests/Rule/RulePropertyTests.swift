import SyncMembers
import SyncWire
import TestSupport
import Testing

/// Random histories, in which devices say things without knowing of each other, and some of them lie.
@Suite(.anyEngine) struct RulePropertyTests {
    @Test func theStateDoesNotDependOnTheOrderOfDelivery() throws {
        var voided = 0
        for seed in 0..<220 as Range<UInt64> {
            let history = try RandomHistory(seed: seed, count: 12 + Int(seed % 4) * 7)
            let expected = try history.club.state(of: history.all)
            var random = SplitMix64(seed: seed)
            for _ in 0..<3 {
                let order = history.all.shuffled(using: &random)
                // A part first, then the rest with some of the part once more.
                let cut = random.below(order.count + 1)
                let first = try history.club.state(of: Array(order[..<cut]))
                let rest = try first.adding(order[cut...]).adding(order[..<(cut / 2)])
                #expect(rest == expected, "seed \(seed)")
                #expect(try rest.adding([SignedStatement]()) == expected, "seed \(seed)")
            }
            for reason in expected.uncounted.values {
                switch reason {
                case .issuerRemoved, .authorityLost, .otherRecovery: voided += 1
                default: break
                }
            }
        }
        // The histories are such that much is taken back.
        #expect(voided > 200)
    }

    @Test func theStateIsThatOfTheRuleAsItIsWritten() throws {
        for seed in 1000..<1100 as Range<UInt64> {
            let history = try RandomHistory(seed: seed, count: 12 + Int(seed % 5) * 6)
            let state = try history.club.state(of: history.all)
            let rule = PlainRule(history.all, founding: history.club.found.id)
            let whole = rule.whole
            for statement in history.all {
                let isCounted = state.uncounted[statement.id] == nil
                #expect(isCounted == rule.counts(statement.id, whole), "seed \(seed), \(statement)")
            }
            for (id, member) in state.members {
                #expect(member.role == rule.role(id, whole), "seed \(seed), member \(id)")
            }
            for (id, device) in state.devices {
                #expect(device.isActive == rule.isActive(id, whole), "seed \(seed), device \(id)")
                #expect(device.member == rule.home(id, whole), "seed \(seed), device \(id)")
            }
        }
    }

    @Test func aStateHoldsWhatItsPartsSay() throws {
        for seed in 2000..<2060 as Range<UInt64> {
            let history = try RandomHistory(seed: seed, count: 30)
            let state = try history.club.state(of: history.all)
            #expect(state.waiting.isEmpty && state.missing.isEmpty)
            for (id, replica) in state.replicas {
                #expect(state.devices[replica.device]?.member == replica.member)
                #expect(state.mayWrite(id, replica.lastSequence) == (replica.lastSequence > 0))
                // Who takes part and may write, writes without end.
                if let role = state.role(of: replica.device), role >= .writer {
                    #expect(replica.lastSequence == .max, "seed \(seed)")
                } else {
                    #expect(replica.lastSequence < 10, "seed \(seed)")
                }
            }
            for device in state.devices.values where device.isActive {
                #expect(state.members[device.member]?.role != nil)
                #expect(device.removedBy.isEmpty)
            }
        }
    }
}
