import Foundation
import SyncRelay

/// Which PostgreSQL database keeps the channels of a relay.
///
/// ```swift
/// let address = try PostgresAddress("postgresql:///relay?host=/var/run/postgresql")
/// ```
///
/// It is a connection string as PostgreSQL's programs take it. A password in it is not told to anybody: descriptions leave
/// it out. Without one, libpq looks for it where it always does: `PGPASSWORD`, `PGPASSFILE` and `~/.pgpass`.
public struct PostgresAddress: Sendable, CustomStringConvertible, CustomReflectable {
    /// Whether a password is part of the connection string.
    public let hasPassword: Bool
    /// The parameters that are given.
    let parameters: [(name: String, value: String)]
    /// The same for each host.
    let hosts: PostgresHosts

    /// Reads a connection string.
    ///
    /// - parameter text: A URL of `postgresql:` or `postgres:`, or words such as `host=/var/run/postgresql dbname=relay`.
    /// - throws: `RelayStorageError`: `noLibrary` when libpq is not installed, `cannotOpen` when it is no connection string.
    public init(_ text: String) throws {
        let library: LibPQ
        do {
            library = try LibPQ.shared()
        } catch let error as LibPQ.LoadingError {
            throw RelayStorageError(.noLibrary, error.message, path: "PostgreSQL")
        }
        guard text.utf8.count <= Self.characterCountMax, !text.utf8.contains(0),
            let options = library.parse(text, nil)
        else {
            // What libpq says of it would quote a part of it, which may be the password.
            throw RelayStorageError(
                .cannotOpen,
                "the connection string can't be read; one is: postgresql:///relay?host=/var/run/postgresql",
                path: "PostgreSQL")
        }
        defer { library.freeOptions(options) }
        var parameters: [(name: String, value: String)] = []
        var option = options
        while let keyword = LibPQ.text(option, at: LibPQ.ConnectionOption.keyword) {
            if let value = LibPQ.text(option, at: LibPQ.ConnectionOption.value) {
                parameters.append((keyword, value))
            }
            option += LibPQ.ConnectionOption.stride
        }
        self.parameters = parameters
        hosts = PostgresHosts(parameters)
        hasPassword = parameters.contains { Self.secrets.contains($0.name) && !$0.value.isEmpty }
    }

    private static let characterCountMax = 4_096
    private static let secrets: Set<String> = ["password", "sslpassword"]

    /// Whether some words name a PostgreSQL database, and no file.
    public static func isAddress(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        return (scheme == "postgresql" || scheme == "postgres") && text.contains(":")
    }

    /// The host and the database, and nothing else.
    public var description: String {
        let host = value("host") ?? value("hostaddr")
        let port = value("port").map { ":" + $0 } ?? ""
        let database = value("dbname") ?? ""
        guard let host else { return "postgresql:///\(database)" }
        return host.hasPrefix("/")
            ? "postgresql:///\(database)?host=\(host)" : "postgresql://\(host)\(port)/\(database)"
    }

    /// Nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private func value(_ name: String) -> String? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }
}
