import ArgumentParser
import SyncctlCommands

/// The command line without servers and ssh: stores, files, folders and bundles. It is built in a third of the time.
@main
struct SyncctlLocal: ParsableCommand {
    static let configuration = CommandLineProgram.configuration(name: "syncctl-local")

    static func main() { CommandLineProgram.run(Self.self) }
}
