#if os(Linux)
    import Foundation
    import Glibc
    import Testing

    /// A `syncctl relay` that runs beside a test.
    ///
    /// It ends with this object, and by itself after ten minutes, so that none outlives tests that are killed.
    final class RelayProcess {
        private let folder: TemporaryFolder
        private let process: pid_t
        private var status: Int32?
        /// What it printed when it listened; empty when it ended before.
        private(set) var document: [String: Any] = [:]

        /// Starts a relay, and waits until it listens or has ended.
        ///
        /// - parameters:
        ///     - port: The port of one that ran before; 0 for any.
        ///     - storage: Where it keeps the channels; nil when the arguments say it.
        convenience init(_ place: Workplace, port: Int = 0, _ arguments: [String] = []) throws {
            try self.init(place, port: port, storage: place.path("relay.db"), arguments)
        }

        init(_ place: Workplace, port: Int = 0, storage: String?, _ arguments: [String] = []) throws {
            folder = try TemporaryFolder()
            try folder.write("", to: "input")
            guard let program = CommandRunner.program else {
                throw CommandRunner.Problem(text: "syncctl was not found beside the tests")
            }
            let words =
                ["-k", "5", "600", program, "relay"] + (storage.map { ["--storage", $0] } ?? [])
                + ["--listen", "127.0.0.1:\(port)", "--json"] + arguments
            process = try CommandRunner.spawn("/usr/bin/timeout", words, CommandRunner.inherited, folder)
            try waitUntilItListens()
        }

        deinit { kill() }

        var port: Int { document["port"] as? Int ?? 0 }
        var url: String { document["url"] as? String ?? "" }
        var fingerprint: String { document["fingerprint"] as? String ?? "" }
        /// What it wrote on stderr.
        var errors: String { (try? folder.text("errors")) ?? "" }

        private func waitUntilItListens() throws {
            while true {
                let output = (try? folder.text("output")) ?? ""
                if let line = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first
                {
                    document =
                        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
                    return
                }
                // timeout ends it when it neither listens nor ends.
                if hasEnded() { return }
                usleep(20_000)
            }
        }

        private func hasEnded() -> Bool {
            guard status == nil else { return true }
            var code: Int32 = 0
            guard waitpid(process, &code, WNOHANG) == process else { return false }
            status = code
            return true
        }

        private func waitForEnd() -> Int32 {
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
            _ = waitForEnd()
        }
    }
#endif
