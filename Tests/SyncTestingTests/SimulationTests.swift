import SyncTesting
import Testing

@Suite struct SimulationTests {
    @Test(arguments: 0..<8) func stableFeaturesHoldWhateverHappens(part: UInt64) throws {
        for seed in 1...25 {
            let result = try Simulation(seed: part * 25 + UInt64(seed), stepCount: 20).run()
            #expect(result.violation == nil, "\(result)")
        }
    }
}
