import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Makes a new store.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a new store, or a replica of one.",
        usage: "syncctl init <store> [--clone <store> | --from <file>] [<options>]",
        discussion: """
            EXAMPLES:
              syncctl init notes.db --passphrase-file secret
              syncctl init b.db --passphrase-file pw2 \\
                --clone a.db --clone-passphrase-file pw
              syncctl init notes.db --from plain.sqlite

            A replica made with --clone has a passphrase of its own, and synchronizes with the \
            store that it was made of.
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: ArgumentHelp("Make a replica of this store.", valueName: "store"), completion: .file())
    var clone: String?

    @OptionGroup(title: "Passphrase of the store that is cloned (default: the new store's)")
    var clonePassphrase: ClonePassphraseOptions

    @Option(
        help: ArgumentHelp("Encrypt this plain SQLite file into the new store.", valueName: "file"), completion: .file())
    var from: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if clone != nil && from != nil { throw ValidationError("--clone and --from exclude each other") }
    }

    private struct Document: Encodable {
        let store: String
        let replica: String
        let database: String
        let cipher: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let path = options.store
            guard !FileManager.default.fileExists(atPath: path) else {
                throw StoreError(.exists, "there is a file already", path: path)
            }
            try StoreFileCheck.requireFolder(of: path)
            if let clone { try StoreFileCheck.requireExisting(clone) }
            if let from { try checkPlaintext(from) }
            let passphrase = try context.storePassphrase(options.passphrase, for: path, isNew: true)
            try create(path, passphrase, context)
            let synchronizer = try Synchronizer(context.open(path, passphrase))
            let status = try synchronizer.status()
            let cipher = EngineFeatures.current.cipherVersion ?? ""
            let what = clone.map { "replica of \($0)" } ?? "new store"
            try context.print(
                Document(
                    store: path, replica: status.replica.description, database: status.store.description,
                    cipher: cipher),
                text: "created \(path)  (\(what), AES-256, replica \(status.replica.shortDescription))")
            context.note("its passphrase is the only key; losing it means losing the data")
            return .success
        }
    }

    private func create(_ path: String, _ passphrase: borrowing Passphrase, _ context: CommandContext) throws {
        if let clone {
            let source =
                try context.passphrase(clonePassphrase, for: clone) ?? passphrase.copy()
            Interruption.listen()
            let original = try Synchronizer(existing: context.open(clone, source))
            let progress = context.progress("copying", unit: .items("pages"))
            try original.clone(to: path, passphrase: passphrase) {
                try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
            }
            progress.finish()
        } else if let from {
            Interruption.listen()
            let progress = context.progress("checking", unit: .items("pages"))
            try PlaintextImport.makeStore(from: from, at: path, passphrase: passphrase) {
                try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
            }
            progress.finish()
        } else {
            try createEmpty(path, passphrase, context)
        }
    }

    /// Says what else to do with a file that is no plain SQLite file.
    private func checkPlaintext(_ path: String) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure("\(path): there is no such file, or it can't be read")
        }
        defer { try? handle.close() }
        let start = try? handle.read(upToCount: 16)
        guard start == Data("SQLite format 3\0".utf8) else {
            throw Failure(
                "\(path) is no plain SQLite file",
                hints: [
                    "a replica of an encrypted store is made with: --clone \(CommandWords.quoted(path))",
                    "a CSV file is imported with: syncctl import",
                ])
        }
    }

    private func createEmpty(_ path: String, _ passphrase: borrowing Passphrase, _ context: CommandContext) throws {
        var configuration = context.configuration(passphrase)
        configuration.requiresExistingFile = false
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            _ = try Synchronizer(queue)
            try queue.close()
        } catch {
            // Nothing was in this file: it did not exist a moment ago.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }
}
