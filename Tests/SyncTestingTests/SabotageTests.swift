import Testing

@testable import SyncTesting

/// The simulator finds out when the engine is broken on purpose.
@Suite struct SabotageTests {
    /// - parameter seed: Where to begin: not every run has what a sabotage shows in.
    private func firstViolation(_ sabotage: Sabotage, from seed: UInt64 = 1) throws -> SimulationViolation? {
        for seed in seed..<seed + 10 {
            var simulation = Simulation(seed: seed, stepCount: 40)
            simulation.sabotage = sabotage
            if let violation = try simulation.run().violation { return violation }
        }
        return nil
    }

    @Test func aLostRowIsFound() throws {
        #expect(try firstViolation(.losesRow, from: 2)?.rule == .shownRows)
    }

    @Test func aMergeThatPrefersOlderValuesIsFound() throws {
        #expect(try firstViolation(.prefersOlderValue, from: 2)?.rule == .shownRows)
    }

    @Test func updatesThatAreNotCapturedAreFound() throws {
        #expect(try firstViolation(.missesUpdates)?.rule == .capture)
    }

    @Test func valuesThatAreInNoJournalAreFound() throws {
        #expect(try firstViolation(.forgetsConflicts, from: 8)?.rule == .lostValue)
    }

    @Test func aVectorThatMovesOnWithoutChangesIsFound() throws {
        #expect(try firstViolation(.skipsBundle) != nil)
    }

    /// Files that see no place, and are copied, are told apart by their chains alone when they
    /// wrote the same number of changes. Where nothing is copied, nobody needs the chains.
    @Test func copiesThatLookTheSameAreFound() throws {
        func firstViolation(_ seeds: ClosedRange<UInt64>, _ features: Set<SimulationFeature>) throws
            -> SimulationViolation?
        {
            for seed in seeds {
                var simulation = Simulation(seed: seed, features: features, stepCount: 30)
                simulation.sabotage = .forgesChains
                if let violation = try simulation.run().violation { return violation }
            }
            return nil
        }
        #expect(try firstViolation(1...40, [.copies]) != nil)
        #expect(try firstViolation(1...3, []) == nil)
    }

    @Test func aRunIsReplayedByItsSeed() throws {
        let first = try Simulation(seed: 5, stepCount: 40).run()
        let second = try Simulation(seed: 5, stepCount: 40).run()
        #expect(first.trace == second.trace)
        #expect(first.trace.count > 30)
    }

    @Test func aFailureIsShortened() throws {
        var simulation = Simulation(seed: 1, features: [.network, .clones], stepCount: 40)
        simulation.sabotage = .losesRow
        let result = try simulation.run()
        #expect(result.violation != nil)
        let shorter = try simulation.shrink(result)
        #expect(shorter.violation?.rule == result.violation?.rule)
        #expect(shorter.stepsTaken.count < result.stepsTaken.count)
        #expect(shorter.stepsTaken.count <= 4)
    }
}
