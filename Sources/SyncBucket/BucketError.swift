/// Why a bucket as a whole can't be used, and what to do about it.
///
/// What concerns one file of it is a `MailboxError`. No secret is part of a message.
public struct BucketError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// Nobody has said who the user is.
        case noCredentials
        /// The file, the command or the variables of the credentials can't be used.
        case invalidCredentials
        /// The provider doesn't know the key, or the secret is another one.
        case credentialsRefused
        /// The provider knows the user, and refuses the bucket.
        case accessDenied
        /// There is no bucket of the name.
        case noSuchBucket
        /// The bucket is in another region: ``BucketError/region``, when the provider says which.
        case wrongRegion
        /// The provider shows a certificate that nobody vouches for.
        case wrongCertificate
        /// The clock here and that of the provider are too far apart.
        case clockSkewed
        /// The provider sends requests elsewhere.
        case redirected
        /// The bucket, the prefix, the endpoint or the region is not one.
        case invalidAddress
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, beginning in lower case, with the bucket's name.
    public let message: String
    /// What to do about it; nil when the message says so.
    public let hint: String?
    /// The region that the bucket is in, for `wrongRegion`.
    public let region: String?
    /// Whether it may be over without anybody doing anything: a clock that is wrong when a machine starts is set soon.
    package let mayPass: Bool

    init(
        _ code: Code, _ message: String, hint: String? = nil, region: String? = nil, mayPass: Bool = false
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.region = region
        self.mayPass = mayPass
    }

    /// The message.
    public var description: String { message }
}
