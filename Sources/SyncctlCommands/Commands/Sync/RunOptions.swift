import ArgumentParser

/// How often the commands that exchange changes do so, and with whom.
struct RunOptions: ParsableArguments {
    @Flag(help: "Exchange with all remotes that the store remembers, one after the other.")
    var all = false

    @Flag(help: "Say how many rows of each table would go and come, and exchange nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Go on until Ctrl-C, with so much time in between: 30s, 5m or 2h. After a failure it takes longer.",
            valueName: "time"), transform: PauseArgument.parse)
    var every: PauseArgument?

    @Option(
        help: ArgumentHelp(
            "Wait so long for a store that another process uses (default: 5).", valueName: "seconds"))
    var wait: Double?

    func validate() throws {
        if dryRun && every != nil { throw ValidationError("--dry-run excludes --every") }
        if let wait, !(wait >= 0 && wait <= 86_400) {
            throw ValidationError("--wait takes seconds, up to 86400")
        }
    }

    /// Throws for what does not go together.
    func validate(with remote: RemoteOptions) throws {
        if all && remote.given != nil { throw ValidationError("--all excludes --remote") }
        if all && remote.bucket.isGiven { throw ValidationError("--all excludes --s3-endpoint and its like") }
        if all && remote.cost.cost != nil { throw ValidationError("--all excludes --cost") }
        if dryRun && (remote.create || remote.scope.isGiven) {
            throw ValidationError("--dry-run changes nothing, so it excludes --create and choices of tables")
        }
    }
}

/// A time between two runs.
package struct PauseArgument: FormedArgument, Equatable {
    package static let forms = "30s, 5m, 2h or 1d"

    /// The time.
    package let seconds: Int

    package init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()),
            count > 0, count <= 31_536_000 / unit
        else { return nil }
        seconds = count * unit
    }
}
