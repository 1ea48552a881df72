import Foundation

/// What a remote on the command line names.
package enum RemoteArgument: Equatable, Sendable {
    /// The file of another store.
    case file(String)
    /// A shared folder, by its path: `dir:/path`.
    case folder(String)
    /// A store that ssh reaches: `ssh://host/path`.
    case ssh(String)
    /// A server that the store knows by this name.
    case server(String)

    /// The name of the server that a store enrols with first.
    package static let defaultServer = "default"

    private static let sshScheme = "ssh://"

    /// Reads an argument.
    ///
    /// - parameter argument: nil stands for the server that the store enrolled with first. A word without a dot
    ///   and a slash is the name of a server, unless a file has that name.
    package init(_ argument: String?) {
        guard let argument else {
            self = .server(Self.defaultServer)
            return
        }
        if let path = FolderRemote.path(of: argument) {
            self = .folder(path)
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

    /// Whether it is on another machine, to which a connection is made.
    package var isNetwork: Bool {
        switch self {
        case .ssh, .server: true
        case .file, .folder: false
        }
    }

    /// Whether ssh reaches it.
    package var isSSH: Bool { if case .ssh = self { true } else { false } }
}
