import CipherStore
import SyncWire

extension FolderContents {
    /// A bundle that is there.
    struct Bundle {
        let replica: ReplicaID
        let name: String
        let number: Int64
        let file: MailboxPath
        /// How messages name it.
        let path: String
        let base: VersionVector
        let target: VersionVector
        let byteCount: Int
        /// Whether the replica's head lists it, and it has the size that the head says.
        let isListed: Bool
        /// The SHA-256 that its replica has signed; nil in a database without members.
        var digest: String?
        /// What the place calls this version of the file; nil where that is not known.
        var version: String?

        /// So long a bundle is new.
        private static let newMillisecondsMax: Int64 = 3_600_000

        /// Whether it was written just now, by its name.
        func isNew(at now: Int64) -> Bool {
            let (age, overflows) = now.subtractingReportingOverflow(number)
            return !overflows && (0..<Self.newMillisecondsMax).contains(age)
        }

        /// What its head says of the file, which is compared with it.
        var claims: [String] {
            let vectors = [base, target].map { vector in
                FolderHead.encode(vector).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: ",")
            }
            return [digest ?? ""] + vectors
        }

        /// What is told of the file because of what was found in it before; nil for nothing.
        func fault(_ outcome: CheckedFiles.Outcome) -> (any Error)? {
            switch outcome {
            case .sound, .unshared: nil
            case .damaged:
                StoreError(
                    .archiveDamaged, "the file was found damaged, or not the one that is listed", path: path)
            case .otherDigest: DigestedSource.Mismatch()
            }
        }

        /// Whether it can be applied by a replica that knows nothing.
        var isWhole: Bool { base.sequences.isEmpty }
        /// What a head calls it.
        var identity: String { "\(replica)/\(name)" }

        /// Checks that the file is the one that is listed.
        ///
        /// - throws: ``SyncError`` of code `invalidBundle`.
        func require(sender: ReplicaID, base: VersionVector, target: VersionVector) throws {
            guard sender == replica, base == self.base, target == self.target else {
                throw SyncError(.invalidBundle, "the bundle is not the one that its replica lists")
            }
        }
    }
}

/// What the bundles and heads together say.
extension FolderContents {
    /// What a replica that knows nothing can learn from the folder.
    ///
    /// - parameter excluded: Bundles that don't count.
    func reachable(without excluded: Set<String> = []) -> VersionVector {
        var known = VersionVector()
        // A bundle that no head lists may still be on its way.
        var rest = bundles.filter { $0.isListed && !excluded.contains($0.identity) }
        while let index = rest.firstIndex(where: { known.covers($0.base) }) {
            known.join(rest.remove(at: index).target)
        }
        return known
    }

    /// The bundles that somebody can't take in. A bundle of everything of the replica itself is told once, whatever others
    /// say of it.
    ///
    /// What only readers say counts a while after a bundle was written: whoever may not write could have each writer tell everything
    /// again after each edit.
    ///
    /// - parameters:
    ///     - greeting: Says which replica asks, and which ones were retired: these don't read any more.
    ///     - now: The present time.
    func untaken(_ greeting: Greeting, at now: Int64) -> Set<String> {
        let retired = Set(greeting.facts.retirements.map(\.replica))
        var untaken: Set<String> = []
        for (replica, head) in heads where replica != greeting.replica && !retired.contains(replica) {
            let named = head.untaken
            guard !named.isEmpty else { continue }
            let vector = FolderHead.decode(head.vector)
            let isWriters = members?.isWriters(head) ?? true
            untaken.formUnion(
                bundles.filter { bundle in
                    named.contains(bundle.identity) && !vector.covers(bundle.target)
                        && (isWriters || !bundle.isNew(at: now))
                        && (bundle.replica != greeting.replica || !bundle.isWhole)
                }.map(\.identity))
        }
        return untaken
    }

    /// Whether an error is about one file, which is bad or can't be read now. Any other one is of the place, or of somebody who
    /// cancelled: it says nothing of the file that was just read, and ends the synchronization.
    static func isOfFile(_ error: any Error) -> Bool {
        switch error {
        case is WireError, is DigestedSource.Mismatch: true
        case is StoreError, is SyncError: !SyncCancellation.isReason(of: error)
        default: false
        }
    }

    /// What an error says of a file; nil when the same bytes may be read another time.
    static func outcome(of error: any Error) -> CheckedFiles.Outcome? {
        switch error {
        // A newer version of this program may know what is in it.
        case let error as WireError: error.code == .unsupported ? nil : .damaged
        case is DigestedSource.Mismatch: .otherDigest
        case let error as SyncError: error.code == .invalidBundle ? .damaged : nil
        case let error as StoreError: error.code == .archiveDamaged ? .damaged : nil
        default: nil
        }
    }

    /// Who names bundles of others as unreadable, and in which head, by the bundles.
    func complaints() -> [String: [String]] {
        var complaints: [String: [String]] = [:]
        for (replica, head) in heads {
            for bundle in Set(head.unreadable) {
                complaints[bundle, default: []].append("\(replica) \(head.generation)")
            }
        }
        return complaints
    }

    /// How much of a replica's changes is known in the folder, as far as it says so itself, or somebody who may write: whoever
    /// may only read could take each writer's identity from it by a number.
    func sequence(of replica: ReplicaID) -> Int64 {
        let telling = heads.filter { $0.key == replica || members?.isWriters($0.value) ?? true }
        let vectors = telling.values.map { FolderHead.decode($0.vector) } + bundles.map(\.target)
        return vectors.map { $0[replica] }.max() ?? 0
    }
}
