import CipherStore
import SyncEngine

/// What can be wrong with a store that is open.
struct OpenStoreChecks {
    let store: String
    /// The time now, in milliseconds since 1970.
    let nowMilliseconds: Int64

    /// How far a store's clock may be ahead of that of the machine.
    private static let clockTolerance: Int64 = 600_000

    func findings(_ db: Database) throws -> [Finding] {
        [derivationFinding(db), try clockFinding(db), try defaultsFinding(db), try knownFinding(db)]
            .compactMap { $0 }
    }

    /// The derivation of the key of a store whose only key is a passphrase.
    private func derivationFinding(_ db: Database) -> Finding? {
        guard !Keyring(store: store).exists, let settings = db.cipherSettings else { return nil }
        let advice =
            "give it key slots, which cost more to try: syncctl key add \(CommandWords.path(store)) --recovery"
        if settings.iterationCount < settings.format.standardIterationCount {
            return .warning(
                "the key is derived with \(HumanFormat.count(settings.iterationCount)) rounds",
                why:
                    "the format has \(HumanFormat.count(settings.format.standardIterationCount)): passphrases can be tried the faster, the less it is",
                advice: advice)
        }
        guard settings.format != .version4 else { return nil }
        return .note(
            "the format of SQLCipher 3 makes trying a passphrase cheap",
            why:
                "PBKDF2-HMAC-SHA1 with 64,000 rounds, a twentieth of what is recommended; a long random passphrase does not depend on it",
            advice: advice)
    }

    private func clockFinding(_ db: Database) throws -> Finding? {
        guard let clock = try ServedState.clockMilliseconds(db),
            clock > nowMilliseconds + Self.clockTolerance
        else { return nil }
        return .warning(
            "the newest change is from the future, of \(HumanFormat.timestamp(clock, style: .second))",
            why:
                "the clock of this machine, or of another replica, was or is wrong; until that time, edits count as made after it",
            advice: clock >= AdmissionLimits.millisecondsMax
                ? "set the clock right, and take such times back with: syncctl compact"
                : "compare the clocks of the devices")
    }

    /// Columns whose default each replica computes for itself.
    private func defaultsFinding(_ db: Database) throws -> Finding? {
        let columns = try ComputedDefaults.columns(db)
        guard !columns.isEmpty else { return nil }
        return .note(
            "columns have defaults that are computed: \(columns.joined(separator: ", "))",
            why:
                "for a row of a replica that has not got the column yet, each replica computes another value, and keeps it",
            advice: "add such a column with a constant default, and let the app write the value")
    }

    /// What replicas know of each other, when there is no room for more.
    private func knownFinding(_ db: Database) throws -> Finding? {
        guard try KnownRoom.isUsedUp(db) else { return nil }
        return .note(
            "there is no room to note what the replicas know of changes by replicas that are new",
            why:
                "deletions by those are not forgotten here, and all others seem to lack their changes; nothing else depends on it",
            advice:
                "retire the replicas that nobody uses: syncctl replica retire \(CommandWords.path(store)) <replica>, then syncctl compact \(CommandWords.path(store))"
        )
    }
}
