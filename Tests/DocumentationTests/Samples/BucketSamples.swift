import CipherStore
import Foundation
import SyncBucket
import SyncEngine
import TestSupport
import Testing

/// The code of the article about buckets.
@Suite(.enabled(if: S3Server.isInstalled, "the S3 server is not installed: run Scripts/setup --tests"))
struct BucketSamples {
    private let place: SamplePlace

    init() throws { place = try SamplePlace() }

    @Test func replicasMeetInABucket() async throws {
        let server = try S3Server()
        let environment = ["AWS_ACCESS_KEY_ID": server.keyID, "AWS_SECRET_ACCESS_KEY": server.secretKey]
        let endpoint = server.endpoint
        let synchronizer = try Synchronizer(place.notes(), tables: ["note"])
        let cost = ScryptCost.minimum
        // sample: bucket
        let address = try BucketAddress(bucket: "test", prefix: "notes", endpoint: endpoint)
        let mailbox = BucketMailbox(address, credentials: .usual(environment: environment))
        let transport = MailboxTransport(
            mailbox: mailbox, passphrase: try Passphrase("of the files in the bucket"), cost: cost)
        let report = try await synchronizer.sync(through: transport)
        for remark in report.remarks { print(remark) }
        // end
        #expect(report.remarks.isEmpty)
        let path = place.path("phone.db")
        // sample: bucket-joining
        try synchronizer.publishSnapshot(in: transport)
        // On the other device:
        try Synchronizer.join(transport, at: path, passphrase: Passphrase("battery staple"))
        // end
        #expect(FileManager.default.fileExists(atPath: path))
        // sample: bucket-costs
        let before = mailbox.requestCounts
        try await synchronizer.sync(through: transport)
        print(mailbox.requestCounts - before)
        // end
        #expect((mailbox.requestCounts - before).total <= 2)
    }
}
