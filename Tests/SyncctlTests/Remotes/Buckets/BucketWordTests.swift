import CipherStore
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

/// What is found out of a bucket's address before anything is asked.
@Suite struct BucketAddressWordTests {
    @Test func aNameThatNoBucketOfAmazonHasIsRefusedWithoutAProvider() throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a")
        let words = [
            "sync", place.path("a.db"), "--passphrase-file", place.secret("a"), "--remote-passphrase-file",
            place.secret("c"), "--remote",
        ]
        // Nothing of the user's own names a provider.
        let variables = [
            "HOME": place.path("home"), "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "",
            "AWS_ENDPOINT_URL_S3": "", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "ID",
            "AWS_SECRET_ACCESS_KEY": "S",
        ]
        let result = try place.run(words + ["s3://My_Bucket/notes"], environment: variables)
        #expect(result.status == 64 && result.errors.contains("--s3-endpoint"), "\(result.errors)")
        let named = try place.run(
            words + ["s3://My_Bucket/notes", "--s3-endpoint", "http://127.0.0.1:1"], environment: variables)
        #expect(named.status == 13, "\(named.errors)")
        let typed = try place.run(
            words + ["s3://notes", "--s3-endpoint", "http://user:pewit@127.0.0.1:1"], environment: variables)
        #expect(typed.status == 64 && !typed.errors.contains("pewit"), "\(typed.errors)")
        let bucket = try place.run(words + ["s3://ID:pewit@bucket/notes"], environment: variables)
        #expect(bucket.status == 64 && !bucket.errors.contains("pewit"), "\(bucket.errors)")
    }

    /// Buckets of Amazon from before 2018 may have any name, and the region of most is the usual one.
    @Test func aBucketThatAStoreRemembersGoesOnWhateverItsName() throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a")
        let queue = try place.open("a.db", "a")
        let name = "s3://My_Bucket/notes"
        try queue.write { db in
            try db.execute(
                sql: "INSERT INTO _sync_setting (name, value) VALUES (?, ?)",
                arguments: ["remote \(name)", name])
        }
        try queue.close()
        let result = try place.run(
            [
                "sync", place.path("a.db"), "--passphrase-file", place.secret("a"),
                "--remote-passphrase-file", place.secret("c"),
            ],
            environment: [
                "HOME": place.path("home"), "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
                "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_PROFILE": "",
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
            ])
        // Without credentials nothing is asked at Amazon.
        #expect(result.errors.contains("there are no credentials for the bucket"), "\(result.errors)")
    }
}
