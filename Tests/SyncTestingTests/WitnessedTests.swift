import TestSupport
import Testing

@testable import SyncTesting

/// Scopes beside all other faults, held to what users see.
@Suite struct WitnessedTests {
    @Test(arguments: Campaign.seeds(16, nightly: 2000))
    func whatUsersWroteIsThereWhateverHappens(seed: UInt64) throws {
        let result = try Simulation(seed: seed, features: [.witnessed], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// In it a store takes over what three retired replicas wrote, one after another in one session.
    @Test func severalRetiredReplicasAreTakenOverInOneSession() throws {
        let result = try Simulation(seed: 1121, features: [.witnessed], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    @Test func aRunIsReplayedByItsSeed() throws {
        let simulation = Simulation(seed: 2, features: [.witnessed], stepCount: 20)
        let first = try simulation.run()
        #expect(try simulation.run().trace == first.trace)
        #expect(first.trace.count > 20)
    }

    @Test(arguments: [
        (Sabotage.losesRow, [SimulationViolation.Rule.convergence, .lostValue]),
        (.forgetsConflicts, [.lostValue]),
    ])
    func whatIsLostIsFound(_ sabotage: Sabotage, rules: [SimulationViolation.Rule]) throws {
        var simulation = Simulation(seed: 1, features: [.witnessed, .scopes], stepCount: 40)
        simulation.sabotage = sabotage
        for seed in 1...20 as ClosedRange<UInt64> {
            simulation.seed = seed
            guard let violation = try simulation.run().violation else { continue }
            #expect(rules.contains(violation.rule), "\(violation)")
            return
        }
        Issue.record("nothing was found")
    }

    // MARK: The witness

    private let cell = WitnessedCell(table: "note", key: "01", column: "title")

    @Test func aValueIsLostUnlessItIsShownKeptOrReplaced() {
        var history = WitnessedHistory()
        let (one, two) = (history.newValue(), history.newValue())
        var draft = WitnessedHistory.Draft()
        WitnessedHistory.write(one, to: cell, over: nil, in: &draft)
        #expect(history.lostValue(visible: [], journal: []) == nil, "it is not committed")
        history.commit(draft)
        history.see([one], in: 0)
        #expect(history.lostValue(visible: [], journal: [])?.value == one)
        #expect(history.lostValue(visible: [one], journal: []) == nil)
        #expect(history.lostValue(visible: [], journal: [one]) == nil)
        draft = WitnessedHistory.Draft()
        WitnessedHistory.write(two, to: cell, over: one, in: &draft)
        history.commit(draft)
        #expect(history.lostValue(visible: [two], journal: []) == nil)
        #expect(history.lostValue(visible: [one], journal: [])?.value == two)
        draft = WitnessedHistory.Draft()
        WitnessedHistory.delete([two], in: &draft)
        history.commit(draft)
        #expect(history.lostValue(visible: [], journal: []) == nil)
    }

    @Test func whatOnlyAFileHadThatIsGoneIsNobodysFault() {
        var history = WitnessedHistory()
        let (one, two) = (history.newValue(), history.newValue())
        var draft = WitnessedHistory.Draft()
        WitnessedHistory.write(one, to: cell, over: nil, in: &draft)
        WitnessedHistory.write(two, to: cell, over: nil, in: &draft)
        history.commit(draft)
        history.see([one, two], in: 0)
        history.see([two], in: 1)
        history.abandon(0)
        #expect(history.lostValue(visible: [two], journal: []) == nil)
        #expect(history.lostValue(visible: [], journal: [])?.value == two)
        // Another file has it no longer, and was not put back: that is a loss.
        history.see([], in: 1)
        #expect(history.lostValue(visible: [], journal: [])?.value == two)
    }
}
