#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A terminal that does not show what is typed.
///
/// Invariant: while the echo is off, the signals that end or stop a process go to a relay, so that
/// the echo is always on again before the process ends or stops. `end()` switches it on at last.
final class HiddenInput {
    private enum Event {
        case line
        case endOfInput
        case signal(Int32)
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let descriptor: Int32
    private let erasesPrompt: Bool
    private let original: termios
    /// Present while the echo is off.
    private var relay: SignalRelay?

    /// Opens a terminal; nil where there is none.
    ///
    /// - Parameter erasesPrompt: Whether the terminal can erase a line. One that cannot gets a new
    ///   line after each prompt.
    init?(device: String, erasesPrompt: Bool) {
        let descriptor = open(device, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var current = termios()
        guard tcgetattr(descriptor, &current) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.erasesPrompt = erasesPrompt
        original = current
    }

    deinit {
        end()
        close(descriptor)
    }

    /// Shows the prompt and reads one line, without its newline.
    ///
    /// After Ctrl-Z and `fg` it asks anew. The end of the input is a cancellation, and so is a
    /// signal, if the process survives it.
    func readLine(after prompt: String) throws -> SecretBuffer {
        while true {
            let relay = try hideEcho()
            _ = DescriptorOutput.write(shortened(prompt), to: descriptor)
            var buffer = try SecretBuffer()
            let event = try receive(into: &buffer, relay)
            _ = DescriptorOutput.write(erasesPrompt ? "\r\u{1B}[K" : "\n", to: descriptor)
            switch event {
            case .line:
                return buffer
            case .endOfInput:
                throw Failure.cancelled
            case .signal(SIGTSTP):
                end()
                // On this thread, so that it stops here and not somewhere in the next round.
                ThreadSignal.raiseNow(SIGTSTP)
            case .signal(let number):
                end()
                kill(getpid(), number)
                throw Failure.cancelled
            }
        }
    }

    /// Switches the echo on. A signal that came too late for `readLine` is passed on.
    func end() {
        guard let relay else { return }
        var settings = original
        tcsetattr(descriptor, TCSAFLUSH, &settings)
        self.relay = nil
        if let late = relay.stop() { kill(getpid(), late) }
    }

    // MARK: - Private

    /// Switches the echo off, and line editing and the keys for signals on. What was typed before
    /// the prompt is discarded: it was not meant for it.
    private func hideEcho() throws -> SignalRelay {
        if let relay { return relay }
        let relay = try SignalRelay(Self.signals)
        self.relay = relay
        var settings = original
        settings.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        settings.c_lflag |= tcflag_t(ICANON | ISIG)
        settings.c_iflag |= tcflag_t(ICRNL)
        while tcsetattr(descriptor, TCSAFLUSH, &settings) != 0 {
            guard errno == EINTR else {
                throw Failure.system("cannot hide what is typed", code: errno)
            }
        }
        return relay
    }

    private func receive(into buffer: inout SecretBuffer, _ relay: SignalRelay) throws -> Event {
        while true {
            let hasInput = try waitForInput(relay)
            if let number = relay.next() { return .signal(number) }
            guard hasInput else { continue }
            let received = buffer.readOnce(from: descriptor)
            if received == 0 { return buffer.count == 0 ? .endOfInput : .line }
            if received < 0 {
                guard errno == EINTR || errno == EAGAIN else {
                    throw Failure.system("cannot read from the terminal", code: errno)
                }
            } else if buffer.lastByte == UInt8(ascii: "\n") {
                buffer.removeTrailingNewline()
                return .line
            } else if buffer.isFull {
                // Too long. The rest of the line must not answer the next prompt.
                tcflush(descriptor, TCIFLUSH)
                return .line
            }
        }
    }

    /// Waits for input or a signal. True if the terminal has input.
    ///
    /// By select(2), since poll(2) does not work on a terminal on macOS. The macros for `fd_set` are
    /// not imported; on little-endian machines it is a plain row of bits.
    private func waitForInput(_ relay: SignalRelay) throws -> Bool {
        var set = fd_set()
        let highest = max(descriptor, relay.descriptor)
        guard highest < FD_SETSIZE else {
            throw Failure("too many open files to ask for a passphrase")
        }
        withUnsafeMutableBytes(of: &set) { bits in
            for number in [descriptor, relay.descriptor] {
                bits[Int(number) / 8] |= 1 << UInt8(number % 8)
            }
        }
        guard select(highest + 1, &set, nil, nil, nil) > 0 else { return false }
        return withUnsafeBytes(of: &set) { $0[Int(descriptor) / 8] & 1 << UInt8(descriptor % 8) != 0 }
    }

    /// The prompt cut to one line of the terminal, for no more than one line can be erased.
    private func shortened(_ prompt: String) -> String {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return prompt }
        return PrintableText.truncated(prompt, to: Int(size.ws_col) - 1)
    }
}
