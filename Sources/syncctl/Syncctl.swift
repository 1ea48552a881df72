import ArgumentParser
import CipherStore
import Foundation
import SyncctlCommands

/// The command line of encrypted stores and their synchronization, servers included.
@main
struct Syncctl: ParsableCommand {
    static let configuration = CommandLineProgram.configuration(
        watching: [WatchCommand.self, ShareCommand.self],
        serving: [
            ServeCommand.self, InviteCommand.self, DeviceCommand.self, ConsoleCommand.self,
            RemoteCommand.self, RelayCommand.self,
        ])

    static func main() {
        #if DEBUG
            // Tests run it hundreds of times, and deriving a key is slow on purpose.
            if let folder = ProcessInfo.processInfo.environment["CIPHERSTORE_KEYS_OF_TESTS"] {
                DerivedKeyMemo.enable(sharing: folder)
            }
        #endif
        CommandLineProgram.run(Self.self, network: Network())
    }
}
