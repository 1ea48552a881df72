import SyncRelay
import SyncRelayPostgres
import SyncctlCommands

/// Where a relay keeps its channels, as the command line says it.
enum RelayStorageChoice {
    case file(String)
    case database(PostgresAddress)

    /// Reads `--storage` and `--storage-file`, of which there is one.
    ///
    /// - throws: A ``Failure``.
    init(storage: String?, storageFile: String?) throws {
        if let storageFile {
            let hint =
                "--storage-file takes a file that holds a connection string of PostgreSQL; the file of a relay is named by --storage"
            let text: String
            do {
                text = try PassphraseFile.text(of: storageFile, name: "storage file \(storageFile)")
            } catch let error as Failure {
                var failure = error
                failure.hints.append(hint)
                throw failure
            }
            guard PostgresAddress.isAddress(text) else {
                throw Failure(
                    "storage file \(storageFile): it holds no connection string of PostgreSQL",
                    hints: ["one is: postgresql://relay:password@db.example/relay", hint])
            }
            self = .database(try PostgresAddress(text))
        } else if let storage, PostgresAddress.isAddress(storage) {
            let address = try PostgresAddress(storage)
            guard !address.hasPassword else {
                throw Failure.usage(
                    "--storage has a password, which everybody on this machine can see",
                    hints: [
                        "put the connection string into a file of mode 600, and name that: --storage-file <file>",
                        "or have the password found in ~/.pgpass, PGPASSFILE or PGPASSWORD",
                    ])
            }
            self = .database(address)
        } else {
            let path = storage ?? ""
            if let obstacle = StoreFileCheck.obstacle(toName: path) {
                throw Failure.usage(
                    "--storage: \(obstacle)",
                    hints: [
                        "it takes a file, or a database of PostgreSQL: postgresql://relay@db.example/relay"
                    ])
            }
            self = .file(path)
        }
    }

    /// What messages call it: without a password.
    var name: String {
        switch self {
        case .file(let path): path
        case .database(let address): "\(address)"
        }
    }

    /// What helps when it can't be used.
    var hint: String {
        switch self {
        case .file: "another file takes its place with: --storage <file>"
        case .database: "see whether the server runs, and whether psql can connect to it as this user"
        }
    }

    /// Opens it.
    ///
    /// - parameter quota: The most bytes of a channel; nil for the usual ones.
    /// - returns: The storage, and what closes it.
    /// - throws: `RelayStorageError`.
    func open(quota: Int64?) throws -> (storage: any RelayStorage, close: () -> Void) {
        switch self {
        case .file(let path):
            var options = SQLiteRelayStorage.Options()
            if let quota { options.channelByteCountMax = quota }
            let storage = try SQLiteRelayStorage(path: path, options: options)
            return (storage, { try? storage.close() })
        case .database(let address):
            var options = PostgresRelayStorage.Options()
            if let quota { options.channelByteCountMax = quota }
            let storage = try PostgresRelayStorage(address, options: options)
            return (storage, { storage.close() })
        }
    }
}
