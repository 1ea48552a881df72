import CipherStore
import Foundation
import SyncWire

/// What a folder holds at the moment, as far as it can be read.
struct FolderContents {
    /// A bundle that is there.
    struct Bundle {
        let replica: ReplicaID
        let name: String
        let number: Int64
        let path: String
        let base: VersionVector
        let target: VersionVector
        let byteCount: Int
        /// Whether the replica's head lists it, and it has the size that the head says.
        let isListed: Bool

        /// Whether it can be applied by a replica that knows nothing.
        var isWhole: Bool { base.sequences.isEmpty }
        /// What a head calls it.
        var identity: String { "\(replica)/\(name)" }
    }

    let folder: FolderTransport
    /// The heads that could be read, by replica.
    private(set) var heads: [ReplicaID: FolderHead] = [:]
    /// The bundles of this database, in the order of their numbers.
    private(set) var bundles: [Bundle] = []
    /// The snapshots, with the number of changes that they know.
    private var found: [(path: String, weight: Int64)] = []
    /// The snapshots, the one that knows most first.
    var snapshots: [String] { found.sorted { $0.weight > $1.weight }.map(\.path) }
    /// What could not be used, and why.
    private(set) var remarks: [String] = []

    /// Reads a folder.
    ///
    /// - parameter store: The database; nil to take whichever there is.
    /// - throws: ``StoreError`` of code `wrongPassphrase` when no head can be opened; ``SyncError`` of code
    ///   `otherStore` when all heads are of another database, `metadataTooNew`.
    init(_ folder: FolderTransport, store: StoreID?) throws {
        self.folder = folder
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder.path, isDirectory: &isFolder) else { return }
        guard isFolder.boolValue else {
            throw StoreError(.cannotRead, "it is a file, and no folder", path: folder.path)
        }
        let names: [String]
        do {
            names = try manager.contentsOfDirectory(atPath: folder.path).sorted()
        } catch let error as CocoaError {
            throw StoreError(
                .cannotRead, "cannot read the folder: \(error.systemText)", path: folder.path)
        }
        let replicas = names.compactMap { Identifier128(hexadecimal: $0) }
        try readHeads(replicas, store)
        for replica in replicas { readBundles(of: replica, store) }
        bundles.sort { ($0.number, $0.replica) < ($1.number, $1.replica) }
        excludeUnreadable()
    }

    private mutating func readHeads(_ replicas: [ReplicaID], _ store: StoreID?) throws {
        var problem: StoreError?
        var strangers = 0
        for replica in replicas {
            let path = FolderPaths(folder.path, replica).file(FolderPaths.headName)
            guard FolderPaths.byteCount(path) != nil else { continue }
            do {
                let head = try FolderHead.read(path, folder)
                guard head.replica == replica else {
                    remarks.append("\(path): belongs to another replica")
                    continue
                }
                guard store == nil || head.store == store else {
                    strangers += 1
                    remarks.append("\(path): belongs to another database")
                    continue
                }
                heads[replica] = head
                if let snapshot = head.snapshot { note(snapshot, of: replica) }
            } catch let error as StoreError {
                if error.code == .wrongPassphrase { problem = error }
                remarks.append(error.description)
            } catch let error as SyncError where error.code != .metadataTooNew {
                remarks.append(error.description)
            }
        }
        guard heads.isEmpty else { return }
        // Writing under another passphrase, or beside another database, would make two folders of one.
        if strangers > 0 { throw SyncError(.otherStore, "\(folder.path) holds another database") }
        if let problem { throw StoreError(.wrongPassphrase, problem.message, path: folder.path) }
    }

    private mutating func note(_ snapshot: FolderHead.File, of replica: ReplicaID) {
        let path = FolderPaths(folder.path, replica).file(snapshot.name)
        guard FolderPaths.isSnapshot(snapshot.name), FolderPaths.byteCount(path) == snapshot.byteCount else {
            remarks.append("\(path): not complete yet")
            return
        }
        found.append((path, snapshot.target.values.reduce(0) { $0 &+ $1 }))
    }

    private mutating func readBundles(of replica: ReplicaID, _ store: StoreID?) {
        let paths = FolderPaths(folder.path, replica)
        let listed = Dictionary(
            (heads[replica]?.bundles ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let names = (try? FileManager.default.contentsOfDirectory(atPath: paths.folder)) ?? []
        for name in names.sorted() {
            let path = paths.file(name)
            guard let number = FolderPaths.number(ofBundle: name), let size = FolderPaths.byteCount(path)
            else {
                continue
            }
            if let file = listed[name] {
                guard file.byteCount == size else {
                    remarks.append("\(path): not complete yet")
                    continue
                }
                bundles.append(
                    Bundle(
                        replica: replica, name: name, number: number, path: path, base: file.baseVector,
                        target: file.targetVector, byteCount: size, isListed: true))
            } else if let bundle = unlisted(replica, name, number, path, size, store) {
                bundles.append(bundle)
            }
        }
    }

    /// A bundle whose head came here before it, or after a newer one, says itself what it is.
    private mutating func unlisted(
        _ replica: ReplicaID, _ name: String, _ number: Int64, _ path: String, _ size: Int, _ store: StoreID?
    ) -> Bundle? {
        do {
            let header = try BundleFile.header(path, folder.access)
            guard header.sender == replica, store == nil || header.store == store else {
                remarks.append("\(path): belongs to another database or replica")
                return nil
            }
            return Bundle(
                replica: replica, name: name, number: number, path: path, base: header.base,
                target: header.target, byteCount: size, isListed: false)
        } catch {
            remarks.append("\(path): \((error as? StoreError)?.message ?? "\(error)")")
            return nil
        }
    }

    /// Leaves out bundles that a replica complained about, if they are broken here too: their
    /// contents count as missing then, and are written again.
    private mutating func excludeUnreadable() {
        let complaints = Set(heads.values.flatMap(\.unreadable))
        guard !complaints.isEmpty else { return }
        bundles.removeAll { bundle in
            guard complaints.contains(bundle.identity) else { return false }
            return (try? BundleFile.inspect(bundle.path, folder.access)) == nil
        }
    }

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

    /// How much of a replica's changes is known in the folder.
    func sequence(of replica: ReplicaID) -> Int64 {
        let vectors = heads.values.map { FolderHead.decode($0.vector) } + bundles.map(\.target)
        return vectors.map { $0[replica] }.max() ?? 0
    }

    /// Writes the head of this replica.
    mutating func write(_ head: inout FolderHead, _ environment: SyncEnvironment) throws {
        guard let replica = head.replica, let store = head.store else { return }
        let paths = FolderPaths(folder.path, replica)
        head.generation = head.generation.addingSaturated(1)
        try head.write(
            paths.file(FolderPaths.headName), folder, store: store, now: environment.milliseconds())
        heads[replica] = head
    }
}
