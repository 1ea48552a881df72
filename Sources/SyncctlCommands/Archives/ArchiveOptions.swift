import ArgumentParser
import CipherStore
import Foundation

/// What opens an archive.
struct ArchiveSecretOptions: ParsableArguments {
    @OptionGroup(title: "Passphrase of the archive")
    var passphrase: ArchivePassphraseOptions

    @Option(
        help: ArgumentHelp("Open an archive that was made for a recipient.", valueName: "file"),
        completion: .file())
    var identity: String?

    /// Whether an option says what opens it.
    var isGiven: Bool { identity != nil || passphrase.isPassphraseGiven }

    func validate() throws {
        if identity != nil && passphrase.isPassphraseGiven {
            throw ValidationError("--identity excludes an archive passphrase")
        }
    }
}

/// The names of archives end in `.csa`, by which `export --to` knows them. One that is there says what it is, whatever
/// its name.
enum ArchiveName {
    static let suffix = ".csa"

    /// Whether a new file of this name is an archive.
    static func isArchive(_ path: String) -> Bool { path.lowercased().hasSuffix(suffix) }

    /// Whether a file that is read is an archive: by its name, or by its first bytes.
    static func isExistingArchive(_ path: String) -> Bool {
        isArchive(path) || FileContent(ofFile: path) == .sealed
    }
}

extension Failure {
    /// Says what opens an archive where something else was tried; any other error stays as it is.
    static func explainingArchive(_ path: String, _ error: StoreError) -> any Error {
        guard error.path == path, [.wrongPassphrase, .encryptionMismatch].contains(error.code) else {
            return error
        }
        return Failure.noKeyOpens(
            error.description,
            hints: ["--archive-passphrase-file opens one with a passphrase, --identity one for a recipient"])
    }
}

extension CommandContext {
    /// Throws when an archive is locked for a recipient and no identity is given, before anybody is asked for a passphrase, which
    /// could open nothing.
    func requirePassphraseArchive(_ options: ArchiveSecretOptions, _ path: String) throws {
        // A file that can't be read is for those to explain who read all of it.
        guard options.identity == nil, let source = try? NamedFileSource.open(path),
            (try? SealedFileReader.isForRecipient(source)) == true
        else { return }
        throw Failure.explainingArchive(
            path,
            StoreError(
                .encryptionMismatch,
                "the file is locked for a recipient, not by a passphrase; give the identity's file",
                path: path))
    }

    /// Reads what opens an archive.
    func archiveSecret(_ options: ArchiveSecretOptions, for path: String) throws -> ArchiveSecret {
        if let identity = options.identity { return ArchiveSecret(try ArchiveIdentity(file: identity)) }
        try requirePassphraseArchive(options, path)
        guard let passphrase = try passphrase(options.passphrase, for: path) else {
            throw Failure.usage("no passphrase for \(path)", hints: ["use --archive-passphrase-file"])
        }
        return ArchiveSecret(passphrase)
    }
}
