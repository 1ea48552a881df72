import TestSupport
import Testing

/// What is said of a bucket that was named wrongly.
@Suite(.enabled(if: S3Server.isInstalled, "the S3 server is not installed: run Scripts/setup --tests"))
struct BucketWordTests {
    @Test func whoJoinsWhereNothingLiesIsToldTheName() throws {
        let bucket = try BucketPlace()
        let result = try bucket.run([
            "init", bucket.place.path("c.db"), "--join", "s3://test/nothing", "--s3-endpoint",
            bucket.server.endpoint, "--passphrase-file", bucket.place.secret("a"),
            "--remote-passphrase-file", bucket.place.secret("c"),
        ])
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("s3://test/nothing holds no files of replicas"), "\(result.errors)")
        #expect(result.errors.contains("compare the name of the bucket"), "\(result.errors)")
    }
}
