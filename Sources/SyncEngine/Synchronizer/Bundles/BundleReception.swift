import CipherStore
import SyncWire

/// Takes a bundle in that nobody can be asked about.
struct BundleReception {
    let peer: StorePeer
    let header: BundleHeader

    /// Applies the bundle.
    func run(
        _ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> BundleReport {
        let greeting = try peer.greet()
        guard header.store == greeting.store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        guard greeting.vector.covers(header.base) else {
            throw SyncError(.missingChanges, Self.missing(header.base, in: greeting.vector))
        }
        for part in header.facts.parts {
            for names in part.tables where !greeting.known(of: names).covers(part.base) {
                throw SyncError(.missingChanges, Self.missing(part.base, in: greeting.known(of: names)))
            }
        }
        // What is covered is read all the same: a damaged file must not pass for a good one.
        let summary = try peer.receive(frames)
        // A bundle of some tables says nothing of what the sender knows of all.
        if header.sender != greeting.replica, !header.target.sequences.isEmpty {
            try peer.remember(header.sender, name: "", knowing: header.target)
        }
        let isKnown =
            greeting.vector.covers(header.target)
            && header.facts.parts.allSatisfy { part in
                part.tables.allSatisfy { greeting.known(of: $0).covers(part.target) }
            }
        var report = BundleReport(sender: header.sender, applied: isKnown ? nil : summary)
        report.renewedReplica = summary.renewedReplica
        return report
    }

    /// Names the changes that a bundle builds on and that are not here.
    static func missing(_ base: VersionVector, in vector: VersionVector) -> String {
        let gaps = base.sequences.filter { vector[$0.key] < $0.value }.sorted { $0.key < $1.key }
        let names = gaps.prefix(3).map { replica, sequence in
            "changes \(vector[replica].addingSaturated(1)) to \(sequence) of replica \(replica.shortDescription)"
        }
        let more = gaps.count > names.count ? " and of \(gaps.count - names.count) more replicas" : ""
        return "the bundle builds on \(names.joined(separator: ", "))\(more), which are not here"
    }
}
