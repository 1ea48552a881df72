import ArgumentParser
import CipherStore

/// The command line of encrypted stores and their synchronization.
@main
struct Syncctl: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "syncctl",
        abstract: "Encrypted databases that synchronize.",
        discussion: """
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
            """,
        version: "syncctl \(version)",
        groupedSubcommands: [
            CommandGroup(
                name: "STORE",
                subcommands: [
                    InitCommand.self, ImportCommand.self, ExportCommand.self, RekeyCommand.self,
                    KeyCommand.self, RestoreCommand.self,
                ]),
            CommandGroup(
                name: "CARE", subcommands: [VerifyCommand.self, DoctorCommand.self, CompactCommand.self]),
            CommandGroup(
                name: "SYNC",
                subcommands: [
                    TrackCommand.self, PushCommand.self, PullCommand.self, SyncCommand.self,
                    WatchCommand.self, BundleCommand.self, StatusCommand.self, ConflictsCommand.self,
                    ParkedCommand.self,
                    LogCommand.self, CloneCommand.self, ReplicaCommand.self,
                ]),
            CommandGroup(
                name: "SERVE",
                subcommands: [
                    ServeCommand.self, InviteCommand.self, DeviceCommand.self, ConsoleCommand.self,
                    RemoteCommand.self,
                ]),
            CommandGroup(name: "LEARN", subcommands: [DemoCommand.self]),
        ])

    /// Runs the command line. With `--json` a wrong one is reported as JSON like every other failure.
    static func main() {
        ProcessHardening.apply()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let status as ExitCode {
            exit(withError: status)
        } catch {
            guard CommandLine.arguments.contains("--json"), exitCode(for: error) == .validationFailure else {
                exit(withError: error)
            }
            let failure = Failure.usage(message(for: error), hints: ["see: syncctl help"])
            let terminal = Terminal.standard(
                environment: PassphraseEnvironment.current(), color: .never, allowsProgress: false)
            FailureReporter(terminal: terminal, isJSON: true).report(failure)
            exit(withError: failure.status.exitCode)
        }
    }
}
