/// What a provider of buckets knows a user by: the id of a key, and its secret.
///
/// Neither a description nor a mirror shows the secret or the token.
public struct BucketCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The id of the key, which travels with each request.
    let keyID: String
    /// The secret, which signs and is not sent.
    let secretKey: String
    /// The token of a session, which travels with each request; nil for lasting keys.
    let sessionToken: String?
    /// When they end, in milliseconds since 1970; nil when it isn't known.
    let expiryMilliseconds: Int64?

    /// Makes credentials.
    ///
    /// - parameters:
    ///     - keyID: The id of the key, as in `AWS_ACCESS_KEY_ID`.
    ///     - secretKey: The secret, as in `AWS_SECRET_ACCESS_KEY`.
    ///     - sessionToken: The token of a session, as in `AWS_SESSION_TOKEN`.
    ///     - expiryMilliseconds: When they end, in milliseconds since 1970.
    /// - throws: ``BucketError`` of code `invalidCredentials` for text that no header can hold.
    public init(
        keyID: String, secretKey: String, sessionToken: String? = nil, expiryMilliseconds: Int64? = nil
    ) throws {
        for text in [keyID, secretKey, sessionToken ?? "-"] {
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard !text.isEmpty, isVisible, text.utf8.count <= Self.byteCountMax else {
                throw BucketError(
                    .invalidCredentials,
                    "the credentials of the bucket are empty, too long, or have characters that none have")
            }
        }
        self.keyID = keyID
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiryMilliseconds = expiryMilliseconds
    }

    /// More than any provider's tokens have.
    private static let byteCountMax = 16 << 10

    /// What they are, and nothing of them.
    public var description: String { "BucketCredentials" }

    /// The same.
    public var debugDescription: String { description }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
