import CipherStore
import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncBucket
@testable import SyncTesting

/// Replicas that meet in a bucket, and nowhere else.
@Suite(.s3Server) struct BucketReplicaTests {
    private func isOfPlace(_ error: any Error) -> Bool { (error as? MailboxError)?.code == .unreachable }

    @Test func twoReplicasAndANewOneMeet() throws {
        let server = try S3Server()
        let stores = try MailboxReplicas(2, seed: 1) { _ in try! server.mailbox(prefix: "notes") }
        try stores.insert(0, 1, "of the first")
        try stores.insert(1, 2, "of the second")
        #expect(try stores.settle() && stores.areEqual())
        try stores.all[0].synchronizer.publishSnapshot(in: stores.all[0].transport)
        try stores.insert(1, 3, "after the snapshot")
        #expect(try stores.settle())
        let path = stores.factory.folder + "/new.db"
        let transport = try MailboxReplicas.transport(server.mailbox(prefix: "notes"))
        try Synchronizer.join(
            transport, at: path, passphrase: stores.factory.secret(),
            environment: stores.clock.environment(of: 9))
        var configuration = Configuration()
        configuration.usePassphrase(try stores.factory.secret())
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let newcomer = try Synchronizer(existing: queue, environment: stores.clock.environment(of: 9))
        _ = try newcomer.run(.both, transport)
        let replica = MailboxReplicas.Replica(queue: queue, synchronizer: newcomer, transport: transport)
        #expect(try replica.rows() == stores.all[0].rows() && replica.rows().count == 3)
        #expect(try stores.sync(0).replicas.count == 3)
    }

    @Test func nothingOfTheStoreIsInTheBucket() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox(prefix: "notes")
        let stores = try MailboxReplicas(2, seed: 1) { _ in mailbox }
        try stores.insert(0, 1, "kestrel-4711")
        #expect(try stores.settle())
        try stores.all[0].synchronizer.publishSnapshot(in: stores.all[0].transport)
        var count = 0
        for folder in try mailbox.folders() {
            for file in try mailbox.files(in: folder) {
                let content = try mailbox.open(MailboxPath(folder: folder, name: file.name)).read(
                    upTo: 1 << 20)
                for word in ["kestrel-4711", "note", "title", "CREATE TABLE"] {
                    #expect(content.range(of: Data(word.utf8)) == nil, "\(file.name) has \(word)")
                }
                count += 1
            }
        }
        #expect(count >= 4)
    }

    /// Each request may fail in any way, and listings lag.
    @Test(arguments: Campaign.seeds(2, nightly: 40))
    func replicasConvergeWithNothingLostWhateverTheBucketDoes(seed: UInt64) throws {
        let server = try S3Server()
        let stores = try MailboxReplicas(3, seed: seed) { _ in
            try! server.mailbox(prefix: "notes", attempts: 2)
        }
        try server.failAtRandom(
            seed: seed, rate: 0.25, ["500", "503", "drop", "lost", "cut", "double", "lag", "lag", "lag"])
        var random = SimulationRandom(seed: seed, part: 7)
        var own: Set<String> = []
        for step in 0..<60 {
            let replica = random.number(below: stores.all.count)
            switch random.number(below: 5) {
            case 0:
                try stores.insert(replica, 100 + step, "own \(step)")
                own.insert("own \(step)")
            case 1: try stores.insert(replica, random.number(below: 12), "shared \(step)")
            default:
                do { try stores.sync(replica) } catch  where isOfPlace(error) {}
            }
        }
        #expect(try server.requests().contains { $0.fault != nil }, "seed \(seed): nothing failed")
        try server.fail()
        #expect(try stores.settle(), "seed \(seed): the exchange has no end")
        #expect(try stores.areEqual(), "seed \(seed)")
        let titles = try stores.all[0].rows().joined(separator: "\n")
        for title in own { #expect(titles.contains(title), "seed \(seed): \(title) is lost") }
    }

    @Test func aTaskThatIsCancelledWaitsForNoServer() async throws {
        let server = try S3Server()
        let stores = try MailboxReplicas(1, seed: 1) { _ in try! server.mailbox(prefix: "notes") }
        try stores.insert(0, 1, "first")
        try server.fail(.init("hang", count: 100))
        let replica = stores.all[0]
        let task = Task { try await replica.synchronizer.sync(through: replica.transport) }
        while try server.requests().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let begin = ContinuousClock.now
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(ContinuousClock.now - begin < .seconds(20))
        try server.release()
        try server.fail()
        #expect(try await replica.synchronizer.sync(through: replica.transport).pushed?.rowCount == 1)
    }
}
