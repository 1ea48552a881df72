import ArgumentParser

/// The documented exit codes of `syncctl`.
///
/// Scripts depend on them: a code never changes its meaning. New codes may be added, and a
/// script treats a code that it does not know as a failure.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    /// The command did what was asked.
    case success = 0
    /// The command failed, and no other code describes why.
    case failure = 1
    /// The command finished, and something needs attention: open conflicts, skipped rows.
    case attention = 3
    /// The store does not exist.
    case storeMissing = 10
    /// The store is busy, or locked by another process.
    case storeBusy = 11
    /// No key opens the store.
    case noKeyOpens = 12
    /// The remote cannot be reached; a retry may help.
    case remoteUnreachable = 13
    /// The remote refused: an unknown device, or a wrong group key.
    case remoteRefused = 14
    /// A version or schema does not match.
    case versionMismatch = 15
    /// An integrity check failed.
    case integrityFailed = 16
    /// The command line is wrong.
    case usage = 64
    /// The user cancelled the command.
    case cancelled = 130

    /// The value that ends a command through ArgumentParser.
    package var exitCode: ExitCode {
        ExitCode(rawValue)
    }
}
