import ArgumentParser

/// The program that a command is part of: commands that describe the others ask it.
///
/// A metatype is immutable, which the compiler does not see for one of a protocol.
struct RootCommand: @unchecked Sendable {
    let type: any ParsableCommand.Type

    @TaskLocal static var current: RootCommand?

    /// The root of the program that runs.
    ///
    /// - throws: ``Failure`` outside of a command.
    static func require() throws -> any ParsableCommand.Type {
        guard let current else { throw Failure("no program is known to describe") }
        return current.type
    }

    /// The name of the program that runs.
    static var name: String { current?.type.configuration.commandName ?? "syncctl" }
}
