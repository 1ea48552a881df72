import Foundation

exit(ScaleProgram.run(Array(CommandLine.arguments.dropFirst())))
