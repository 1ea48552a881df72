/// The failures that commands find out about by themselves, with their exit codes: errors of the libraries get theirs in
/// `Failure(explaining:store:)`.
extension Failure {
    /// A file that a command reads is not there.
    package static func missing(_ path: String, _ what: String = "file", hints: [String] = []) -> Failure {
        Failure("\(path): there is no such \(what)", hints: hints, status: .storeMissing)
    }

    /// What was given does not open a file, or is given to a file that it can't open.
    static func noKeyOpens(_ message: String, hints: [String] = []) -> Failure {
        Failure(message, hints: hints, status: .noKeyOpens)
    }

    /// The other side belongs to something else.
    static func refused(_ message: String, hints: [String] = []) -> Failure {
        Failure(message, hints: hints, status: .remoteRefused)
    }

    /// A file is not what was written.
    static func damaged(_ message: String, hints: [String] = []) -> Failure {
        Failure(message, hints: hints, status: .integrityFailed)
    }

    /// A file needs another version of a library.
    static func versionMismatch(_ message: String, hints: [String] = []) -> Failure {
        Failure(message, hints: hints, status: .versionMismatch)
    }

    /// A `syncctl` on another machine failed. Its exit code means there what it means here.
    package static func remoteCommand(_ message: String, _ code: Int32, hints: [String]) -> Failure {
        let status = ExitStatus(rawValue: code)
        let isOfTheStore = status.map {
            [.storeMissing, .storeBusy, .noKeyOpens, .versionMismatch, .integrityFailed].contains($0)
        }
        return Failure(message, hints: hints, status: isOfTheStore == true ? status ?? .failure : .failure)
    }

    /// The user pressed Ctrl-C while a step ran, which was undone.
    static let interrupted = Failure("cancelled; nothing of this step was applied", status: .cancelled)
}
