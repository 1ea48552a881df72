#if os(Linux)
    import Foundation
    import Glibc
    import Testing

    /// A `syncctl serve` that runs beside a test.
    ///
    /// It ends with this object, and by itself after ten minutes, so that none outlives tests that are killed.
    final class ServerProcess {
        private let folder: TemporaryFolder
        private let process: pid_t
        private var status: Int32?
        /// The port; nil when it ended before it listened.
        private(set) var port: Int?

        /// Starts a server on any port, and waits until it listens or has ended.
        ///
        /// - parameters:
        ///     - stores: The names of the stores in the workplace.
        ///     - environment: Variables for the server alone.
        init(
            _ place: Workplace, _ stores: [String], _ passphrase: String, _ arguments: [String] = [],
            environment: [String: String] = [:]
        ) throws {
            folder = try TemporaryFolder()
            try folder.write("", to: "input")
            guard let program = CommandRunner.program else {
                throw CommandRunner.Problem(text: "syncctl was not found beside the tests")
            }
            let inherited = CommandRunner.inherited
            // env sets the variables for the server and not for timeout.
            let words =
                ["-k", "5", "600", "env"] + environment.map { "\($0.key)=\($0.value)" } + [program, "serve"]
                + stores.map(place.path) + ["--listen", "127.0.0.1:0", "--json"]
                + ["--passphrase-file", place.secret(passphrase)] + arguments
            process = try CommandRunner.spawn("/usr/bin/timeout", words, inherited, folder)
            try waitUntilItListens()
        }

        deinit {
            kill()
        }

        /// What it wrote on stderr.
        var errors: String { (try? folder.text("errors")) ?? "" }

        /// What it printed.
        var output: String { (try? folder.text("output")) ?? "" }

        private func waitUntilItListens() throws {
            while true {
                if let line = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first
                {
                    let document = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    port = document?["port"] as? Int
                    return
                }
                // timeout ends it when it neither listens nor ends.
                if hasEnded() { return }
                usleep(20_000)
            }
        }

        /// Sends the server the signal by which services read their settings again.
        func reload() throws {
            // It is the child of timeout, which would end it soon after any signal.
            let children = try String(
                contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
            guard let child = children.split(separator: " ").first.flatMap({ pid_t($0) }) else {
                throw CommandRunner.Problem(text: "the server has no process")
            }
            Glibc.kill(child, SIGHUP)
        }

        /// Waits for words on stderr.
        ///
        /// - returns: Whether they came before the server ended.
        func waitForErrors(containing text: String) -> Bool {
            while !errors.contains(text) {
                if hasEnded() { return errors.contains(text) }
                usleep(20_000)
            }
            return true
        }

        private func hasEnded() -> Bool {
            guard status == nil else { return true }
            var code: Int32 = 0
            guard waitpid(process, &code, WNOHANG) == process else { return false }
            status = code
            return true
        }

        /// Waits for its end, which somebody else brought about.
        ///
        /// - returns: The exit code, or the negated number of the signal.
        @discardableResult
        func waitForEnd() -> Int32 {
            if status == nil {
                var code: Int32 = 0
                while waitpid(process, &code, 0) < 0 && errno == EINTR {}
                status = code
            }
            let code = status ?? 0
            let signal = code & 0x7F
            return signal == 0 ? (code >> 8) & 0xFF : -signal
        }

        /// Asks it to end, and waits.
        @discardableResult
        func stop() -> Int32 {
            if !hasEnded() { _ = Glibc.kill(process, SIGTERM) }
            return waitForEnd()
        }

        /// Kills it, and waits.
        func kill() {
            guard !hasEnded() else { return }
            _ = Glibc.kill(-process, SIGKILL)
            waitForEnd()
        }
    }
#endif
