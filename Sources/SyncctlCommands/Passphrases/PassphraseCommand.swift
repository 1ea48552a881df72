import CipherStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs a command that prints a passphrase, such as `pass show notes`.
///
/// No shell is involved. The command reads from `/dev/null`, shares our stderr, so that it can say
/// what is wrong, and may use the terminal. What it prints to stdout never becomes part of a
/// message, not even when it fails.
struct PassphraseCommand: Sendable {
    /// How long the command may take, a person's answer to it included.
    var timeout: Duration = .seconds(60)

    /// How long an ended command has to go away before it is killed.
    private static let grace: Duration = .milliseconds(500)

    func read(_ line: String) throws -> Passphrase {
        let words = try CommandWords.split(line)
        // Only the program is named in messages: an argument may be a secret of its own.
        let name = "passphrase command \(CommandWords.quoted(words[0]))"
        let deadline = ContinuousClock.now + timeout
        var buffer = try SecretBuffer()
        var child = try Self.start(words, name: name)
        let result: SecretBuffer.FillResult
        do {
            result = try buffer.fill(from: child.output, origin: "the output of \(name)", until: deadline)
        } catch {
            child.end(grace: Self.grace)
            throw error
        }
        if result == .overflowed {
            child.end(grace: Self.grace)
            throw SecretBuffer.tooLong("the output of \(name)")
        }
        guard result == .ended, let status = child.wait(until: deadline) else {
            child.end(grace: Self.grace)
            throw Failure("\(name) did not end within \(Self.text(timeout))")
        }
        try Self.check(status, name: name)
        buffer.removeTrailingNewline()
        return try buffer.passphrase(from: "the output of \(name)")
    }

    /// Throws unless the status is a normal exit with 0. (The C macros for it are not imported.)
    private static func check(_ status: Int32, name: String) throws {
        let signal = status & 0x7F
        if signal == SIGINT { throw Failure.cancelled }
        guard signal == 0 else { throw Failure("\(name) was ended by signal \(signal)") }
        let code = (status >> 8) & 0xFF
        guard code == 0 else { throw Failure("\(name) failed with exit status \(code)") }
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds > 0 ? "\(seconds) s" : "\(Int(duration / .milliseconds(1))) ms"
    }

    /// Starts the command with its stdout in a pipe.
    private static func start(_ words: [String], name: String) throws -> PassphraseChild {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure.system("cannot start \(name)", code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }

        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // In this order: where our stdin is closed, the pipe may have its number.
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        // The command inherits neither what we ignore nor what our thread blocks. A thread of Dispatch
        // or of Swift's executors blocks SIGTERM, with which the command is ended.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var environment = PassphraseEnvironment.entriesForChildren()
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            close(ends[0])
            throw Failure.system("cannot run \(name)", code: code)
        }
        return PassphraseChild(process: process, output: ends[0])
    }
}

/// A running passphrase command. Its end of the pipe is closed with it.
private struct PassphraseChild: ~Copyable {
    let process: pid_t
    /// Where its stdout can be read.
    let output: Int32
    private var status: Int32?

    init(process: pid_t, output: Int32) {
        self.process = process
        self.output = output
    }

    deinit { close(output) }

    /// The status of the command once it has ended; nil at the deadline.
    mutating func wait(until deadline: ContinuousClock.Instant) -> Int32? {
        var pause: Int32 = 1
        while status == nil {
            var value: Int32 = 0
            let ended = waitpid(process, &value, WNOHANG)
            if ended == process {
                status = value
            } else if ended < 0, errno != EINTR {
                // Somebody else has taken the status. What the command printed cannot be trusted.
                status = 0xFF00
            } else if ContinuousClock.now >= deadline {
                return nil
            } else {
                // A command that has closed its stdout ends at once or, rarely, works on.
                _ = poll(nil, 0, pause)
                pause = min(20, pause * 2)
            }
        }
        return status
    }

    /// Asks the command to end, then makes it end, and leaves no zombie.
    mutating func end(grace: Duration) {
        guard status == nil else { return }
        kill(process, SIGTERM)
        if wait(until: .now + grace) == nil {
            kill(process, SIGKILL)
            _ = wait(until: .now + grace)
        }
    }
}
