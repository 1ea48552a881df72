/// What a command has around it that runs within another program, such as a test: variables and streams of its own
/// in place of the process's, nobody to ask, and no signals.
package struct CommandSurroundings: Sendable {
    /// The surroundings of the commands of this task; nil for those of the process.
    @TaskLocal static var current: CommandSurroundings?

    /// The variables.
    let environment: [String: String]
    /// Where stdout and stderr go.
    let streams: Terminal.Streams

    /// Makes surroundings.
    ///
    /// - parameters:
    ///   - environment: The variables.
    ///   - output: The descriptor that stands for stdout.
    ///   - error: The descriptor that stands for stderr.
    package init(environment: [String: String], output: Int32, error: Int32) {
        self.environment = environment
        var streams = Terminal.Streams()
        (streams.output, streams.error) = (output, error)
        (streams.outputIsTerminal, streams.errorIsTerminal) = (false, false)
        self.streams = streams
    }
}
