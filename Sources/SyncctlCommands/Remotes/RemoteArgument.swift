import Foundation

/// What a remote on the command line names. This is the one place that knows how they are spelled.
package enum RemoteArgument: Equatable, Sendable {
    /// The file of another store.
    case file(String)
    /// A shared folder, by its path: `dir:/path`. The path is empty in `dir:`, which names none.
    case folder(String)
    /// A bucket of a storage: `s3://bucket/prefix`. Its name is empty in `s3://`, which names none.
    case bucket(BucketArgument)
    /// A store that ssh reaches: `ssh://host/path`.
    case ssh(String)
    /// A server that the store knows by this name.
    case server(String)
    /// A relay that the store knows by this name. Only the store tells it from a server.
    case relay(String)

    /// The name of the server that a store enrols with first.
    package static let defaultServer = "default"

    /// What the address of a store begins with that ssh reaches.
    package static let sshScheme = "ssh://"

    private static let folderScheme = "dir:"

    /// Reads an argument.
    ///
    /// - parameter argument: nil stands for the server that the store enrolled with first. A word without a dot
    ///   and a slash is the name of a server, unless a file has that name.
    package init(_ argument: String?) {
        guard let argument else {
            self = .server(Self.defaultServer)
            return
        }
        if argument.hasPrefix(Self.folderScheme) {
            var path = String(argument.dropFirst(Self.folderScheme.count))
            while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
            self = .folder(path)
        } else if let bucket = BucketArgument(argument) {
            self = .bucket(bucket)
        } else if argument.hasPrefix(Self.sshScheme) {
            self = .ssh(argument)
        } else if !argument.contains("/"), !argument.contains("."),
            !FileManager.default.fileExists(atPath: argument)
        {
            self = .server(argument)
        } else {
            self = .file(argument)
        }
    }

    /// The path of a shared folder; nil when it names none.
    package var folder: String? {
        if case .folder(let path) = self, !path.isEmpty { path } else { nil }
    }

    /// Whether it is spelled as a shared folder, though it may name none.
    package var isFolder: Bool { if case .folder = self { true } else { false } }

    /// Whether it is a place that keeps files of replicas: a relay, or what is spelled as a folder or a bucket, though it may
    /// name none.
    var isPlace: Bool {
        switch self {
        case .bucket, .relay: true
        case .file, .folder, .ssh, .server: isFolder
        }
    }

    /// Whether it is a replica on another machine, to which a connection is made.
    package var isNetwork: Bool {
        switch self {
        case .ssh, .server: true
        case .file, .folder, .bucket, .relay: false
        }
    }

    /// Whether ssh reaches it.
    package var isSSH: Bool { if case .ssh = self { true } else { false } }

    /// How it is spelled from whatever folder; nil for servers and relays, whose names are the store's.
    var location: String? {
        func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
        return switch self {
        case .file(let path): absolute(path)
        case .folder(let path): Self.folderScheme + absolute(path)
        case .bucket(let bucket): bucket.location
        case .ssh(let address): address
        case .server, .relay: nil
        }
    }

    /// The address of a bucket or of a store behind ssh that a path was meant for, such as `s3:/bucket/prefix`; nil for others.
    static func address(meantBy path: String) -> String? {
        for scheme in [BucketArgument.scheme, sshScheme] {
            let name = scheme.prefix { $0 != "/" }
            guard path.hasPrefix(name), !path.hasPrefix(scheme) else { continue }
            let rest = path.dropFirst(name.count).drop { $0 == "/" }
            if !rest.isEmpty { return scheme + rest }
        }
        return nil
    }

    /// How a shared folder is spelled in commands that hints give.
    static func words(forFolder path: String) -> String { folderScheme + CommandWords.quoted(path) }
}
