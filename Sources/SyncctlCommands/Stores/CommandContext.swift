import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import Synchronization

/// What a command works with: the terminal, the environment, and how errors end it.
package struct CommandContext {
    package let global: GlobalOptions
    let environment: [String: String]
    package let terminal: Terminal
    /// How long a store is waited for that another process uses, in seconds.
    package var busySeconds: Double = 5
    /// The store that the command works on, for hints that name it: the first that it opens.
    private let subject = Subject()

    /// What a command finds out that is of use at its end.
    private final class Subject: Sendable {
        let store = Mutex<String?>(nil)
        let remarks = Mutex<[String]>([])

        func note(_ path: String) { store.withLock { $0 = $0 ?? path } }
    }

    /// Runs a command: errors are reported and become the exit code.
    package static func run(_ global: GlobalOptions, _ body: (CommandContext) throws -> ExitStatus) throws {
        let environment = PassphraseEnvironment.current()
        let terminal = global.terminal(environment: environment)
        let context = CommandContext(global: global, environment: environment, terminal: terminal)
        let status: ExitStatus
        do {
            status = try global.zone.apply { try body(context) }
            for remark in context.subject.remarks.withLock({ $0 }) { context.note(remark) }
        } catch let exit as ExitCode {
            throw exit
        } catch {
            let failure = Failure(explaining: error, store: context.subject.store.withLock { $0 })
            FailureReporter(terminal: terminal, isJSON: global.isJSON).report(failure)
            throw failure.status.exitCode
        }
        if status != .success { throw status.exitCode }
    }

    /// Reads the passphrase of an option group.
    ///
    /// - returns: nil when the group names no source and has no fallback.
    func passphrase(
        _ options: some PassphraseOptions, for path: String, isNew: Bool? = nil
    ) throws -> Passphrase? {
        guard let source = try options.passphraseSource(environment: environment) else { return nil }
        let request = PassphraseRequest(type(of: options).kind, subject: path, isNew: isNew)
        return try PassphraseReader().read(source, for: request)
    }

    /// Reads the passphrase of the store that a command works on.
    func storePassphrase(
        _ options: some PassphraseOptions, for path: String, isNew: Bool = false
    ) throws -> Passphrase {
        guard let passphrase = try passphrase(options, for: path, isNew: isNew) else {
            throw Failure.usage("no passphrase for \(path)", hints: ["use --passphrase-file"])
        }
        return passphrase
    }

    /// Reads what opens the store that a command works on: a key file, or a passphrase or recovery key.
    package func storeSecret(_ options: StoreOptions) throws -> Secret {
        try secret(options, options.keyFile, for: options.store)
    }

    /// Reads what opens a store: a key file, or a passphrase or recovery key.
    package func storeSecret(
        _ passphrase: StorePassphraseOptions, _ keyFile: String?, for store: String
    ) throws -> Secret {
        try secret(passphrase, keyFile, for: store)
    }

    private func secret(
        _ passphrase: some PassphraseOptions, _ keyFile: String?, for store: String
    ) throws -> Secret {
        guard let keyFile else {
            return Secret(try storePassphrase(passphrase, for: store))
        }
        guard !passphrase.isPassphraseGiven else {
            throw Failure.usage("--key-file excludes a passphrase", hints: ["give only one of them"])
        }
        do {
            return try Secret(keyFile: keyFile)
        } catch let error as StoreError where error.code == .missing {
            throw Failure(
                error.description,
                hints: [
                    "a key file is made with: syncctl key add \(CommandWords.path(store)) --new-key-file \(CommandWords.path(keyFile))"
                ])
        }
    }

    /// Reads what opens a second store: what its options name; where a person is asked, what they type; else what opens
    /// the first one.
    ///
    /// - parameters:
    ///   - options: The options of the second store.
    ///   - own: What opens the first store.
    ///   - isOwnAsked: Whether a person was asked for that.
    func secondSecret(
        _ options: some PassphraseOptions, for path: String, own: Secret, isOwnAsked: Bool
    ) throws -> Secret {
        if let passphrase = try passphrase(options, for: path) { return Secret(passphrase) }
        guard isOwnAsked else { return own }
        let request = PassphraseRequest(type(of: options).kind, subject: path)
        guard let typed = try PassphrasePrompt().ask(request, note: "empty if it is the same") else {
            return own
        }
        return Secret(typed)
    }

    /// Whether a person is asked for the passphrase of the store.
    func asks(_ options: StoreOptions) throws -> Bool {
        try options.keyFile == nil && options.passphraseSource(environment: environment) == .prompt
    }

    /// How stores are opened: encrypted, existing, waiting a little for locks.
    package func configuration(_ secret: Secret) -> Configuration {
        var configuration = Configuration()
        configuration.useKeySlot(secret)
        configuration.encryption = .required
        configuration.requiresExistingFile = true
        configuration.busyMode = .timeout(busySeconds)
        configuration.journalMode = .wal
        // Large enough for the inner pages of a large index.
        configuration.cacheKibibytes = 32 * 1024
        return configuration
    }

    /// Notes the store that the command works on.
    func noteSubject(_ path: String) { subject.note(path) }

    /// Makes a remark for people when the command has succeeded; what failed has its own words.
    func noteAtEnd(_ text: String) { subject.remarks.withLock { $0.append(text) } }

    /// Opens a store.
    package func open(_ path: String, _ secret: Secret) throws -> DatabaseQueue {
        subject.note(path)
        return try DatabaseQueue(path: path, configuration: configuration(secret))
    }

    /// Opens a store with what the options name.
    package func open(_ options: StoreOptions) throws -> DatabaseQueue {
        subject.note(options.store)
        try StoreFileCheck.requireStore(options.store)
        return try open(options.store, storeSecret(options))
    }

    /// Prints a result: a JSON document, or the text.
    package func print(_ document: some Encodable, text: @autoclosure () -> String) throws {
        guard global.isJSON else {
            let text = text()
            if !text.isEmpty { try terminal.writeOutput(text) }
            return
        }
        try terminal.writeOutput(self.text(of: document))
    }

    /// A JSON document on one line, of which a terminal obeys nothing: its texts may be by others.
    func text(of document: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return JSONText.printable(String(decoding: try encoder.encode(document), as: UTF8.self))
    }

    /// Prints a remark for people, on stderr. What it names may be somebody else's, so a terminal obeys none of it.
    package func note(_ text: String) { noting(text) }

    /// Prints remarks from wherever something is waited for.
    package var noting: @Sendable (String) -> Void {
        let (terminal, isShown) = (terminal, !global.isJSON && !global.isQuiet)
        return { if isShown { terminal.writeError(PrintableText.escapedLines($0)) } }
    }

    /// A progress line, and the check for Ctrl-C that belongs into each step.
    package func progress(_ label: String, unit: ProgressUnit = .items("rows")) -> StepProgress {
        StepProgress(line: ProgressLine(label, unit: unit, terminal: terminal))
    }
}

/// The store that a command works on, and its passphrase.
///
/// It has the options of ``StorePassphraseOptions`` itself: in a debug build, the parser goes through a group within a
/// group four times as often for each level.
package struct StoreOptions: ParsableArguments, PassphraseOptions {
    static let kind = PassphraseKind.store
    static let fallback: PassphraseSource? = .prompt

    @Argument(help: "The file of the store.", completion: .file())
    package var store: String

    @Option(
        help: ArgumentHelp("Read the passphrase from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Run a command that prints the passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase from an open file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?

    @Option(
        help: ArgumentHelp("Open the store with a key file instead of a passphrase.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    package func validate() throws {
        if let obstacle = StoreFileCheck.obstacle(toName: store) { throw ValidationError(obstacle) }
    }

    package init() {}
}

/// Shows how far a step has come and ends it when the user pressed Ctrl-C.
package struct StepProgress {
    let line: ProgressLine
    private let start = ContinuousClock.now

    init(line: ProgressLine) { self.line = line }

    /// Reports progress. Steps that are over at once show none.
    ///
    /// - throws: ``Failure`` when the user cancelled.
    package func update(_ completed: Int64, _ total: Int64?) throws {
        try Interruption.check()
        guard ContinuousClock.now - start > .milliseconds(300) else { return }
        line.update(completed: Int(completed), total: total.map { Int($0) })
    }

    package func finish() { line.finish() }
}
