import Foundation

exit(await RelayProgram.run(Array(CommandLine.arguments.dropFirst())))
