import ArgumentParser

/// The options that every command has.
package struct GlobalOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print JSON instead of text.")
    package var isJSON = false

    @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print results and errors only.")
    package var isQuiet = false

    @Flag(name: .customLong("no-progress"), help: "Show no progress line.")
    var hidesProgress = false

    @Option(name: .customLong("color"), help: "When to use color.")
    var color = ColorPolicy.auto

    @Flag(name: .customLong("utc"), help: "Show times in UTC instead of the local zone.")
    var isUTC = false

    /// The zone in which times are shown.
    var zone: DisplayZone { isUTC ? .utc : .local }

    /// The terminal of the process as these options want it.
    func terminal(environment: [String: String]) -> Terminal {
        Terminal.standard(environment: environment, color: color, allowsProgress: allowsProgress)
    }

    /// Whether a progress line may be shown, if stderr is a terminal.
    var allowsProgress: Bool {
        !isJSON && !isQuiet && !hidesProgress
    }

    package init() {}
}
