import CipherStore
import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a run of `syncctl` gave.
struct CommandResult: Sendable {
    let output: String
    let errors: String
    /// The exit code, or the negated number of the signal that ended the process.
    let status: Int32

    /// The JSON document on stdout.
    func document() throws -> [String: Any] { try Self.object(output) }

    /// The one JSON document on stderr.
    func errorDocument() throws -> [String: Any] { try Self.object(errors) }

    private static func object(_ text: String) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        guard let object = value as? [String: Any] else {
            throw CommandRunner.Problem(text: "no JSON object: \(text)")
        }
        return object
    }
}

/// Runs the `syncctl` that was built with the tests.
///
/// The output goes to files rather than to pipes, so that no run can hang on a full pipe, and a
/// process that outlives its time is killed.
enum CommandRunner {
    struct Problem: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// The binary, which lies beside the tests in the folder of the build's products.
    static let program: String? = {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let argument = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
        let folders = (bundles + [argument]).map { $0.deletingLastPathComponent() } + [Bundle.main.bundleURL]
        return folders.map { $0.appendingPathComponent("syncctl").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The variables that a run gets from the tests: nothing that names a passphrase, and what
    /// chooses the SQLCipher that the tests run on.
    static let inheritedNames = [
        "PATH", "LLVM_PROFILE_FILE", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    ]

    /// What a run gets from the tests.
    static var inherited: [String: String] {
        var variables = ProcessInfo.processInfo.environment.filter { inheritedNames.contains($0.key) }
        variables[DerivedKeys.folderVariable] = keysFolder
        return variables
    }

    /// Where runs find the keys that the tests have derived; nil when they derive their own. `Scripts/test` names a
    /// folder that stays.
    private static let keysFolder: String? = {
        #if DEBUG
            if let folder = DerivedKeys.folder {
                DerivedKeys.remember()
                return folder
            }
            let folder = NSTemporaryDirectory() + "syncctl-tests-keys-" + UUID().uuidString
            guard mkdir(folder, 0o700) == 0 else { return nil }
            DerivedKeyMemo.enable(sharing: folder)
            atexit { CommandRunner.removeKeys() }
            return folder
        #else
            return nil
        #endif
    }()

    /// Remembers derived keys, for the runs too.
    static func rememberKeys() {
        if keysFolder == nil { DerivedKeys.remember() }
    }

    private static func removeKeys() {
        if let keysFolder { try? FileManager.default.removeItem(atPath: keysFolder) }
    }

    /// Runs `syncctl`.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", seconds: Int = 600
    ) throws -> CommandResult {
        guard let program else { throw Problem(text: "syncctl was not found beside the tests") }
        return try run(
            program, arguments, environment: inherited.merging(environment) { _, new in new }, input: input,
            seconds: seconds)
    }

    /// Runs any program.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String], input: String = "",
        seconds: Int = 600
    ) throws -> CommandResult {
        let folder = try TemporaryFolder()
        try Data(input.utf8).write(to: URL(fileURLWithPath: folder.file("input")))
        let process = try spawn(program, arguments, environment, folder)
        guard let status = wait(process, seconds) else {
            let printed = try ["output", "errors"].map { try folder.text($0).suffix(2000) }
            throw Problem(
                text: """
                    \(arguments.joined(separator: " ")) took longer than \(seconds) s
                    output: \(printed[0])
                    errors: \(printed[1])
                    """)
        }
        return CommandResult(
            output: try folder.text("output"), errors: try folder.text("errors"), status: status)
    }

    /// POSIX_SPAWN_SETSID, which Swift does not import everywhere. A session of its own has no
    /// terminal, so that no run waits for somebody to type a passphrase.
    private static var sessionFlag: Int16 {
        #if canImport(Darwin)
            0x0400
        #else
            0x80
        #endif
    }

    /// Starts a program whose input and output are files of a folder.
    static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ folder: TemporaryFolder
    ) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of the tests block signals, and a child would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | sessionFlag)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 0, folder.file("input"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.file("output"), flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.file("errors"), flags, 0o600)
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, words, variables)
        guard code == 0 else {
            throw Problem(text: "cannot start \(program): \(String(cString: strerror(code)))")
        }
        return process
    }

    /// Waits for the end of a process; nil when it had to be killed.
    private static func wait(_ process: pid_t, _ seconds: Int) -> Int32? {
        // Whether the process may still be killed, and whether it was: its number is free for
        // others once it has been waited for.
        let state = Mutex((isRunning: true, isKilled: false))
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + .seconds(seconds))
        timer.setEventHandler {
            state.withLock { state in
                guard state.isRunning else { return }
                state.isKilled = true
                kill(process, SIGKILL)
            }
        }
        timer.resume()
        defer { timer.cancel() }
        var information = siginfo_t()
        // WNOWAIT leaves the number taken until the timer can no longer use it.
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let isKilled = state.withLock { state in
            state.isRunning = false
            return state.isKilled
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return isKilled ? nil : signal == 0 ? (status >> 8) & 0xFF : -signal
    }
}

/// A folder of its own for a test, removed when the test ends.
final class TemporaryFolder: Sendable {
    /// The path without links, as the kernel shows it for an open file.
    let path: String

    init() throws {
        CommandRunner.rememberKeys()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "syncctl-tests-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
    }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Writes a passphrase into a file that only its owner can read, and returns the path.
    @discardableResult
    func writePassphrase(_ text: String, to name: String) throws -> String {
        let path = try write(text + "\n", to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}
