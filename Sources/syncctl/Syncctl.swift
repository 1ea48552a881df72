import ArgumentParser
import SyncctlCommands

/// The command line of encrypted stores and their synchronization, servers included.
@main
struct Syncctl: ParsableCommand {
    static let configuration = CommandLineProgram.configuration(
        watching: [WatchCommand.self],
        serving: [
            ServeCommand.self, InviteCommand.self, DeviceCommand.self, ConsoleCommand.self,
            RemoteCommand.self,
        ])

    static func main() { CommandLineProgram.run(Self.self, network: Network()) }
}
