import CipherStore
import Foundation
import Hummingbird
import SyncEngine
import SyncHTTP

@main
struct TeamServer {
    static let usage = """
        usage: team-server user NAME TEAM reader|writer      (reads the password from standard input)
               team-server remove NAME
               team-server serve HOST SYNC-PORT PORTAL-PORT  (HOST: what devices call this machine)
        TEAM_FOLDER names the folder of the stores, TEAM_PASSPHRASE_FILE the file with their passphrase.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("team-server: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ words: [String]) async throws {
        guard !words.isEmpty else { return print(usage) }
        let users = try Users(path: path("users.db"), configuration: configuration())
        let team = try Team(path: path("team.db"), configuration: configuration())
        switch (words.first, words.count) {
        case ("user", 4):
            guard let role = User.Role(rawValue: words[3]) else { throw Problem(usage) }
            guard let password = readLine() else { throw Problem("the password comes from standard input") }
            try await users.set(words[1], team: words[2], role: role, password: password)
            if let user = try await users.user(words[1], password: password) { try team.update(user) }
        case ("remove", 2):
            // The devices first: should that fail, the user is still there to be removed.
            try team.withdrawInvitations(of: words[1])
            let count = try team.revoke(of: words[1])
            guard try await users.remove(words[1]) || count > 0 else {
                throw Problem("there is no user \(words[1])")
            }
        case ("serve", 4):
            guard let syncPort = Int(words[2]), let portalPort = Int(words[3]) else { throw Problem(usage) }
            try await serve(words[1], syncPort, portalPort, users, team)
        default: throw Problem(usage)
        }
    }

    /// Serves devices and the portal until a signal comes.
    static func serve(
        _ host: String, _ syncPort: Int, _ portalPort: Int, _ users: Users, _ team: Team
    ) async throws {
        let server = try HubServer([team.synchronizer], options: .init(host: "0.0.0.0", port: syncPort))
        let portal = Application(
            router: Portal(users: users, team: team).router(),
            configuration: .init(address: .hostname("127.0.0.1", port: portalPort)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run(endsBySignal: true) { listening in
                    do {
                        // Invitations say where the server is, and which certificate it has.
                        try team.devices.noteAddress(
                            ServerAddress(host: host, port: listening.port, trust: listening.trust))
                    } catch {
                        FileHandle.standardError.write(Data("team-server: \(error)\n".utf8))
                    }
                }
            }
            group.addTask { try await portal.runService() }
            // Both end by a signal, each when its requests are finished. A failure of one ends the other.
            do {
                while try await group.next() != nil {}
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }

    // MARK: Settings

    static func path(_ name: String) -> String {
        (ProcessInfo.processInfo.environment["TEAM_FOLDER"] ?? ".") + "/" + name
    }

    /// A passphrase is no argument: others would see it in the list of processes.
    static func configuration() throws -> Configuration {
        guard let file = ProcessInfo.processInfo.environment["TEAM_PASSPHRASE_FILE"] else {
            throw Problem("TEAM_PASSPHRASE_FILE has to name a file with the passphrase")
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try configuration(Passphrase(text.trimmingCharacters(in: .newlines)))
    }

    static func configuration(_ passphrase: borrowing Passphrase) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.busyMode = .timeout(5)  // seconds to wait while another process writes
        configuration.usePassphrase(passphrase)
        return configuration
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
