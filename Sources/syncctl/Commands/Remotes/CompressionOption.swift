import ArgumentParser
import SyncHTTP

/// When changes are compressed on their way to another machine.
struct CompressionOption: ParsableArguments {
    @Option(
        name: .customLong("compression"),
        help: ArgumentHelp(
            "When changes are compressed on their way: automatic (unless the server is on this machine), always, never (default: automatic).",
            valueName: "when"))
    var given: HTTPTransport.Compression?

    /// What was said, or what is usual.
    var compression: HTTPTransport.Compression { given ?? .automatic }

    /// How requests of commands are made.
    func options() -> HTTPTransport.Options {
        var options = InviteArgument.options()
        options.compression = compression
        return options
    }
}

extension HTTPTransport.Compression: ExpressibleByArgument {}
