import CipherStore
import SyncWire

/// What a retired replica has to take along when it gets a new identity.
///
/// A replica that somebody retired goes on only when its user says so, and by then nobody is there to ask. Whoever
/// refuses it may know more changes of it than it ever made, because a copy of its file made some, or because
/// somebody lied. Its own changes count as known there, so that nobody would ask for them; they move to the new
/// identity, as in any fork.
enum RetirementForks {
    private static let setting = "forks of the retirement"

    /// Notes the forks that the refusal showed, in place of those that were noted before. Those of replicas that nobody
    /// here has heard of hold nothing, and there may be any number of them: a remote says what it likes.
    static func note(_ db: Database, _ forks: [Fork]) throws {
        let metadata = try StoreMetadata.require(db)
        let own = try metadata.replicaID()
        let known = Set(metadata.replicas.map(\.id))
        let forks = forks.filter { known.contains($0.replica) }
        let lines = forks.sorted { $0.replica < $1.replica }.map { "\($0.replica) \($0.common)" }
        let isDue = forks.contains { $0.replica == own }
        try SyncSetting.set(db, setting, isDue ? ([own.description] + lines).joined(separator: "\n") : nil)
    }

    /// The forks that were noted of the present identity, which are forgotten.
    static func take(_ db: Database) throws -> [Fork] {
        guard let text = try SyncSetting.text(db, setting) else { return [] }
        try SyncSetting.set(db, setting, nil)
        let lines = text.split(separator: "\n")
        let own = try StoreMetadata.require(db).replicaID()
        // It may have got another identity in another way.
        guard lines.first == own.description[...] else { return [] }
        return lines.dropFirst().compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let replica = Identifier128(hexadecimal: String(words[0])),
                let common = Int64(words[1]), (0...AdmissionLimits.sequenceMax).contains(common)
            else { return nil }
            return Fork(replica: replica, common: common)
        }
    }
}
