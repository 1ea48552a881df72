import ArgumentParser

/// When changes are compressed on their way to another machine.
package enum Compression: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Unless the server is on this machine.
    case automatic
    /// Always.
    case always
    /// Never.
    case never
}

/// The option that chooses it.
package struct CompressionOption: ParsableArguments {
    @Option(
        name: .customLong("compression"),
        help: ArgumentHelp(
            "When changes are compressed on their way: automatic (unless the server is on this machine), always, never (default: automatic).",
            valueName: "when"))
    var given: Compression?

    /// What was said, or what is usual.
    package var compression: Compression { given ?? .automatic }

    package init() {}
}
