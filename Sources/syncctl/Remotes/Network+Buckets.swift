import Foundation
import SyncBucket
import SyncEngine
import SyncctlCommands

extension Network {
    func bucket(_ argument: BucketArgument, store: String, isKnown: () throws -> Bool) throws -> OpenedBucket
    {
        // A command of a profile gets them, and has no use for passphrases.
        let environment = PassphraseEnvironment.forChildren()
        func variable(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0].flatMap { $0.isEmpty ? nil : $0 } }.first
        }
        // Files that nobody needs are not read: what was said goes first, then the variables, then the profile.
        lazy var profile = Result { try ProfileFiles(environment: environment, profile: argument.profile) }
        let region =
            try argument.region ?? variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? profile.get().region
        let endpoint =
            try argument.endpoint ?? variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
            ?? profile.get().endpoint
        let address = try BucketAddress(
            bucket: argument.bucket, prefix: argument.prefix, endpoint: endpoint,
            region: region ?? BucketAddress.defaultRegion, isPathStyle: argument.isPathStyle)
        // It would be looked for at Amazon, whose host can't be found then, and that looks as if it would pass. What was typed
        // is repeated only behind the address, which refuses a password.
        guard
            try endpoint != nil || region != nil || BucketAddress.isNameAtAmazon(argument.bucket) || isKnown()
        else {
            throw Failure.usage(
                "\(PrintableText.escaped(argument.name)): no bucket of Amazon has this name, and no other provider is named",
                hints: [
                    "look at the name, or name the provider: --s3-endpoint <url>",
                    "a bucket of Amazon from before 2018 is named with its region: --s3-region \(BucketAddress.defaultRegion)",
                ])
        }
        var options = BucketMailbox.Options()
        options.check = { try Interruption.check() }
        options.trustRootsFile = variable("AWS_CA_BUNDLE")
        options.cacheFolder = Self.cacheFolder(environment, of: "buckets")
        // There is room where the store is, or the store can't grow either.
        options.spoolFolder = URL(fileURLWithPath: store).deletingLastPathComponent().path
        let mailbox = BucketMailbox(
            address, credentials: .usual(environment: environment, profile: argument.profile),
            options: options)
        return OpenedBucket(mailbox) { mailbox.requestCounts.total }
    }

    /// Where programs of this user keep what they can get again; nil when there is no such place.
    ///
    /// - parameter kind: What it is kept of.
    static func cacheFolder(_ environment: [String: String], of kind: String) -> String? {
        if let folder = environment["XDG_CACHE_HOME"], folder.hasPrefix("/") {
            return folder + "/cipherstore/\(kind)"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        #if os(macOS)
            return home + "/Library/Caches/cipherstore/\(kind)"
        #else
            return home + "/.cache/cipherstore/\(kind)"
        #endif
    }
}

extension Failure {
    /// The words for a bucket that can't be used, and the exit code.
    init(_ error: BucketError) {
        let status: ExitStatus =
            switch error.code {
            case .noCredentials, .invalidAddress: .usage
            case .invalidCredentials: .failure
            default: .remoteRefused
            }
        self.init(
            error.message, hints: error.hint.map { [$0] } ?? [], status: status, passes: error.mayPass)
    }

    /// The words for a place that does not do what it was asked for.
    init(_ error: MailboxError) {
        let isOutOfReach = error.code == .unreachable
        // A message that begins with the host needs no URL of it before.
        let authority = error.location?.components(separatedBy: "://").last?.split(separator: "/").first
        let isNamed = authority.map { error.message.hasPrefix("\($0) ") } ?? false
        self.init(
            isNamed ? error.message : "\(error)",
            hints: isOutOfReach ? ["try again later; what was not finished goes on then"] : [],
            status: isOutOfReach ? .remoteUnreachable : .failure)
    }
}
