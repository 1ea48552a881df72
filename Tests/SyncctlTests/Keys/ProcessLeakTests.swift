#if os(Linux)
    import Foundation
    import Glibc
    import Testing

    /// What others can see of the process: its command line, its environment, that of its children, and
    /// what it leaves when it crashes.
    @Suite struct ProcessLeakTests {
        private static func readable(_ path: String) -> String {
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            return String(decoding: bytes.map { $0 == 0 ? 10 : $0 }, as: UTF8.self)
        }

        /// The texts of all files below a folder, but for the passphrases'.
        private static func texts(_ place: Workplace) throws -> [String: Data] {
            var texts: [String: Data] = [:]
            for name in try place.contents() {
                texts[name] = FileManager.default.contents(atPath: place.path(name)) ?? Data()
            }
            return texts
        }

        /// Runs a command with a passphrase in a variable and one in a file, and has it run another
        /// command for a third one while it holds the first two.
        private static func run(
            _ place: Workplace, _ script: String, backtrace: String = "enable=no"
        ) throws -> CommandResult {
            // Read by a shell, not run: a process that another test starts may still have it open for writing.
            try place.folder.write(script + "\n", to: "third.sh")
            return try place.run(
                [
                    "rekey", place.path("a.db"), "--passphrase-file", place.secret("a"),
                    "--new-passphrase-command", "/bin/sh " + place.path("third.sh"),
                ],
                environment: [
                    "SYNCCTL_TO_PASSPHRASE": Workplace.passphrase("c"),
                    "SWIFT_BACKTRACE": backtrace,
                ])
        }

        @Test func neitherTheProcessListNorAChildShowsAPassphrase() throws {
            let place = try Workplace()
            try place.makeStore("a.db", "a")
            let result = try Self.run(
                place,
                """
                cat /proc/$PPID/cmdline /proc/$PPID/comm > '\(place.path("list"))'
                env > '\(place.path("environment"))'
                ls -l /proc/self/fd/ > '\(place.path("descriptors"))'
                cat '\(place.secret("b"))'
                """)
            #expect(result.status == 0, "\(result.errors)")
            #expect(Self.readable(place.path("list")).contains("rekey"))
            #expect(Self.readable(place.path("environment")).contains("PATH="))
            for name in ["list", "environment", "descriptors"] {
                #expect(!Self.readable(place.path(name)).contains("kestrel-4711"), "\(name)")
            }
            // Neither the store nor the file of the passphrase is open in the child. Files of other
            // tests may be: these run in the process that has started the command.
            let descriptors = Self.readable(place.path("descriptors"))
            #expect(descriptors.contains(place.path("descriptors")))
            #expect(!descriptors.contains(place.path("a.db")) && !descriptors.contains(place.secret("a")))
            #expect(try place.rows("a.db", "b").count == 20)
        }

        /// Swift's own report of a crash, which shows registers and what they point to, lets the process
        /// go on when the signal came from outside: then a second one ends it. A signal that comes while the
        /// report is made jumps into the thread that makes it, and the process ends by an exit code, 120, so the
        /// second one waits until the reporter is gone.
        @Test(arguments: [
            (SIGSEGV, "enable=yes,symbolicate=off,color=no,registers=all,threads=all,output-to=stderr"),
            (SIGABRT, "enable=no"), (SIGILL, "enable=no"),
        ]) func aCrashShowsNoPassphraseAndLeavesNoCore(signal: Int32, backtrace: String) throws {
            let place = try Workplace()
            try place.makeStore("a.db", "a")
            let before = try place.rows("a.db", "a")
            // How often the reporter is looked for until it has begun.
            let turns = backtrace == "enable=no" ? 3 : 100
            let result = try Self.run(
                place,
                """
                reporting() {
                    for process in $(grep -ls swift-backtrace /proc/[0-9]*/comm); do
                        grep -qs "^PPid:[[:space:]]*$PPID$" "${process%comm}status" && return 0
                    done
                    return 1
                }
                for turn in $(seq 100); do
                    grep -q syncctl /proc/$PPID/comm || exit 1
                    kill -\(signal) $PPID
                    for wait in $(seq \(turns)); do
                        reporting && break
                        sleep 0.1
                    done
                    while reporting; do sleep 0.1; done
                done
                cat '\(place.secret("b"))'
                """, backtrace: backtrace)
            #expect(result.status == -signal, "\(result.errors)")
            let secret = Data("kestrel-4711".utf8)
            for (name, content) in try Self.texts(place) {
                #expect(content.range(of: secret) == nil, "\(name)")
                #expect(!name.hasPrefix("core"))
            }
            // `run` has looked at what was printed.
            #expect(try place.rows("a.db", "a") == before)
        }
    }
#endif
