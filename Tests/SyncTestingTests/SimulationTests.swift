import SyncTesting
import Testing

@Suite struct SimulationTests {
    @Test(arguments: 0..<8) func stableFeaturesHoldWhateverHappens(part: UInt64) throws {
        for seed in 1...25 {
            let result = try Simulation(seed: part * 25 + UInt64(seed), stepCount: 20).run()
            #expect(result.violation == nil, "\(result)")
        }
    }

    /// Some tables only are exchanged over some links, and others from some moment on.
    @Test(arguments: 0..<2) func scopesHoldWhateverIsChosen(part: UInt64) throws {
        let features = SimulationFeature.stable.union([.scopes])
        for seed in 1...8 {
            let result = try Simulation(
                seed: 1000 + part * 8 + UInt64(seed), features: features, stepCount: 40
            ).run()
            #expect(result.violation == nil, "\(result)")
        }
    }
}
