import Foundation

// The program starts itself again in other roles, so that each side has memory and processor time of its own.
exit(Role.run(CommandLine.arguments.dropFirst()) ?? RemoteProgram.run(CommandLine.arguments.dropFirst()))
