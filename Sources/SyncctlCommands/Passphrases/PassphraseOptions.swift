import ArgumentParser

/// The three options that say where a passphrase comes from, for one kind of passphrase.
///
/// The groups below only declare them: ArgumentParser reads the names from the declarations.
protocol PassphraseOptions: ParsableArguments {
    static var kind: PassphraseKind { get }
    /// What it means that neither an option nor a variable names a source.
    static var fallback: PassphraseSource? { get }
    var passphraseFile: String? { get }
    var passphraseCommand: String? { get }
    var passphraseDescriptor: Int32? { get }
}

extension PassphraseOptions {
    /// Whether an option names a source.
    var isPassphraseGiven: Bool {
        passphraseFile != nil || passphraseCommand != nil || passphraseDescriptor != nil
    }

    /// The source to read: an option, else a variable, else the fallback of the kind.
    ///
    /// Two options of one kind are refused. Of the variables the first wins, in the order file,
    /// command, value; one that is set but empty is refused, since it mostly is a secret that a
    /// script meant to fill in.
    ///
    /// - Parameter environment: The variables, as `PassphraseEnvironment.current()` returns them.
    func passphraseSource(environment: [String: String]) throws -> PassphraseSource? {
        let kind = Self.kind
        let given: [(flag: String, source: PassphraseSource)] = [
            passphraseFile.map { (kind.fileFlag, .file($0)) },
            passphraseCommand.map { (kind.commandFlag, .command($0)) },
            passphraseDescriptor.map { (kind.descriptorFlag, .descriptor($0)) },
        ].compactMap { $0 }
        if given.count > 1 {
            let flags = given.map(\.flag)
            let names = flags.dropLast().joined(separator: ", ") + " and " + flags[flags.count - 1]
            throw Failure.usage("\(names) exclude each other", hints: ["give only one of them"])
        }
        if let passphraseDescriptor, passphraseDescriptor < 0 {
            throw Failure.usage("\(kind.descriptorFlag) takes a number from 0 up")
        }
        return try given.first?.source ?? variableSource(environment) ?? Self.fallback
    }

    private func variableSource(_ environment: [String: String]) throws -> PassphraseSource? {
        let kind = Self.kind
        for name in [kind.fileVariable, kind.commandVariable, kind.valueVariable] {
            guard let value = environment[name] else { continue }
            guard !value.isEmpty else {
                throw Failure.usage("\(name) is set but empty", hints: ["set it or unset it"])
            }
            switch name {
            case kind.fileVariable: return .file(value)
            case kind.commandVariable: return .command(value)
            default: return .environment(name)
            }
        }
        return nil
    }
}

/// The passphrase of the store that the command works on; asked for if nothing names a source.
package struct StorePassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.store
    static let fallback: PassphraseSource? = .prompt

    @Option(
        name: .customLong("passphrase-file"),
        help: .init("Read the passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("passphrase-command"),
        help: .init("Run a command that prints the passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: .init("Read the passphrase from an open file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?

    package init() {}
}

/// The passphrase of a remote store's file; nil means to try the store's own passphrase.
struct RemotePassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.remote
    static let fallback: PassphraseSource? = nil

    @Option(
        name: .customLong("remote-passphrase-file"),
        help: .init("Read the remote's passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("remote-passphrase-command"),
        help: .init("Run a command that prints the remote's passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("remote-passphrase-fd"),
        help: .init("Read the remote's passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}

/// The passphrase to set; asked for twice if nothing names a source.
struct NewPassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.new
    static let fallback: PassphraseSource? = .prompt

    @Option(
        name: .customLong("new-passphrase-file"),
        help: .init("Read the new passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("new-passphrase-command"),
        help: .init("Run a command that prints the new passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("new-passphrase-fd"),
        help: .init("Read the new passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}

/// The passphrase of the file that the command writes; nil leaves the choice to the command.
struct TargetPassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.target
    static let fallback: PassphraseSource? = .prompt

    @Option(
        name: .customLong("to-passphrase-file"),
        help: .init("Read the target's passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("to-passphrase-command"),
        help: .init("Run a command that prints the target's passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("to-passphrase-fd"),
        help: .init("Read the target's passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}

/// The passphrase of a new copy of the store; nil leaves the choice to the command.
struct ClonePassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.clone
    static let fallback: PassphraseSource? = nil

    @Option(
        name: .customLong("clone-passphrase-file"),
        help: .init("Read the passphrase of the store that is cloned from a file.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("clone-passphrase-command"),
        help: .init(
            "Run a command that prints the passphrase of the store that is cloned.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("clone-passphrase-fd"),
        help: .init(
            "Read the passphrase of the store that is cloned from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}

/// The passphrase of the archive that a command reads; asked for if nothing names a source.
struct ArchivePassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.archive
    static let fallback: PassphraseSource? = .prompt

    @Option(
        name: .customLong("archive-passphrase-file"),
        help: .init("Read the archive's passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("archive-passphrase-command"),
        help: .init("Run a command that prints the archive's passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("archive-passphrase-fd"),
        help: .init("Read the archive's passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}

/// The passphrase of the bundle file that a command reads or writes; asked for if nothing names a
/// source.
struct BundlePassphraseOptions: PassphraseOptions {
    static let kind = PassphraseKind.bundle
    static let fallback: PassphraseSource? = .prompt

    @Option(
        name: .customLong("bundle-passphrase-file"),
        help: .init("Read the bundle's passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("bundle-passphrase-command"),
        help: .init("Run a command that prints the bundle's passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("bundle-passphrase-fd"),
        help: .init("Read the bundle's passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?
}
