#if os(Linux)
    import Foundation
    import Testing

    /// The file of the token that a relay wants of those who make channels.
    @Suite struct AdmissionFileTests {
        private let place: Workplace

        init() throws { place = try Workplace() }

        /// Whoever pastes a hint must not lose the passphrase that was named by mistake.
        @Test func noHintWritesIntoTheFileThatIsNamed() throws {
            try place.makeStore("a.db", "a")
            let secret = place.secret("a")
            let share = try place.run([
                "share", place.path("a.db"), "--relay", "https://127.0.0.1:1", "--passphrase-file", secret,
                "--admission-file", secret,
            ])
            #expect(share.status == 1 && share.errors.contains("64 hexadecimal digits"), "\(share.errors)")
            #expect(share.errors.contains("whoever runs the relay"), "\(share.errors)")
            let relay = try place.run([
                "relay", "--storage", place.path("relay.db"), "--listen", "127.0.0.1:0",
                "--admission-file", secret,
            ])
            #expect(relay.status == 1 && relay.errors.contains("openssl rand -hex 32"), "\(relay.errors)")
            for errors in [share.errors, relay.errors] { #expect(!errors.contains("> \(secret)")) }
        }
    }
#endif
