import Foundation
import Synchronization

/// Where credentials come from. They are looked for when the first request needs them, and again before they end.
public final class CredentialSource: Sendable {
    /// Credentials are renewed so long before they end.
    private static let marginMilliseconds: Int64 = 5 * 60 * 1000

    private struct Known {
        let credentials: BucketCredentials
        /// When they are looked for again, in milliseconds since 1970; nil when they have no end.
        let renewalMilliseconds: Int64?
    }

    private let known = Mutex<Known?>(nil)
    private let find: @Sendable (_ check: () throws -> Void) throws -> BucketCredentials

    private init(_ find: @escaping @Sendable (_ check: () throws -> Void) throws -> BucketCredentials) {
        self.find = find
    }

    /// These credentials.
    public convenience init(_ credentials: BucketCredentials) { self.init { _ in credentials } }

    /// What a command prints: the document of `credential_process` of Amazon's programs.
    ///
    /// - parameter line: The command and its arguments; quotes group words. No shell is involved.
    public static func command(_ line: String) -> CredentialSource {
        CredentialSource { try CredentialCommand(line: line).run(check: $0) }
    }

    /// What other programs for buckets would take: the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
    /// `AWS_SESSION_TOKEN`; or else a profile of `~/.aws/credentials` and `~/.aws/config`, which may name a command.
    ///
    /// - parameters:
    ///     - environment: The variables of the process. A command of the profile gets these and no others, so leave out
    ///       what it should not see.
    ///     - profile: The profile. When it is named, the variables do not count. nil for `AWS_PROFILE`, or `default`.
    public static func usual(environment: [String: String], profile: String? = nil) -> CredentialSource {
        CredentialSource { check in
            if profile == nil, let credentials = try variables(environment) { return credentials }
            let profiles = try ProfileFiles(environment: environment, profile: profile)
            if let credentials = try profiles.credentials() { return credentials }
            if let line = profiles.command {
                return try CredentialCommand(line: line, environment: environment, profile: profiles.name)
                    .run(check: check)
            }
            guard profile == nil else {
                throw BucketError(
                    .noCredentials, "the profile \(profiles.name) names no credentials",
                    hint: "it has aws_access_key_id and aws_secret_access_key, or credential_process")
            }
            throw BucketError(
                .noCredentials, "there are no credentials for the bucket",
                hint: """
                    set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials and name the \
                    profile with --s3-profile
                    """)
        }
    }

    private static func variables(_ environment: [String: String]) throws -> BucketCredentials? {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        switch (value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY")) {
        case (let id?, let secret?):
            return try BucketCredentials(
                keyID: id, secretKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
        case (nil, nil): return nil
        case (nil, _):
            throw BucketError(
                .noCredentials, "AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not", hint: "set both"
            )
        case (_, nil):
            throw BucketError(
                .noCredentials, "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not", hint: "set both"
            )
        }
    }

    /// The credentials that are good now.
    ///
    /// - throws: ``BucketError``; what `check` throws.
    func current(now: Int64, check: () throws -> Void) throws -> BucketCredentials {
        let former = known.withLock { $0 }
        if let former {
            guard let renewal = former.renewalMilliseconds, renewal <= now else { return former.credentials }
        }
        let credentials: BucketCredentials
        do {
            // Two threads may look at once, and find the same.
            credentials = try findGood(now: now, check)
        } catch let error as BucketError {
            // The former ones are good until their end, and another look may find others before that.
            guard let former, let expiry = former.credentials.expiryMilliseconds, expiry > now else {
                throw error
            }
            credentials = former.credentials
        }
        let renewal = credentials.expiryMilliseconds.map { Self.renewal(before: $0, now: now) }
        known.withLock { $0 = Known(credentials: credentials, renewalMilliseconds: renewal) }
        return credentials
    }

    private func findGood(now: Int64, _ check: () throws -> Void) throws -> BucketCredentials {
        let credentials = try find(check)
        if let expiry = credentials.expiryMilliseconds, expiry <= now {
            throw BucketError(
                .invalidCredentials, "the credentials for the bucket have ended",
                hint: "sign in anew with the program that they come from")
        }
        return credentials
    }

    /// When credentials are looked for again. Many commands give the same ones until shortly before their end: in the last
    /// minutes they are asked again after half of what is left, and not for each request.
    private static func renewal(before expiry: Int64, now: Int64) -> Int64 {
        let rest = expiry - now
        return rest > marginMilliseconds ? expiry - marginMilliseconds : now + rest / 2
    }

    /// Looks for others the next time.
    func forget() { known.withLock { $0 = nil } }
}
