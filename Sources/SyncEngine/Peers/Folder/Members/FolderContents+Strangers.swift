import CipherStore
import SyncWire

/// Whose files a place holds, where no key of this store opens them.
///
/// A head in an epoch whose key is not here can't be told from one of other people's members. But files of statements have the
/// salt of their database, and what has the cost of a passphrase is in no epoch.
extension FolderContents {
    /// Files of statements, by whose salt they have.
    struct StatementOwners {
        /// Whether there is one of this database.
        var hasOwn = false
        /// Those of other databases, when there is none of this one.
        var others: [(replica: ReplicaID, path: MailboxPath, salt: [UInt8])] = []
    }

    /// So many keys are derived for files of statements that are not of this database, and for heads.
    private static var strangerTrialCountMax: Int { 3 }

    /// Says that this store has no business there.
    var otherStore: SyncError {
        SyncError(.otherStore, "\(folder.mailbox.location) holds another database")
    }

    var strangerRemark: String {
        "\(folder.mailbox.location) has members, and this store is none of them: ask an admin for an invitation"
    }

    /// What is to be said of files that no key here opens.
    func remarksOfClosed(_ replicas: [ReplicaID], _ store: StoreID?) throws -> [String] {
        guard hasStatements, members == nil else { return closedRemarks.map(\.text) }
        guard let store else { return [strangerRemark] }
        let owners = try statementOwners(of: replicas, store)
        guard !owners.hasOwn else { return [strangerRemark] }
        let others = Set(owners.others.map(\.replica))
        return others.sorted().map { replica in
            "\(folder.mailbox.location)/\(FolderPaths(replica).folder): belongs to another database"
        } + closedRemarks.filter { !others.contains($0.replica) }.map(\.text)
    }

    /// Whose statements there are. The salts are not authentic: anybody can leave a file that has one.
    func statementOwners(of replicas: [ReplicaID], _ store: StoreID) throws -> StatementOwners {
        var owners = StatementOwners()
        for path in try statementFiles(of: replicas) {
            guard let replica = ReplicaID(hexadecimal: path.folder), let salt = try salt(of: path) else {
                continue
            }
            guard !folder.isOwn(salt, store) else { return StatementOwners(hasOwn: true) }
            owners.others.append((replica, path, salt))
        }
        return owners
    }

    private func salt(of file: MailboxPath) throws -> [UInt8]? {
        do {
            return try SealedFileReader.salt(of: folder.place.open(file))
        } catch let error as StoreError where error.code != .cancelled {
            return nil
        }
    }

    /// What is wrong with a place where nothing of this database can be opened, and something of another one lies.
    ///
    /// - parameter statements: Its files of statements.
    /// - returns: ``SyncError`` of code `otherStore` when the passphrase opens what is of another database; `StoreError` of code
    ///   `wrongPassphrase` when it does not open what can't be of this one's members; nil when nothing shows either.
    func strangerError(
        _ replicas: [ReplicaID], _ store: StoreID, _ statements: StatementOwners
    ) throws -> (any Error)? {
        guard !statements.hasOwn else { return nil }
        let plain = folder.openingNoEpochs()
        var problem: StoreError?
        var salts: Set<[UInt8]> = []
        for file in statements.others
        where salts.count < Self.strangerTrialCountMax && salts.insert(file.salt).inserted {
            do {
                _ = try SealedFileReader(
                    plain.place.open(file.path), path: plain.place.location(of: file.path),
                    kind: StatementFile.kind, opening: plain.secret)
                return otherStore
            } catch let error as StoreError where error.code == .wrongPassphrase {
                if try isUnderPassphrase(file.path) { problem = problem ?? error }
            } catch let error as StoreError where error.code != .cancelled {
                continue
            }
        }
        salts = []
        // Those first whose salt most have.
        for replica in closed.isEmpty ? [] : try Self.inOrderOfTrial(replicas, in: folder) {
            guard let salt = closed[replica], salts.count < Self.strangerTrialCountMax,
                salts.insert(salt).inserted
            else { continue }
            let file = FolderPaths(replica).file(FolderPaths.headName)
            do {
                if try FolderHead.open(file, plain).store != store { return otherStore }
            } catch let newer as FolderHead.Newer {
                if newer.head.store != store { return otherStore }
            } catch let closed as FolderHead.Closed {
                if try isUnderPassphrase(file) { problem = problem ?? closed.error }
            } catch let error as StoreError where error.code != .cancelled {
                continue
            } catch is SyncError {
                continue
            }
        }
        return problem
    }

    /// Whether a file has another cost than what is sealed with the random key of an epoch.
    private func isUnderPassphrase(_ file: MailboxPath) throws -> Bool {
        guard let derivation = try Self.derivation(of: file, in: folder) else { return false }
        return derivation.first.map(Int.init) != ScryptCost.minimum.logN
    }
}
