import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncTesting

/// Replicas that meet in a mailbox, which lies, while members come and go.
@Suite struct MeetingTests {
    init() { DerivedKeys.remember() }

    @Test(arguments: Campaign.seeds(5, nightly: 1000))
    func whatUsersWroteIsThereWhateverTheMailboxDoes(seed: UInt64) throws {
        let result = try Simulation(seed: seed, features: [.mailbox], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// In it deletions were forgotten that the bundles in the mailbox do not know, after it had lost some.
    @Test func bundlesAreWrittenAgainAfterDeletionsWereForgotten() throws {
        let result = try Simulation(seed: 5, features: [.mailbox], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// In these, files are copied and put back that go on under one identity until nobody uses it any more.
    @Test(arguments: [425, 1134, 1240] as [UInt64])
    func nobodyTakesAnotherIdentityForEver(seed: UInt64) throws {
        let result = try Simulation(seed: seed, features: [.mailbox], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    /// In it, a store that wrote nothing yet tells of deletions that were forgotten.
    @Test func whatAForgottenDeletionTakesAlongIsInTheJournal() throws {
        let result = try Simulation(seed: 10_345, features: [.mailbox], stepCount: 40).run()
        #expect(result.violation == nil, "\(result)")
    }

    @Test func aRunWithoutMembersIsReplayedByItsSeed() throws {
        let simulation = Simulation(
            seed: 3, features: [.mailbox, .network, .crashes, .lyingPlaces], stepCount: 20)
        let first = try simulation.run()
        #expect(try simulation.run().trace == first.trace)
        #expect(first.trace.count > 20)
    }

    /// The first run that finds it is known; what is random in it may put that off.
    @Test(arguments: [
        (Sabotage.losesRow, [SimulationViolation.Rule.convergence, .lostValue], 1 as UInt64),
        (.forgetsConflicts, [.lostValue], 1),
        (.tellsRemoved, [.secrecy], 20),
    ])
    func whatIsWrongIsFound(
        _ sabotage: Sabotage, rules: [SimulationViolation.Rule], first: UInt64
    ) throws {
        var simulation = Simulation(seed: 1, features: [.mailbox], stepCount: 40)
        simulation.sabotage = sabotage
        for seed in first..<first + 60 {
            simulation.seed = seed
            guard let violation = try simulation.run().violation else { continue }
            #expect(rules.contains(violation.rule), "\(violation)")
            return
        }
        Issue.record("nothing was found")
    }

    // MARK: The mailbox

    private let file = MailboxPath(folder: "0a", name: "head")

    private func write(_ mailbox: MemoryMailbox, _ byte: UInt8) throws {
        try mailbox.write(file, replacing: true) { try $0(Data([byte])) }
    }

    @Test func aMailboxGoesBackForAll() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        try write(mailbox, 1)
        let moment = mailbox.moment
        try write(mailbox, 2)
        #expect(mailbox.formerContents(of: file) == [Data([1])])
        mailbox.goBack(to: moment)
        #expect(mailbox.content(of: file) == Data([1]))
        #expect(try mailbox.seen(from: 3).open(file).read(upTo: 8) == Data([1]))
        mailbox.goBack(to: 0)
        #expect(mailbox.paths.isEmpty)
    }

    @Test func aProcessDiesOnceAndWhatItDoesThenReachesNobody() throws {
        let path = NSTemporaryDirectory() + "mortal-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([7]).write(to: URL(fileURLWithPath: path))
        let inner = MemoryMailbox(seed: 1, faults: [])
        let life = ProcessLife(path: path)
        let mailbox = MortalMailbox(inner: inner, life: life)
        life.end(after: 2)
        _ = try mailbox.folders()
        // It dies when the bytes were given, and the file was not.
        #expect(throws: InjectedFault.self) { try mailbox.write(file, replacing: true) { try $0(Data([1])) } }
        #expect(throws: InjectedFault.self) { _ = try mailbox.folders() }
        #expect(throws: InjectedFault.self) { try mailbox.remove(file) }
        #expect(inner.paths.isEmpty)
        #expect(try life.begin() == StoreFiles(path: path))
        #expect(life.begin() == nil)
        try mailbox.write(file, replacing: true) { try $0(Data([1])) }
        #expect(inner.content(of: file) == Data([1]))
    }
}
