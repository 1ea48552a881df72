import TestSupport
import Testing

@testable import SyncTesting

@Suite struct SimulationTests {
    @Test(arguments: Campaign.seeds(20, nightly: 200))
    func stableFeaturesHoldWhateverHappens(seed: UInt64) throws {
        let result = try Simulation(seed: seed, stepCount: 16).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// SQLite wrote a committed transaction so that nobody else could read it, nor what followed: it was larger than the
    /// cache, and partly rolled back (`SpilledTransactionTests`).
    @Test func aCopyOfAFileHasWhatWasCommitted() throws {
        var simulation = Simulation(seed: 831, stepCount: 40)
        simulation.steps = [5, 8, 14, 21, 23, 37]
        let result = try simulation.run()
        #expect(result.violation == nil, "\(result)")
    }

    /// The model expected other clocks and entries of files that got another identity, and of clocks that were behind.
    @Test(arguments: [
        (31109, [17, 18, 21, 30, 38, 43, 47, 56]), (31189, [1, 2, 12, 16, 18, 19, 22]),
        (31259, [13, 18, 32, 34, 35, 40, 49, 50]),
    ]) func clocksFollowWhatStoresSay(seed: Int, steps: [Int]) throws {
        var simulation = Simulation(seed: UInt64(seed), stepCount: 60)
        simulation.steps = steps
        let result = try simulation.run()
        #expect(result.violation == nil, "\(result)")
    }

    /// Some tables only are exchanged over some links, and others from some moment on.
    @Test(arguments: Campaign.seeds(10, nightly: 100)) func scopesHoldWhateverIsChosen(seed: UInt64) throws {
        let features = SimulationFeature.stable.subtracting(SimulationFeature.apartFromScopes)
        let result = try Simulation(seed: 1000 + seed, features: features, stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// Some rows only are held by some, and others from some moment on.
    @Test func rowScopesHoldWhateverIsChosen() throws {
        let features = SimulationFeature.stable.subtracting(SimulationFeature.apartFromScopes)
        for seed in Campaign.seeds(3, nightly: 100) {
            let result = try Simulation(
                seed: 2000 + seed, features: features.subtracting([.scopes]), stepCount: 25
            ).run()
            #expect(result.violation == nil, "\(result)")
        }
    }

    /// What is counted in copies of files, and in files that are put back, counts once.
    @Test func countersHoldWhateverIsCopied() throws {
        for seed in Campaign.seeds(5, nightly: 100) {
            let result = try Simulation(
                seed: seed, features: [.counters, .copies, .restores, .clones], stepCount: 20
            ).run()
            #expect(result.violation == nil, "\(result)")
        }
    }

    /// Each feature has its share of the runs, though some leave others out.
    @Test func noFeatureIsLeftOutByAnother() throws {
        let factory = try StoreFactory(in: Simulation.defaultFolder)
        defer { factory.remove() }
        var counts: [SimulationFeature: Int] = [:]
        for seed in 1...200 as ClosedRange<UInt64> {
            for feature in SimulationRun(Simulation(seed: seed), factory).features {
                counts[feature, default: 0] += 1
            }
        }
        for feature in SimulationFeature.stable {
            #expect(counts[feature] ?? 0 >= 40, "\(feature) is in \(counts[feature] ?? 0) of 200 runs")
        }
    }
}
