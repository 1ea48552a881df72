import ArgumentParser
import CipherStore

/// What the programs that have these commands share: the root's description, and how it is run.
package enum CommandLineProgram {
    package static let version = "0.9.0"

    /// Describes the root of a program.
    ///
    /// - parameters:
    ///   - name: The name of the program.
    ///   - watching: Commands that keep stores equal, listed after `sync`.
    ///   - serving: Commands for servers and their devices.
    package static func configuration(
        name: String = "syncctl", watching: [any ParsableCommand.Type] = [],
        serving: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        let groups = [
            CommandGroup(
                name: "STORE",
                subcommands: [
                    InitCommand.self, ImportCommand.self, ExportCommand.self, SQLCommand.self,
                    TablesCommand.self, SchemaCommand.self, RekeyCommand.self, KeyCommand.self,
                    RestoreCommand.self,
                ]),
            CommandGroup(
                name: "CARE", subcommands: [VerifyCommand.self, DoctorCommand.self, CompactCommand.self]),
            CommandGroup(
                name: "SYNC",
                subcommands: [
                    TrackCommand.self, UntrackCommand.self, PushCommand.self, PullCommand.self,
                    SyncCommand.self,
                ]
                    + watching + [
                        BundleCommand.self, StatusCommand.self, GraphCommand.self, ConflictsCommand.self,
                        ParkedCommand.self, LogCommand.self, CloneCommand.self, ReplicaCommand.self,
                        MemberCommand.self,
                    ]),
            CommandGroup(name: "SERVE", subcommands: serving),
            CommandGroup(
                name: "LEARN",
                subcommands: [
                    DemoCommand.self, CompletionCommand.self, ManualCommand.self, VersionCommand.self,
                ]),
        ]
        return CommandConfiguration(
            commandName: name, abstract: "Encrypted databases that synchronize.", discussion: discussion,
            version: "\(name) \(version)", groupedSubcommands: groups.filter { !$0.subcommands.isEmpty })
    }

    private static let discussion = """
        EXAMPLES:
          syncctl init notes.db --passphrase-file secret
          syncctl import notes.db people.csv --table person --track
          syncctl init stick/notes.db --clone notes.db
          syncctl sync notes.db --remote stick/notes.db

        A passphrase comes from a file, a command, a descriptor, the environment \
        (SYNCCTL_PASSPHRASE_FILE, SYNCCTL_PASSPHRASE_COMMAND, SYNCCTL_PASSPHRASE) or a \
        prompt, never from an argument.

        EXIT CODES:
          0  ok                            12  no key opens the store
          1  failure                       14  the remote refused
          3  done, needs attention         15  version or schema mismatch
          10  no such store                16  damaged
          11  store in use                 64  usage    130  cancelled
          13  the remote is not reachable
        """

    /// Runs the command line. A wrong one is reported like every other failure, with `--json` as JSON.
    ///
    /// - parameters:
    ///   - root: The root command.
    ///   - network: The way to other machines, of a program that has one.
    package static func run(_ root: any ParsableCommand.Type, network: (any NetworkAccess)? = nil) {
        let arguments = ProcessArguments.take()
        ProcessHardening.apply()
        if let network { NetworkSupport.install(network) }
        do {
            try requireText()
            try perform(root, Array(arguments.dropFirst()))
        } catch {
            root.exit(withError: error)
        }
    }

    /// Runs a command line within another program.
    ///
    /// - returns: The exit code that a process would end with.
    package static func run(
        _ root: any ParsableCommand.Type, _ arguments: [String], in surroundings: CommandSurroundings
    ) -> Int32 {
        CommandSurroundings.$current.withValue(surroundings) {
            do {
                try perform(root, arguments)
                return ExitCode.success.rawValue
            } catch {
                let (text, code) = (root.fullMessage(for: error), root.exitCode(for: error))
                let terminal = Terminal.standard(environment: surroundings.environment, color: .never)
                if text.isEmpty { return code.rawValue }
                if code.isSuccess { try? terminal.writeOutput(text) } else { terminal.writeError(text) }
                return code.rawValue
            }
        }
    }

    /// Parses and runs a command line.
    ///
    /// - throws: What ArgumentParser explains, or an exit code of what was reported already.
    private static func perform(_ root: any ParsableCommand.Type, _ arguments: [String]) throws {
        var command = try parse(root, arguments)
        try RootCommand.$current.withValue(RootCommand(type: root)) { try command.run() }
    }

    private static func parse(
        _ root: any ParsableCommand.Type, _ arguments: [String]
    ) throws -> any ParsableCommand {
        let usage = CommandLineUsage(root: root, arguments: arguments)
        if let failure = usage.unknownCommand() { throw report(failure, arguments) }
        if let command = usage.namedCommand() { return command }
        do {
            let command = try root.parseAsRoot(arguments)
            // The parser's own command, which prints the help.
            guard type(of: command).configuration.commandName != "help" || usage.asksForHelp else {
                throw report(usage.misreadName, arguments)
            }
            return command
        } catch let status as ExitCode {
            throw status
        } catch {
            guard root.exitCode(for: error) == .validationFailure else { throw error }
            throw report(
                usage.failure(root.message(for: error), explanation: root.fullMessage(for: error)), arguments)
        }
    }

    /// Reports a wrong command line, whose options are not known.
    private static func report(_ failure: Failure, _ arguments: [String]) -> ExitCode {
        let isJSON = arguments.contains("--json")
        let terminal = Terminal.standard(
            environment: PassphraseEnvironment.current(), color: isJSON ? .never : .auto,
            allowsProgress: false)
        FailureReporter(terminal: terminal, isJSON: isJSON).report(failure)
        return failure.status.exitCode
    }

    /// Refuses arguments that are no text, of which other names would be made.
    private static func requireText() throws {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else {
                continue
            }
            throw report(
                .usage(
                    "argument \(index) is not UTF-8: \(PrintableText.escaped(String(cString: bytes)))",
                    hints: ["rename the file, or name it by a link"]), CommandLine.arguments)
        }
    }
}
