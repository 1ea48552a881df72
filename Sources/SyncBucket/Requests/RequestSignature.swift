import Crypto
import Foundation

/// The signature of a request: Amazon's version 4, with HMAC and SHA-256.
///
/// All headers that are given are signed, so that nobody on the way can add one that matters.
struct RequestSignature {
    /// The method: `GET`.
    var method: String
    /// The path, not encoded.
    var path: String
    /// The query, not encoded.
    var query: [(name: String, value: String)]
    /// The headers, `host` and `x-amz-date` among them.
    var headers: [(name: String, value: String)]
    /// The SHA-256 of the body, in hexadecimal digits.
    var bodyDigest: String
    /// When it is signed: `20130524T000000Z`.
    var timestamp: String
    /// Where the bucket is: `us-east-1`.
    var region: String
    /// Whose signature it is for.
    var service = "s3"

    private static let algorithm = "AWS4-HMAC-SHA256"
    /// The SHA-256 of nothing.
    static let emptyDigest = digest(Data())

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func digest(_ data: Data) -> String { CanonicalText.hexadecimal(SHA256.hash(data: data)) }

    /// The headers with names in lower case, in their order; values of one name are one value.
    private var canonicalHeaders: [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for header in headers {
            let words = header.value.split(whereSeparator: { $0 == " " || $0 == "\t" })
            values[header.name.lowercased(), default: []].append(words.joined(separator: " "))
        }
        return values.map { ($0.key, $0.value.joined(separator: ",")) }.sorted { $0.0 < $1.0 }
    }

    /// The names of the headers that are signed.
    private var signedNames: String { canonicalHeaders.map(\.name).joined(separator: ";") }

    /// The request in the form of which the signature is made.
    var canonicalRequest: String {
        let lines = canonicalHeaders.map { "\($0.name):\($0.value)\n" }.joined()
        return [
            method, CanonicalText.encode(path, keepsSlashes: true), CanonicalText.query(query), lines,
            signedNames,
            bodyDigest,
        ].joined(separator: "\n")
    }

    /// For which day, region and service a key is good.
    private var scope: String { "\(timestamp.prefix(8))/\(region)/\(service)/aws4_request" }

    /// What is signed.
    var text: String {
        [Self.algorithm, timestamp, scope, Self.digest(Data(canonicalRequest.utf8))].joined(separator: "\n")
    }

    /// The key of a day, a region and a service.
    static func key(_ secret: String, day: String, region: String, service: String) -> SymmetricKey {
        var key = SymmetricKey(data: Data("AWS4\(secret)".utf8))
        for part in [day, region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return key
    }

    /// The signature, in hexadecimal digits.
    func signature(_ credentials: BucketCredentials) -> String {
        let key = Self.key(
            credentials.secretKey, day: String(timestamp.prefix(8)), region: region, service: service)
        return CanonicalText.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    /// The value of the header `Authorization`.
    func authorization(_ credentials: BucketCredentials) -> String {
        "\(Self.algorithm) Credential=\(credentials.keyID)/\(scope),SignedHeaders=\(signedNames),"
            + "Signature=\(signature(credentials))"
    }
}
