import ArgumentParser
import CipherStore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Completion of command lines in the user's shell.
struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Complete command lines in the shell.",
        usage: "syncctl completion install | print [bash | zsh | fish]",
        discussion: """
            EXAMPLES:
              syncctl completion install
              syncctl completion print zsh > ~/.zfunc/_syncctl
            """,
        subcommands: [CompletionInstallCommand.self, CompletionPrintCommand.self])
}

/// The shells for which there are scripts.
enum CompletingShell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish

    /// The script.
    ///
    /// - throws: ``Failure`` outside of a program.
    func script() throws -> String {
        let shell: CompletionShell =
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        return try RootCommand.require().completionScript(for: shell)
    }

    /// The shell to work for: the one that is named, else the user's own.
    static func chosen(_ shell: CompletingShell?, _ environment: [String: String]) throws -> CompletingShell {
        if let shell { return shell }
        let name = URL(fileURLWithPath: environment["SHELL"] ?? "").lastPathComponent
        guard let shell = CompletingShell(rawValue: name) else {
            throw Failure.usage(
                "the shell is not known", hints: ["name it: syncctl completion install bash"])
        }
        return shell
    }

    /// Where the shell, or the user's set-up of it, looks for scripts.
    func path(of program: String, _ environment: [String: String]) throws -> String {
        func folder(_ variable: String, _ fallback: String) throws -> String {
            if let path = environment[variable], path.hasPrefix("/") { return path }
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw Failure("HOME is not set", hints: ["name the file with --to"])
            }
            return home + fallback
        }
        switch self {
        case .bash:
            return try folder("XDG_DATA_HOME", "/.local/share") + "/bash-completion/completions/\(program)"
        case .zsh: return try folder("ZDOTDIR", "") + "/.zfunc/_\(program)"
        case .fish: return try folder("XDG_CONFIG_HOME", "/.config") + "/fish/completions/\(program).fish"
        }
    }

    /// What is left to do after the script is where it belongs.
    var advice: String {
        switch self {
        case .bash: "open a new shell; if nothing is completed, install the package bash-completion"
        case .zsh:
            "open a new shell; if nothing is completed, add to ~/.zshrc: fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit"
        case .fish: "open a new shell"
        }
    }
}

/// Puts the script where the shell finds it.
struct CompletionInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install the script for the shell.",
        usage: "syncctl completion install [bash | zsh | fish] [--to <file>] [<options>]")

    @Argument(help: "The shell: bash, zsh or fish (default: that of $SHELL).")
    var shell: CompletingShell?

    @Option(
        help: ArgumentHelp("Where the script goes (default: where the shell looks).", valueName: "file"),
        completion: .file())
    var to: String?

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let shell: String
        let to: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let shell = try CompletingShell.chosen(shell, context.environment)
            let path = try to ?? shell.path(of: RootCommand.name, context.environment)
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try FileReplacement.requireNoOwner(of: path)
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data(shell.script().utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch let error as CocoaError {
                throw Failure(
                    "cannot write \(path): \(error.systemText)", hints: ["name a file with --to"])
            }
            try context.print(
                Document(shell: shell.rawValue, to: path), text: "installed \(path)  (\(shell.rawValue))")
            if to == nil { context.note(shell.advice) }
            return .success
        }
    }
}

/// Prints the script.
struct CompletionPrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Print the script for a shell.",
        usage: "syncctl completion print [bash | zsh | fish] [<options>]")

    @Argument(help: "The shell: bash, zsh or fish (default: that of $SHELL).")
    var shell: CompletingShell?

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let shell: String
        let script: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let shell = try CompletingShell.chosen(shell, context.environment)
            let script = try shell.script()
            try context.print(Document(shell: shell.rawValue, script: script), text: script)
            return .success
        }
    }
}
