import TestSupport
import Testing

@testable import SyncTesting

/// Honest replicas go on whatever a device says that one of them admitted.
@Suite struct HostileDeviceTests {
    @Test(arguments: Campaign.seeds(16, nightly: 1000))
    func honestReplicasGoOnWhateverADeviceSays(seed: UInt64) throws {
        let result = try Simulation(seed: seed, features: [.hostileDevice], stepCount: 14).run()
        #expect(result.violation == nil, "\(result)")
    }

    @Test func aRunIsReplayedByItsSeed() throws {
        let simulation = Simulation(seed: 3, features: [.hostileDevice], stepCount: 8)
        let first = try simulation.run()
        #expect(try simulation.run().trace == first.trace)
        #expect(first.trace.count > 8)
    }

    @Test func eachKindOfDeviceHasItsShare() throws {
        let all = Set(HostileDevice.Entry.allCases.map(\.rawValue))
        var kinds: Set<String> = []
        for seed in 1...20 as ClosedRange<UInt64> where kinds != all {
            let result = try Simulation(seed: seed, features: [.hostileDevice], stepCount: 1).run()
            kinds.formUnion(
                all.filter { kind in result.trace.contains { $0.hasSuffix("the entry '\(kind)'") } })
        }
        #expect(kinds == all)
    }

    @Test func aRefusalThatLeavesATraceIsFound() throws {
        var simulation = Simulation(seed: 1, features: [.hostileDevice], stepCount: 14)
        simulation.sabotage = .losesRow
        for seed in 1...10 as ClosedRange<UInt64> {
            simulation.seed = seed
            let result = try simulation.run()
            guard let violation = result.violation else { continue }
            #expect(violation.rule == .atomicity)
            let shorter = try simulation.shrink(result)
            #expect(shorter.violation?.rule == .atomicity && shorter.stepsTaken.count <= 2)
            return
        }
        Issue.record("nothing was found")
    }
}
