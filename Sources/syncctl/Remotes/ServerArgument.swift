import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Servers that are named on the command line, beside files and folders.
enum ServerArgument {
    /// The server of a name.
    ///
    /// - parameters:
    ///   - isGiven: Whether somebody wrote the name, who may have meant a file.
    ///   - store: The store that is synchronized with it.
    static func remote(
        _ name: String, in book: RemoteBook, isGiven: Bool, store: String
    ) throws -> Remote {
        let link =
            "take the link of a server or a relay with: syncctl remote add \(CommandWords.path(store)) -"
        do {
            return try book.remote(name)
        } catch let error as RemoteError where error.code == .noSuchRemote {
            guard isGiven else {
                throw Failure.usage(
                    "no remote is named, and the store knows none",
                    hints: [
                        "name another store, a folder or a bucket with --remote",
                        link,
                        "or make a channel at a relay with: syncctl share \(CommandWords.path(store)) --relay <url>",
                    ])
            }
            let names = try book.remotes().map(\.name)
            throw Failure(
                "\(name): there is no such file, and the store knows no server or relay of that name",
                hints: [
                    "a file is there, or has a dot or a slash in its name: --remote ./\(CommandWords.quoted(name))",
                    names.isEmpty
                        ? link
                        : "the servers that it knows: \(names.joined(separator: ", "))",
                ])
        }
    }
}
