import Foundation

exit(GrowthProgram.run(Array(CommandLine.arguments.dropFirst())))
