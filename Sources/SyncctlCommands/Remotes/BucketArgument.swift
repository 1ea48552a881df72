import ArgumentParser
import Foundation
import SyncEngine

/// A bucket on the command line: `s3://bucket/prefix`. A store remembers it with its options, as a query.
package struct BucketArgument: Equatable, Sendable {
    package static let scheme = "s3://"

    /// The name of the bucket; empty when the argument names none.
    package var bucket: String
    /// What the names of files in it begin with; empty for the whole bucket.
    package var prefix: String
    /// The address of the provider; nil for what the environment or the profile says.
    package var endpoint: String?
    /// The region; nil for what the environment or the profile says.
    package var region: String?
    /// The profile that the credentials come from; nil for the usual ones.
    package var profile: String?
    /// Whether the bucket's name is always in the path of requests.
    package var isPathStyle = false

    /// Reads an argument; nil for one that is not spelled as a bucket.
    package init?(_ argument: String) {
        guard argument.hasPrefix(Self.scheme) else { return nil }
        let rest = argument.dropFirst(Self.scheme.count)
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = String(names[0])
        prefix = names.count > 1 ? String(names[1]) : ""
        while prefix.hasSuffix("/") { prefix.removeLast() }
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = item.split(separator: "=", maxSplits: 1).map {
                String($0).removingPercentEncoding ?? ""
            }
            let value = pair.count > 1 ? pair[1] : ""
            switch pair.first {
            case "endpoint": endpoint = value
            case "region": region = value
            case "profile": profile = value
            case "path-style": isPathStyle = true
            // What a later version remembers of it.
            default: break
            }
        }
    }

    /// How the store calls it: without the options, by which the same place may be reached in other ways.
    package var name: String { Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix) }

    /// How it is spelled with all of its options.
    package var location: String {
        let options = [
            endpoint.map { "endpoint=" + Self.encoded($0) }, region.map { "region=" + Self.encoded($0) },
            profile.map { "profile=" + Self.encoded($0) }, isPathStyle ? "path-style" : nil,
        ].compactMap { $0 }
        return name + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    /// The same bucket, with what an earlier argument said and this one does not: each option counts by itself.
    func completed(by earlier: BucketArgument) -> BucketArgument {
        var completed = self
        completed.endpoint = endpoint ?? earlier.endpoint
        completed.region = region ?? earlier.region
        completed.profile = profile ?? earlier.profile
        completed.isPathStyle = isPathStyle || earlier.isPathStyle
        return completed
    }

    private static func encoded(_ text: String) -> String {
        let kept = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/")
        return text.addingPercentEncoding(withAllowedCharacters: kept) ?? text
    }
}

/// The options that say how a bucket is reached. None of them is a secret.
package struct BucketOptions: ParsableArguments {
    @Option(
        name: .customLong("s3-endpoint"),
        help: ArgumentHelp(
            "The address of the bucket's provider (default: that of the environment or the profile, or Amazon's).",
            valueName: "url"))
    var endpoint: String?

    @Option(
        name: .customLong("s3-region"),
        help: ArgumentHelp(
            "The region of the bucket (default: that of the environment or the profile, or us-east-1).",
            valueName: "region"))
    var region: String?

    @Option(
        name: .customLong("s3-profile"),
        help: ArgumentHelp(
            "The profile of ~/.aws/credentials that the credentials come from (default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile default).",
            valueName: "name"))
    var profile: String?

    @Flag(
        name: .customLong("s3-path-style"),
        help: "Name the bucket in the path of requests, and not in their host.")
    var isPathStyle = false

    package init() {}

    /// What is said where they do not go with a remote.
    static let rule = "--s3-endpoint and its like go with a bucket: s3://<bucket>/<prefix>"

    /// Whether any of them was given.
    var isGiven: Bool { endpoint != nil || region != nil || profile != nil || isPathStyle }

    /// A remote with what was given; nothing changes in one that is no bucket.
    func applied(to argument: RemoteArgument) -> RemoteArgument {
        guard case .bucket(var bucket) = argument else { return argument }
        bucket.endpoint = endpoint ?? bucket.endpoint
        bucket.region = region ?? bucket.region
        bucket.profile = profile ?? bucket.profile
        bucket.isPathStyle = isPathStyle || bucket.isPathStyle
        return .bucket(bucket)
    }

    /// Throws when they do not go with a remote.
    func validate(with argument: RemoteArgument?) throws {
        if case .bucket(let bucket) = argument {
            guard !bucket.bucket.isEmpty else {
                throw ValidationError(
                    "\(BucketArgument.scheme) names no bucket: write s3://<bucket>/<prefix>")
            }
        } else if isGiven {
            throw ValidationError(Self.rule)
        }
    }
}

/// A bucket that is ready to be used.
package struct OpenedBucket {
    /// The bucket.
    package let mailbox: any Mailbox
    /// How many requests were sent so far, repetitions included.
    package let requestCount: () -> Int

    /// Makes one.
    package init(_ mailbox: any Mailbox, requestCount: @escaping () -> Int) {
        (self.mailbox, self.requestCount) = (mailbox, requestCount)
    }
}
