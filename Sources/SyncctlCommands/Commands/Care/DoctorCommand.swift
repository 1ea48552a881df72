import ArgumentParser
import CipherStore
import Foundation

/// Looks for what endangers a store before it is damaged or lost.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look for weak settings, open permissions, leftovers and other risks.",
        usage: "syncctl doctor [<store>] [<options>]",
        discussion: """
            Says what it finds, why it matters and what to do. Nothing is changed. The store is opened \
            only if a passphrase is given, and never asked for; damage is looked for by "syncctl verify".

            Exits with 3 when something needs attention. Notes are facts to know, and do not count.

            EXAMPLES:
              syncctl doctor
              syncctl doctor notes.db --passphrase-file pw
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String?

    @OptionGroup(title: "Passphrase")
    var passphrase: StorePassphraseOptions

    @Option(
        help: ArgumentHelp("Open the store with a key file instead of a passphrase.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String?
        let cipher: String
        let sqlite: String
        let provider: String
        let opened: Bool
        let attention: Bool
        let findings: [Finding]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let machine = try MachineChecks.current()
            var findings = machine.findings()
            var opened = false
            if let store {
                try StoreFileCheck.requireStore(store)
                findings += StoreFileChecks(store: store, now: machine.now).findings()
                if let secret = try secret(for: store, context) {
                    var configuration = context.configuration(secret)
                    configuration.journalMode = .default
                    let queue = try context.openForReading(store, configuration)
                    let checks = OpenStoreChecks(store: store, nowMilliseconds: Int64(machine.now * 1000))
                    findings += try queue.read { try checks.findings($0) }
                    opened = true
                }
            }
            let needsAttention = findings.contains(where: \.needsAttention)
            let library = try LibraryDescription.current()
            try context.print(
                Document(
                    store: store, cipher: machine.cipherVersion, sqlite: library.sqlite,
                    provider: library.provider, opened: opened, attention: needsAttention, findings: findings),
                text: text(findings, library, context))
            if store != nil && !opened {
                context.note(
                    "the store was not opened: give a passphrase to have its key and clock looked at")
            }
            return needsAttention ? .attention : .success
        }
    }

    /// What opens the store, if the command line or the environment says so.
    private func secret(for store: String, _ context: CommandContext) throws -> Secret? {
        guard try keyFile != nil || passphrase.passphraseSource(environment: context.environment) != .prompt
        else {
            return nil
        }
        return try context.storeSecret(passphrase, keyFile, for: store)
    }

    private func text(
        _ findings: [Finding], _ library: LibraryDescription, _ context: CommandContext
    ) -> String {
        let style = context.terminal.outputStyle
        let head =
            "SQLCipher \(EngineFeatures.current.cipherVersion ?? "?"), SQLite \(library.sqlite), \(library.provider)"
        guard !findings.isEmpty else { return "\(head)\nnothing found" }
        let lines = findings.flatMap { finding -> [String] in
            let severity = finding.severity.rawValue + ":"
            let mark =
                switch finding.severity {
                case .error: style.red(severity)
                case .warning: style.yellow(severity)
                case .note: style.dim(severity)
                }
            return [
                "\(mark) \(PrintableText.escaped(finding.what))",
                "  why: \(PrintableText.escaped(finding.why))",
                "  do:  \(PrintableText.escaped(finding.advice))",
            ]
        }
        return ([head] + lines).joined(separator: "\n")
    }
}

/// What the library says about itself.
struct LibraryDescription {
    let sqlite: String
    /// The library that does the cryptography, and its version.
    let provider: String

    static func current() throws -> LibraryDescription {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("no secret") }
        return try DatabaseQueue(configuration: configuration).read { db in
            LibraryDescription(
                sqlite: try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "?",
                provider: [try db.cipherProvider, try db.cipherProviderVersion].compactMap { $0 }
                    .joined(separator: " "))
        }
    }
}
