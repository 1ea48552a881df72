import CipherStore
import Dispatch
import Foundation

@main
struct ImportApp {
    static let usage = """
        usage: import-trips make COUNT > trips.csv
               import-trips FILE STORE          the passphrase is in the file that IMPORT_PASSPHRASE_FILE names
        Ctrl-C ends the import, and leaves the store as it was.
        """

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch words.first {
            case "make": makeTrips(words.dropFirst().first.flatMap { Int($0) } ?? 500_000)
            case let file? where words.count == 2: try await importTrips(file, into: words[1])
            default: say(usage)
            }
        } catch is CancellationError {
            say("\ncancelled: the store is as it was")
            exit(130)
        } catch {
            say("\nimport-trips: \(error)")
            exit(1)
        }
    }

    static func importTrips(_ file: String, into path: String) async throws {
        let passphraseFile = ProcessInfo.processInfo.environment["IMPORT_PASSPHRASE_FILE"] ?? ""
        let passphrase = try Passphrase(
            String(contentsOfFile: passphraseFile, encoding: .utf8).trimmingCharacters(in: .newlines))
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(passphrase)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let begin = ContinuousClock.now
        let importing = Task {
            try await TripImport(database: database).run(file) { rows, share in
                say("\r\(rows) rows, \(Int(share * 100)) %", terminator: "")
            }
        }
        let interrupt = onInterrupt { importing.cancel() }
        defer { interrupt.cancel() }
        let rows = try await importing.value
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        say("\rimported \(rows) rows in \(Int(seconds.rounded(.up))) s")
    }

    /// Calls a function when Ctrl-C is pressed, instead of ending the process.
    static func onInterrupt(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
        return source
    }

    /// Writes made-up trips.
    static func makeTrips(_ count: Int) {
        let zones = ["Harlem", "Chelsea", "Midtown", "Astoria", "Bushwick"]
        print("day,zone,kilometres")
        for number in 0..<count {
            print(
                "2026-\(number % 12 + 1)-\(number % 28 + 1),\(zones[number % zones.count]),\(Double(number % 200) / 10)"
            )
        }
    }

    static func say(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }
}
