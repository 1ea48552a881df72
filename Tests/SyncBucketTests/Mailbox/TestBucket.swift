import Foundation
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import SyncBucket

extension S3Server {
    /// A mailbox in the bucket `test`, under a prefix of its own unless one is given.
    func mailbox(
        prefix: String = UUID().uuidString, bucket: String = "test", cacheFolder: String? = nil,
        attempts: Int = 6, credentials: BucketCredentials? = nil,
        environment: SyncEnvironment = .system, check: @escaping @Sendable () throws -> Void = {}
    ) throws -> BucketMailbox {
        var options = BucketMailbox.Options()
        options.cacheFolder = cacheFolder
        options.check = check
        options.environment = environment
        let address = try BucketAddress(bucket: bucket, prefix: prefix, endpoint: endpoint)
        let credentials = try credentials ?? BucketCredentials(keyID: keyID, secretKey: secretKey)
        // Pauses that nobody waits for.
        var retry = RequestRetry(sleep: { _, check in try check() }, random: environment.random)
        retry.attemptCountMax = attempts
        return BucketMailbox(
            address, CredentialSource(credentials),
            HTTPCarrier(connectSeconds: 10, silenceSeconds: 30, trustRootsFile: nil), retry, options)
    }

    /// One server for all tests that let nothing go wrong.
    static let shared = SharedServer()
}

/// The server that tests share. It ends with the process.
final class SharedServer: Sendable {
    // A server is a process, and what is asked of it here is not changed.
    private let server = Mutex<S3Server?>(nil)

    /// Does something with the server, which is started when it is needed.
    func mailbox(prefix: String = UUID().uuidString, credentials: BucketCredentials? = nil) throws
        -> BucketMailbox
    {
        try server.withLock { server in
            let known = try server ?? S3Server()
            server = known
            return try known.mailbox(prefix: prefix, credentials: credentials)
        }
    }

    /// The key of a session.
    func sessionCredentials() throws -> BucketCredentials {
        try server.withLock { server in
            let known = try server ?? S3Server()
            server = known
            return try BucketCredentials(
                keyID: known.session.keyID, secretKey: known.session.secretKey,
                sessionToken: known.session.token)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that need the S3 server.
    static var s3Server: Self {
        .enabled(if: S3Server.isInstalled, "the S3 server is not installed: run Scripts/setup --tests")
    }
}
