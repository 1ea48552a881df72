import Foundation
import TestSupport
import Testing

@testable import SyncBucket

/// The examples that Amazon publishes ("Authenticating Requests: Using the Authorization Header"), and requests that
/// were signed by botocore 1.43.
@Suite(.anyEngine) struct RequestSignatureTests {
    private static let host = "examplebucket.s3.amazonaws.com"
    private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

    private func credentials(_ token: String? = nil) throws -> BucketCredentials {
        try BucketCredentials(keyID: "AKIAIOSFODNN7EXAMPLE", secretKey: Self.secret, sessionToken: token)
    }

    private func signature(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: String = ""
    ) -> RequestSignature {
        let digest = RequestSignature.digest(Data(body.utf8))
        let always = [
            ("host", Self.host), ("x-amz-content-sha256", digest), ("x-amz-date", "20130524T000000Z"),
        ]
        return RequestSignature(
            method: method, path: path, query: query,
            headers: headers + always.map { (name: $0.0, value: $0.1) },
            bodyDigest: digest, timestamp: "20130524T000000Z", region: "us-east-1")
    }

    @Test func aRangeOfAFile() throws {
        let request = signature("GET", "/test.txt", headers: [("Range", "bytes=0-9")])
        #expect(
            RequestSignature.digest(Data(request.canonicalRequest.utf8))
                == "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972")
        #expect(
            try request.authorization(credentials())
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func aFileWhoseNameIsEncoded() throws {
        let request = signature(
            "PUT", "/test$file.text",
            headers: [
                ("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            body: "Welcome to Amazon S3.")
        #expect(
            try request.signature(credentials())
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func aQueryWithoutAValue() throws {
        #expect(
            try signature("GET", "/", query: [("lifecycle", "")]).signature(credentials())
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func aListing() throws {
        let request = signature("GET", "/", query: [("prefix", "J"), ("max-keys", "2")])
        #expect(
            try request.signature(credentials())
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func theKeyOfADay() {
        let key = RequestSignature.key(
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", day: "20150830", region: "us-east-1", service: "iam")
        #expect(
            key.withUnsafeBytes { CanonicalText.hexadecimal($0) }
                == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9")
    }

    @Test func allThatCanBeOddInOne() throws {
        let request = RequestSignature(
            method: "GET", path: "/b.ucket/a b/ü+&~*'()!/x..y//z=",
            query: [("prefix", "a b/+=ü"), ("list-type", "2"), ("encoding-type", "url")],
            headers: [
                ("x-amz-security-token", "Token+/="), ("host", "storage.example.com:9000"),
                ("range", "  bytes=0-9 "),
                ("x-amz-date", "20261125T203000Z"), ("x-amz-content-sha256", RequestSignature.emptyDigest),
            ], bodyDigest: RequestSignature.emptyDigest, timestamp: "20261125T203000Z", region: "eu-central-1"
        )
        #expect(
            try request.signature(credentials("Token+/="))
                == "3e5be26f3603bab5baa188e938f0d315f40ac3ee30003eb02bdfa0367d09c8a2")
    }

    @Test func timesAreThoseOfTheCalendar() {
        #expect(CanonicalText.timestamp(0) == "19700101T000000Z")
        #expect(CanonicalText.timestamp(1_369_353_600_000) == "20130524T000000Z")
        #expect(CanonicalText.timestamp(951_827_696_789) == "20000229T123456Z")
        #expect(CanonicalText.timestamp(.max) == "99991231T235959Z")
        #expect(CanonicalText.timestamp(.min) == "19700101T000000Z")
        #expect(CanonicalText.milliseconds(ofHTTPDate: "Fri, 24 May 2013 00:00:00 GMT") == 1_369_353_600_000)
        #expect(CanonicalText.milliseconds(ofHTTPDate: "Tue, 29 Feb 2000 12:34:56 GMT") == 951_827_696_000)
        for text in ["", "yesterday", "Fri, 24 May 2013 00:00:00 CET", "Fri, 99 May 2013 00:00:00 GMT"] {
            #expect(CanonicalText.milliseconds(ofHTTPDate: text) == nil)
        }
        for day in stride(from: Int64(0), to: 2_000_000, by: 997) {
            let text = CanonicalText.timestamp(day * 86_400_000)
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            guard let month = Int(text.dropFirst(4).prefix(2)) else { continue }
            let date =
                "Fri, \(text.dropFirst(6).prefix(2)) \(months[month - 1]) \(text.prefix(4)) 00:00:00 GMT"
            #expect(CanonicalText.milliseconds(ofHTTPDate: date) == day * 86_400_000)
        }
    }

    @Test func encodedTextIsReadAsItWas() {
        for text in ["", "a b", "ü+&~*'()!/x..y//z=%", "\u{1F600}"] {
            let encoded = CanonicalText.encode(text)
            #expect(encoded.utf8.allSatisfy { $0 < 0x80 } && !encoded.contains("/"))
            #expect(CanonicalText.decode(encoded, plusIsSpace: false) == text)
        }
        #expect(CanonicalText.decode("a+b", plusIsSpace: true) == "a b")
        for text in ["%", "%4", "%zz", "%ff"] {
            #expect(CanonicalText.decode(text, plusIsSpace: false) == nil)
        }
    }
}

@Suite(.anyEngine) struct BucketAddressTests {
    private func request(_ address: BucketAddress) throws -> SignedRequest {
        let client = BucketClient(
            address, credentials: CredentialSource(try TestCredentials.usual), carrier: ScriptedCarrier([]),
            retry: RequestRetry(random: { 0 }), milliseconds: { 0 })
        var request = BucketRequest(kind: .get, method: "GET", key: address.keyPrefix + "0a/head")
        request.query = [("b", "2"), ("a", "1")]
        return client.sign(request, try TestCredentials.usual, now: 0)
    }

    @Test(
        arguments: [
            ("notes", "", nil, false, "https://notes.s3.us-east-1.amazonaws.com/0a/head?a=1&b=2"),
            (
                "notes", "a b/ü", nil, true,
                "https://s3.us-east-1.amazonaws.com/notes/a%20b/%C3%BC/0a/head?a=1&b=2"
            ),
            (
                "notes", "x/", "https://S3.example.com:9000/", false,
                "https://notes.s3.example.com:9000/x/0a/head?a=1&b=2"
            ),
            (
                "notes", "", "https://s3.example.com:443", false,
                "https://notes.s3.example.com/0a/head?a=1&b=2"
            ),
            // A certificate would not cover a name with dots, and an address has no names before it.
            (
                "my.notes", "", "https://s3.example.com", false,
                "https://s3.example.com/my.notes/0a/head?a=1&b=2"
            ),
            ("notes", "", "http://127.0.0.1:9000", false, "http://127.0.0.1:9000/notes/0a/head?a=1&b=2"),
            ("notes", "", "http://[::1]:9000", false, "http://[::1]:9000/notes/0a/head?a=1&b=2"),
            ("notes", "", "http://minio:9000", false, "http://minio:9000/notes/0a/head?a=1&b=2"),
            (
                "notes", "", "https://x.example/storage/v1/s3", true,
                "https://x.example/storage/v1/s3/notes/0a/head?a=1&b=2"
            ),
        ] as [(String, String, String?, Bool, String)])
    func requestsGoWhereTheProviderExpectsThem(
        bucket: String, prefix: String, endpoint: String?, isPathStyle: Bool, url: String
    ) throws {
        let address = try BucketAddress(
            bucket: bucket, prefix: prefix, endpoint: endpoint, isPathStyle: isPathStyle)
        let request = try request(address)
        #expect(request.url == url)
        let host = try #require(request.headers.first { $0.name == "host" }).value
        #expect(url.contains("://\(host)/"))
    }

    @Test(
        arguments: [
            ("", "", nil, "us-east-1"), ("a/b", "", nil, "us-east-1"), ("-a", "", nil, "us-east-1"),
            ("a", "/x", nil, "us-east-1"), ("a", "x//y", nil, "us-east-1"), ("a", "../x", nil, "us-east-1"),
            ("a", "x\n", nil, "us-east-1"), ("a", "", "ftp://x.example", "us-east-1"),
            ("a", "", "x.example", "us-east-1"),
            ("a", "", "https://user:pw@x.example", "us-east-1"),
            ("a", "", "https://x.example?a", "us-east-1"),
            ("a", "", "https://x.example:0", "us-east-1"), ("a", "", "https://", "us-east-1"),
            ("a", "", nil, "eu west"), ("a", "", nil, ""), ("a", "", nil, "x/../y"),
        ] as [(String, String, String?, String)])
    func whatIsNoAddressIsRefused(bucket: String, prefix: String, endpoint: String?, region: String) {
        let error = #expect(throws: BucketError.self) {
            try BucketAddress(bucket: bucket, prefix: prefix, endpoint: endpoint, region: region)
        }
        #expect(error?.code == .invalidAddress)
    }

    @Test(arguments: [
        "https://user:kestrel@s3.example.com", "http://kestrel@s3.example.com", "https://user:kes@trel@x",
        "https://user:kestrel?a#b@x.example", "https://s3.example.com?secret=kestrel",
        "https://s3.example.com#kestrel", "user:kestrel@x.example", "https://user:kestrel",
        "https:/user:kestrel", "https:user:kestrel", "https://user:/kestrel?x", "https://user:12/kestrel?x",
        "https://user:123456/kestrel?x", "user:kestrel://x.example", "https://https://user:kestrel?x",
    ]) func noMessageRepeatsAPasswordThatWasTypedIntoAnAddress(text: String) {
        let endpoint = #expect(throws: BucketError.self) {
            try BucketAddress(bucket: "notes", endpoint: text)
        }
        let name = #expect(throws: BucketError.self) { try BucketAddress(bucket: "ID:kestrel@notes") }
        for error in [endpoint, name] {
            #expect(error?.code == .invalidAddress)
            let words = "\(error?.message ?? "") \(error?.hint ?? "")"
            #expect(!words.contains("kes") && !words.contains("trel"), "\(words)")
        }
    }

    @Test func namesThatAmazonGivesAreTold() {
        for name in ["notes", "my.notes-2", "a1b"] {
            let isName = BucketAddress.isNameAtAmazon(name)
            #expect(isName, "\(name)")
        }
        for name in ["My_Bucket", "my_bucket", "Notes", "ab", "notes-", "notes."] {
            let isName = BucketAddress.isNameAtAmazon(name)
            #expect(!isName, "\(name)")
        }
    }
}
