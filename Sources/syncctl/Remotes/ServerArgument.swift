import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Servers that are named on the command line, beside files and folders.
enum ServerArgument {
    /// The server of a name.
    ///
    /// - parameter isGiven: Whether somebody wrote the name, who may have meant a file.
    static func remote(_ name: String, in book: RemoteBook, isGiven: Bool) throws -> Remote {
        do {
            return try book.remote(name)
        } catch let error as RemoteError where error.code == .noSuchRemote {
            guard isGiven else {
                throw Failure.usage(
                    "no remote is named, and the store knows no server",
                    hints: [
                        "name another store or a folder with --remote",
                        "enrol with a server with: syncctl remote add <store> '<link>'",
                    ])
            }
            let names = try book.remotes().map(\.name)
            throw Failure(
                "\(name): there is no such file, and the store knows no server of that name",
                hints: [
                    "a file is there, or has a dot or a slash in its name: --remote ./\(CommandWords.quoted(name))",
                    names.isEmpty
                        ? "enrol with a server with: syncctl remote add <store> '<link>'"
                        : "the servers that it knows: \(names.joined(separator: ", "))",
                ])
        }
    }
}
