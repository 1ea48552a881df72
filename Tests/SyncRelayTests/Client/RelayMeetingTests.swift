import TestSupport
import Testing

@testable import SyncTesting

/// Simulated stores that meet in a channel of a relay, which lies.
@Suite struct RelayMeetingTests {
    @Test(arguments: Campaign.seeds(4, nightly: 500))
    func whatUsersWroteIsThereWhateverTheRelayDoes(seed: UInt64) throws {
        DerivedKeys.remember()
        var simulation = Simulation(seed: seed, features: [.mailbox], stepCount: 40)
        simulation.meeting = { try MeetingRelay(seed: $0) }
        let result = try simulation.run()
        #expect(result.violation == nil, "\(result)")
    }
}
