#if os(Linux)
    import Foundation
    import Glibc
    import SyncEngine
    import SyncRelay
    import Testing

    /// A relay that takes connections and answers nothing, as one that hangs does.
    @Suite struct SilentRelayTests {
        private let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<3)
        }

        /// A port where nothing is answered, and what closes it.
        private func listen() throws -> (port: Int, descriptor: Int32) {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(listener >= 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && Glibc.listen(listener, 16) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            try #require(isBound)
            return (Int(UInt16(bigEndian: address.sin_port)), listener)
        }

        @Test func theFirstAttemptThatTakesLongIsTold() throws {
            let (port, listener) = try listen()
            defer { close(listener) }
            let queue = try place.open("a.db", "a")
            let address = try RelayAddress(
                host: "127.0.0.1", port: port, fingerprint: Array(repeating: 7, count: 32))
            try RelayBook(Synchronizer(existing: queue)).save(
                KnownRelay(name: "relay", address: address, channel: .random()))
            try queue.close()
            let folder = try TemporaryFolder()
            try folder.write("", to: "input")
            let words =
                ["-k", "5", "300", try #require(CommandRunner.program), "sync", place.path("a.db")]
                + ["--passphrase-file", place.secret("a")]
            let process = try CommandRunner.spawn(
                "/usr/bin/timeout", words, CommandRunner.inherited, folder)
            var status: Int32 = 0
            var hasEnded = false
            // All six attempts take a minute.
            while try !hasEnded && !folder.text("errors").contains("\n") {
                hasEnded = waitpid(process, &status, WNOHANG) == process
                usleep(20_000)
            }
            let errors = try folder.text("errors")
            #expect(!hasEnded && errors.contains("trying again in"), "\(errors)")
            guard !hasEnded else { return }
            kill(process, SIGTERM)
            waitpid(process, &status, 0)
        }
    }
#endif
