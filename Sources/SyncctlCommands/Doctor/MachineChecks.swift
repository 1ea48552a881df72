import CipherStore
import Foundation

/// What can be wrong with the machine and the library, whichever store is used.
struct MachineChecks {
    /// What `PRAGMA compile_options` gives.
    let compileOptions: [String]
    /// The limit of core dumps of the programs that the user starts.
    let coreLimit: UInt64
    /// The content of `/proc/swaps`; nil where there is no such file.
    let swaps: String?
    /// The time now, in seconds since 1970.
    let now: TimeInterval
    let cipherVersion: String

    /// The time when this was written: no clock that is right shows an earlier one.
    static let earliestTime: TimeInterval = 1_763_000_000

    /// Looks at this machine.
    static func current() throws -> MachineChecks {
        let options = try DatabaseQueue().read { try String.fetchAll($0, sql: "PRAGMA compile_options") }
        return MachineChecks(
            compileOptions: options, coreLimit: ProcessHardening.startingCoreLimit,
            swaps: try? String(contentsOfFile: "/proc/swaps", encoding: .utf8),
            now: Date().timeIntervalSince1970, cipherVersion: EngineFeatures.current.cipherVersion ?? "")
    }

    func findings() -> [Finding] {
        [libraryFinding, temporaryFinding, clockFinding, coreFinding, swapFinding].compactMap { $0 }
    }

    private var libraryFinding: Finding? {
        let numbers = cipherVersion.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2, (numbers[0], numbers[1]) < (4, 14) else { return nil }
        return .note(
            "SQLCipher \(cipherVersion) has the WAL-reset bug of SQLite before 3.51.3",
            why:
                "two connections that write and checkpoint at one moment can damage a store in WAL mode; this library lets only one connection checkpoint, other programs may not",
            advice:
                "do not write to a store with several programs at once, or install SQLCipher 4.14 or newer")
    }

    private var temporaryFinding: Finding? {
        guard compileOptions.contains("TEMP_STORE=0") else { return nil }
        return .error(
            "the library was built to keep temporary data in files", why: "they are not encrypted",
            advice:
                "install an SQLCipher that was built with SQLITE_TEMP_STORE=2, such as that of the distribution"
        )
    }

    private var clockFinding: Finding? {
        guard now < Self.earliestTime else { return nil }
        return .error(
            "the clock shows \(HumanFormat.timestamp(Int64(now * 1000), style: .second))",
            why: "which of two edits is the later one is told by the clocks of the devices",
            advice: "set the clock before you write or synchronize")
    }

    private var coreFinding: Finding? {
        guard coreLimit > 0 else { return nil }
        return .note(
            "core dumps are on",
            why:
                "a program that ends abnormally would write its memory to a file, decrypted rows included; syncctl switches them off for itself, and keys are left out",
            advice: "set the limit to 0 for programs that open stores: ulimit -c 0")
    }

    private var swapFinding: Finding? {
        let devices = (swaps ?? "").split(separator: "\n").dropFirst().compactMap {
            $0.split(separator: " ").first
        }
        // Mapped devices may be encrypted, and compressed memory is none.
        guard
            let device = devices.first(where: { !$0.hasPrefix("/dev/dm-") && !$0.hasPrefix("/dev/zram") })
        else { return nil }
        return .note(
            "there is swap on \(device)",
            why:
                "keys are locked in memory, but rows that a program has read may be written there, not encrypted",
            advice: "encrypt the swap space, or use none")
    }
}
