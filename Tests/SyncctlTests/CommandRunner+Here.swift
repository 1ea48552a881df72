import ArgumentParser
import Foundation

@testable import SyncctlCommands
@testable import syncctl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Commands of which the process is not the point run within the tests, where a passphrase's key is derived once for
/// all of them.
extension CommandRunner {
    private static let commands: Set = [
        "init", "import", "export", "rekey", "key", "restore", "verify", "compact", "track", "untrack",
        "push", "pull",
        "sync",
        "bundle", "status", "graph", "conflicts", "parked", "log", "clone", "replica", "member", "help",
        "--help",
        "sql", "tables", "schema", "version", "completion", "manual",
    ]

    /// Whether a command does the same here as in a process: it serves nobody, and connects to nobody.
    static func needsNoProcess(_ arguments: [String]) -> Bool {
        guard let command = arguments.first, commands.contains(command) else { return false }
        // What reads standard input would read that of the tests.
        if command == "import", arguments.contains("-") { return false }
        if arguments.contains("--watch") { return false }
        if command == "sql", !arguments.contains(where: { $0.contains(" ") }) { return false }
        if arguments.contains("--join"), arguments.contains(where: InvitationArgument.isMeant) {
            return false
        }
        if arguments.contains(InvitationFileOption.flag) { return false }
        guard ["push", "pull", "sync", "verify"].contains(command) else { return true }
        guard let option = arguments.firstIndex(where: { ["--remote", "-r"].contains($0) }) else {
            return command == "verify"
        }
        let remote = arguments.dropFirst(option + 1).first
        return remote.map { !RemoteArgument($0).isNetwork } ?? true
    }

    private static let hasNetwork: Void = NetworkSupport.install(Network())

    /// Runs a command of `syncctl` in this process.
    ///
    /// - parameter path: Where its output goes, which is then not read; nil for a file of the run.
    static func runHere(_ arguments: [String], output path: String? = nil) throws -> CommandResult {
        _ = hasNetwork
        let folder = try TemporaryFolder()
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let (output, errors) = (
            open(path ?? folder.file("output"), flags, 0o600), open(folder.file("errors"), flags, 0o600)
        )
        guard output >= 0, errors >= 0 else { throw Problem(text: "no files for the output of a command") }
        defer {
            close(output)
            close(errors)
        }
        let inherited = ProcessInfo.processInfo.environment.filter { inheritedNames.contains($0.key) }
        let status = CommandLineProgram.run(
            Syncctl.self, arguments,
            in: CommandSurroundings(environment: inherited, output: output, error: errors))
        return CommandResult(
            output: path == nil ? try folder.text("output") : "", errors: try folder.text("errors"),
            status: status)
    }
}
