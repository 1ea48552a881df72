import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands
import Synchronization

/// Remotes that ssh reaches: `ssh://host/path/hub.db`.
struct SSHRemote {
    private let user: String?
    private let host: String
    private let port: Int?
    private let path: String
    private let name: String
    /// The command there; the path is added to it.
    let command: String

    /// Reads a remote.
    ///
    /// - throws: ``Failure`` for what is none.
    init(_ remote: String, command: String?) throws {
        let wrong = Failure.usage(
            "\(remote) names no store that ssh reaches",
            hints: ["write it as ssh://host/path/hub.db, ssh://user@host:port/path, or ssh://host/~/path"])
        guard remote.hasPrefix(RemoteArgument.sshScheme) else { throw wrong }
        let rest = remote.dropFirst(RemoteArgument.sshScheme.count)
        guard let slash = rest.firstIndex(of: "/") else { throw wrong }
        var authority = String(rest[..<slash])
        var user: String?
        if let at = authority.lastIndex(of: "@") {
            user = String(authority[..<at])
            authority = String(authority[authority.index(after: at)...])
        }
        let (host, port) = ServerAddress.split(authority).map { ($0.host, $0.port) } ?? (authority, nil)
        // What has a colon and is no host with a port has a port that there is not.
        guard port != nil || host.filter({ $0 == ":" }).count != 1 else { throw wrong }
        let path = String(rest[slash...])
        let isHome = path.hasPrefix("/~/")
        // A name that begins with a dash would be an option of ssh, which can run commands here.
        for word in [host] + (user.map { [$0] } ?? []) {
            let isName = word.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2D, 0x2E, 0x5F, 0x3A].contains($0)
            }
            guard !word.isEmpty, isName, !word.hasPrefix("-") else { throw wrong }
        }
        guard path.utf8.count > (isHome ? 3 : 1), !path.utf8.contains(0), port.map({ $0 > 0 }) ?? true else {
            throw wrong
        }
        self.user = user
        self.host = host
        self.port = port
        self.path = isHome ? String(path.dropFirst(3)) : path
        name = remote
        self.command = command ?? "syncctl serve --stdio"
    }

    /// Has ssh end after a minute without a sign of life: a network that is gone would be waited for for hours.
    private static let signsOfLife = ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]

    /// The words after `ssh`.
    var arguments: [String] {
        // Always quoted, because the shell there is not known, and what is plain to one is not to another.
        let quoted = CommandWords.inSingleQuotes(CommandWords.unmistakable(path))
        let portWords = port.map { ["-p", String($0)] } ?? []
        let userWords = user.map { ["-l", $0] } ?? []
        return Self.signsOfLife + portWords + userWords + [host, command + " " + quoted]
    }

    /// The transport, which runs ssh when it connects.
    func transport(for store: String, isCompressed: Bool = true) -> some Transport {
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path
        let arguments = arguments
        let ending = SSHEnding()
        let pipe = PipeTransport(name: name, folder: folder, isCompressed: isCompressed) {
            try Self.run(arguments, ending)
        }
        return SSHTransport(pipe: pipe, ending: ending)
    }

    private static func run(_ arguments: [String], _ ending: SSHEnding) throws -> PipeTransport.Pipe {
        guard let program = ProgramSearch.find("ssh", in: getenv("PATH").map { String(cString: $0) }) else {
            throw Failure(
                "the program ssh is not on this machine, or in no folder of PATH",
                hints: [
                    "install it, on Debian and Ubuntu with: apt install openssh-client",
                    "where it is elsewhere, add its folder to PATH",
                ])
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        // Neither ssh nor what it runs needs a passphrase, and it may be set to send variables to the other machine.
        process.environment = PassphraseEnvironment.forChildren()
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = output
        process.standardOutput = input
        // Its own way of waiting runs a run loop, which was seen to sleep on when the clock had been set.
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            let reason = (error as? CocoaError)?.systemText ?? error.localizedDescription
            throw Failure("\(program) can't be run: \(reason)")
        }
        return PipeTransport.Pipe(
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor
        ) {
            // The end of its input is how it knows.
            try? output.fileHandleForWriting.close()
            ended.wait()
            if process.terminationReason == .exit {
                ending.status.withLock { $0 = process.terminationStatus }
            }
            try? input.fileHandleForReading.close()
        }
    }
}

/// How the last ssh ended.
private final class SSHEnding: Sendable {
    /// Its exit code; nil before the first one has ended, or when a signal ended it.
    let status = Mutex<Int32?>(nil)
}

/// A store that ssh reaches. It tells a connection that could not be made, which may pass, from a command that failed on
/// the other machine, which fails again.
private struct SSHTransport: Transport {
    /// What ssh ends with when it fails itself.
    private static let ownFailure: Int32 = 255
    /// What a shell ends with that does not find a command.
    private static let commandMissing: Int32 = 127

    let pipe: PipeTransport
    let ending: SSHEnding

    var name: String { pipe.name }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        ending.status.withLock { $0 = nil }
        do {
            return try pipe.connect(environment)
        } catch let error as RemoteError where error.code == .unreachable {
            guard let status = ending.status.withLock({ $0 }), status != 0, status != Self.ownFailure else {
                throw error
            }
            throw Failure.remoteCommand(
                "\(name): the command there ended with exit code \(status); its messages say why", status,
                hints: status == Self.commandMissing
                    ? ["say where syncctl is there: --remote-command '/path/to/syncctl serve --stdio'"] : [])
        }
    }
}
