import CipherStore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What can be wrong with the files of a store; no passphrase is needed.
struct StoreFileChecks {
    let store: String
    /// The time now, in seconds since 1970.
    let now: TimeInterval

    /// How far a file may be ahead of the clock, in seconds.
    private static let clockTolerance: TimeInterval = 600
    /// In the year 4188. Later ones are shown as this.
    private static let lastShownSecond: TimeInterval = 70_000_000_000

    private var file: String { URL(fileURLWithPath: store).resolvingSymlinksInPath().path }
    private var keyring: Keyring { Keyring(store: store) }

    func findings() -> [Finding] {
        modeFindings() + folderFindings() + clockFindings() + leftoverFindings() + keyringFindings()
    }

    // MARK: - Permissions

    private var paths: [String] {
        [file] + ["-wal", "-shm", "-journal"].map { file + $0 } + [keyring.path, keyring.path + ".bak"]
    }

    private func modeFindings() -> [Finding] {
        paths.compactMap { path in
            guard let information = Self.information(path), information.st_mode & 0o077 != 0 else {
                return nil
            }
            let isKeyring = path.hasPrefix(keyring.path)
            return .warning(
                "\(path) is open to others (mode \(Self.octal(information.st_mode)))",
                why: isKeyring
                    ? "who reads a keyring can try passphrases, for as long as it takes"
                    : "who reads the file sees its size and when it changes, and can try passphrases; who writes to it can destroy it",
                advice: "chmod 600 \(CommandWords.path(path))")
        }
    }

    private func folderFindings() -> [Finding] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard let information = Self.information(folder), information.st_mode & 0o022 != 0,
            information.st_mode & UInt32(S_ISVTX) == 0
        else { return [] }
        return [
            .warning(
                "others can write to the folder \(folder) (mode \(Self.octal(information.st_mode)))",
                why:
                    "they can put another file, or an older copy, in the place of the store or of its keyring",
                advice: "chmod go-w \(CommandWords.path(folder))")
        ]
    }

    // MARK: - Clock

    private func clockFindings() -> [Finding] {
        guard let information = Self.information(file) else { return [] }
        #if canImport(Darwin)
            let changed = TimeInterval(information.st_mtimespec.tv_sec)
        #else
            let changed = TimeInterval(information.st_mtim.tv_sec)
        #endif
        guard changed > now + Self.clockTolerance else { return [] }
        // A file can have a time that no calendar has.
        let shown = Int64(min(changed, Self.lastShownSecond) * 1000)
        return [
            .warning(
                "\(file) was written in the future, at \(HumanFormat.timestamp(shown, style: .second))",
                why: "which of two edits is the later one is told by the clocks of the devices",
                advice: "compare the clock with another one, and set it before you write or synchronize")
        ]
    }

    // MARK: - Leftovers

    private func leftoverFindings() -> [Finding] {
        let leftovers = StoreLeftovers.find(beside: store).map { path in
            Finding.warning(
                "\(path) was left by an operation that was killed, or belongs to one that is running",
                why: "it takes room, and may hold the store under an old passphrase",
                advice: "if no syncctl is at work: rm \(CommandWords.path(path))")
        }
        let stale = StoreLeftovers.staleKeyrings(beside: store).map { path in
            Finding.note(
                "\(path) is a keyring that was not that of the file",
                why: "it may open an older version of the store",
                advice: "remove it when you keep no such version: rm \(CommandWords.path(path))")
        }
        let doubtful = StoreLeftovers.doubtful(beside: store).map { path in
            Finding.note(
                "\(path) has a name such as older versions gave to temporary files, or is a file of yours",
                why: "what an operation that was killed left may hold the store under an old passphrase",
                advice: "look at what it is; if you did not make it, and no syncctl is at work, remove it"
            )
        }
        return leftovers + doubtful + stale
    }

    // MARK: - Keyring

    private func keyringFindings() -> [Finding] {
        guard keyring.exists else { return [] }
        let name = CommandWords.path(store)
        let advice = KeyringAdvice(store: store)
        let information: Keyring.Information
        do {
            information = try keyring.information()
        } catch {
            return [
                .error(
                    "\(error)", why: "nothing opens the store without its keyring",
                    advice: advice.forKeyring ?? "look again: syncctl doctor \(name)")
            ]
        }
        if let forKeyring = advice.forKeyring {
            return [
                .error(
                    "\(keyring.path) belongs to another file, or to another version of this one",
                    why: "none of its slots opens the store, so a recovery key of it is of no use",
                    advice: forKeyring)
            ]
        }
        var findings = information.slots.compactMap { Self.costFinding($0, name) }
        if information.slots.count == 1 {
            findings.append(
                .warning(
                    "the keyring has one slot only", why: "if what opens it is lost, so is the data",
                    advice: "add a recovery key, and print it: syncctl key add \(name) --recovery"))
        }
        if let forCopy = advice.forCopy {
            findings.append(
                .warning(
                    "\(keyring.copyPath), the copy of the keyring, \(advice.lacksCopy ? "is missing" : "can't be used")",
                    why: "it replaces a keyring that is damaged", advice: forCopy))
        }
        if information.isRotating {
            findings.append(
                .note(
                    "a change of the data key was interrupted",
                    why: "the next opening of the store settles it",
                    advice: "open the store: syncctl status \(name)"))
        }
        return findings
    }

    private static func costFinding(_ slot: KeySlot, _ name: String) -> Finding? {
        guard let cost = slot.cost, cost.logN < ScryptCost.standard.logN else { return nil }
        return .warning(
            "slot \(slot.id) asks for \(HumanFormat.bytes(cost.memoryByteCount)) of memory for each try of a passphrase",
            why:
                "\(HumanFormat.bytes(ScryptCost.standard.memoryByteCount)) are recommended: who has the keyring can try passphrases the faster, the less it is",
            advice: "set the passphrase again: syncctl key passwd \(name)")
    }

    // MARK: - Files

    private static func information(_ path: String) -> stat? {
        var information = stat()
        return stat(path, &information) == 0 ? information : nil
    }

    private static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}
