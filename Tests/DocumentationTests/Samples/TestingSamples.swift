import CipherStore
import Foundation
import SyncEngine
import SyncTesting
import Testing

// The code of "Testing your tables".

// sample: simulated-app
private let noteIDs = (1...5).map { Data(repeating: UInt8($0), count: 16) }

private let app = SimulatedApp(tables: ["note"]) { database, _ in
    try noteMigrator().migrate(database)
} edit: { db, random, _ in
    guard let id = random.element(of: noteIDs) else { return "nothing" }
    switch random.number(below: 3) {
    case 0:
        try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'new')", arguments: [id])
        return "insert"
    case 1:
        let stars = random.number(below: 5)
        try db.execute(sql: "UPDATE note SET stars = ? WHERE id = ?", arguments: [stars, id])
        return "stars"
    default:
        try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id])
        return "delete"
    }
}
// end

// sample: simulation
@Test(arguments: 1...5) func devicesAgree(seed: UInt64) throws {
    let result = try Simulation(seed: seed, app: app, stepCount: 30).run()
    #expect(result.violation == nil, "\(result)")
}
// end

@Suite struct TestingSamples {
    @Test func aViolationIsShortened() throws {
        let simulation = Simulation(seed: 1, app: app, stepCount: 10)
        let result = try simulation.run()
        // sample: shrinking
        if result.violation != nil {
            print(try simulation.shrink(result))  // the same violation in fewer steps
        }
        // end
        #expect(result.violation == nil)
    }

    @Test func aMailboxHasFaults() async throws {
        let place = try SamplePlace()
        let notes = try place.notes()
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 0).insert($0) }
        let synchronizer = try Synchronizer(notes, tables: ["note"])
        // sample: mailbox
        let mailbox = MemoryMailbox(seed: 7)
        let transport = MailboxTransport(
            mailbox: mailbox, passphrase: try Passphrase("of the mailbox"), cost: .minimum)
        for _ in 1...20 {
            // It is late, full or out of reach now and then. What failed is tried again.
            _ = try? await synchronizer.sync(through: transport)
        }
        mailbox.endFaults()
        let report = try await synchronizer.sync(through: transport)
        // end
        #expect(report.replicas.count == 1)
    }
}
