import CipherStore
import Foundation
import SyncMembers
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// What other programs are held to that read heads and statements in a folder. With CIPHERSTORE_WRITE_VECTORS=folder in
/// the environment, the file is written anew.
@Suite(.anyEngine) struct FolderVectorTests {
    private let vectors: FolderVectors
    private let members: FolderVectors.Membership
    private let stores: TestStores

    init() throws {
        if ProcessInfo.processInfo.environment["CIPHERSTORE_WRITE_VECTORS"] == "folder" {
            try FolderVectorStory().vectors().write()
        }
        (vectors, members) = (try FolderVectors.load(), try FolderVectors.Membership.load())
        stores = try TestStores()
    }

    private func transport() throws -> MailboxTransport {
        FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase(vectors.passphrase), cost: .minimum
        ).transport
    }

    private func put(_ file: String, at path: MailboxPath) throws {
        let url = URL(fileURLWithPath: stores.path("shared/\(path)"))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(FolderVectors.bytes(file)).write(to: url)
    }

    @Test func theKeyOfTheEpochOpensTheHeads() throws {
        let record = try members.record("a line", device: "carol")
        let epoch = try members.statement(vectors.epoch).id
        #expect(record.state.currentEpoch == epoch)
        #expect(FolderVectors.text(epoch.fileSalt) == vectors.epochSalt)
        let key = try #require(record.keyring[epoch])
        #expect(
            FolderVectors.text(key.subkey(for: "files").withUnsafeBytes { Array($0) })
                == vectors.epochPassphrase)
        let secret = ArchiveSecret(try Passphrase(vectors.epochPassphrase))
        for head in vectors.heads where head.state != nil {
            let path = stores.path("head")
            try Data(FolderVectors.bytes(head.file)).write(to: URL(fileURLWithPath: path))
            _ = try SealedFileReader(path: path, kind: FolderHead.kind, opening: secret)
        }
    }

    /// SHA-256 of `CipherStore archive v1 group` and of the database's identifier, as Schemas/archive/v1.md has it.
    @Test func theSaltOfOtherFilesIsThatOfTheDatabase() throws {
        let salt = "9be19b184ec0819fac92c4ae819de82c795b0c3bf281e881811e5bd4adcd89b3"
        #expect(try FolderVectors.text(SharedPassphrase.exactSalt(of: members.storeID().bytes)) == salt)
        let files = vectors.heads.filter { $0.state == nil }.map(\.file) + vectors.statementFiles.map(\.file)
        for file in files { #expect(FolderVectors.text(FolderVectors.bytes(file)[24..<56]) == salt) }
    }

    @Test func aReaderTakesWhatItShould() throws {
        #expect(vectors.heads.count == 17)
        for vector in vectors.heads {
            let replica = try #require(Identifier128(hexadecimal: vector.replica))
            let path = FolderPaths(replica).file(FolderPaths.headName)
            try put(vector.file, at: path)
            let found = try outcome(of: vector, replica, path)
            #expect(found == vector, "\(vector.name)")
        }
    }

    /// The vector that a head would make, read by Carol.
    private func outcome(
        of vector: FolderVectors.Head, _ replica: ReplicaID, _ path: MailboxPath
    ) throws -> FolderVectors.Head {
        let record = try vector.state.map { try members.record($0, device: "carol") }
        var found = vector
        (found.generation, found.vector, found.bundles, found.device) = (nil, nil, nil, nil)
        do {
            let head = try FolderHead.open(path, try transport().opening(record?.filePassphrases() ?? [:]))
            found.outcome =
                record.map { FolderMembers($0) }?.refusal(of: head, replica)?.reason.rawValue ?? "taken"
            (found.generation, found.vector) = (head.generation, head.vector)
            (found.bundles, found.device) = (head.bundles.map(\.name), head.deviceID?.description)
        } catch let newer as FolderHead.Newer {
            let refusal = record.map { FolderMembers($0) }?.refusal(of: newer.head, replica)
            found.outcome = refusal?.reason.rawValue ?? "newerFormat"
        } catch is SyncError {
            found.outcome = "invalid"
        }
        return found
    }

    @Test func statementsAreRead() throws {
        #expect(vectors.statementFiles.count == 6)
        let names = Dictionary(
            try members.statements.map { (try members.statement($0.name).id, $0.name) },
            uniquingKeysWith: { first, _ in first })
        for vector in vectors.statementFiles {
            let path = MailboxPath(
                folder: "00000000000000010000000000000002",
                name: StatementFile.name(Identifier128(high: 0, low: 1)))
            try put(vector.file, at: path)
            var found = vector
            do {
                let folder = try transport()
                let (statements, leftOut) = try StatementFile.read(
                    folder.place.open(path), path: vector.name, opening: folder.secret)
                (found.statements, found.leftOut) = (statements.map { names[$0.id] ?? "?" }, leftOut)
            } catch let error as SyncError {
                #expect(error.code == .invalidBundle)
                (found.statements, found.leftOut) = (nil, nil)
            }
            #expect(found == vector, "\(vector.name)")
        }
    }

    @Test func thisProgramMakesSuchFiles() throws {
        var made = try FolderVectorStory().vectors()
        var kept = vectors
        // Salts and keys of files are random, and their length is not.
        for index in made.heads.indices {
            #expect(made.heads[index].file.count == kept.heads[index].file.count)
            (made.heads[index].file, kept.heads[index].file) = ("", "")
        }
        for index in made.statementFiles.indices {
            #expect(made.statementFiles[index].file.count == kept.statementFiles[index].file.count)
            (made.statementFiles[index].file, kept.statementFiles[index].file) = ("", "")
        }
        #expect(made == kept)
    }
}
