import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Makes what `Schemas/folder/vectors.json` holds, with the people of `Schemas/membership/vectors.json`.
///
/// The files are sealed under random salts and keys of their own, so that each time they have other bytes.
final class FolderVectorStory {
    static let passphrase = "folder"
    /// The replica of Bob's phone.
    private static let replica: ReplicaID = Identifier128(high: 1, low: 2)

    private let members: FolderVectors.Membership
    private let store: StoreID
    /// What locks the files under the passphrase of the folder, and those of the epoch.
    private let plain: ArchiveLock
    private let sealed: ArchiveLock
    private let epoch: StatementID
    private let folder: TestStores

    init() throws {
        members = try FolderVectors.Membership.load()
        store = try members.storeID()
        folder = try TestStores()
        let passphrase = try Passphrase(Self.passphrase)
        // A transport of tests has a salt that only they have; other programs are held to that of the database.
        plain = ArchiveLock(
            SharedPassphrase(passphrase, cost: .minimum), salt: SharedPassphrase.exactSalt(of: store.bytes))
        let record = try members.record("a line", device: "ada")
        epoch = try #require(record.state.currentEpoch)
        sealed = FolderTransport(path: folder.path("shared"), passphrase: passphrase, cost: .minimum)
            .transport
            .opening(record.filePassphrases()).writing(in: epoch).lock(store)
    }

    func vectors() throws -> FolderVectors {
        let record = try members.record("a line", device: "ada")
        let key = try #require(record.keyring[epoch])
        return FolderVectors(
            passphrase: Self.passphrase, epoch: "epoch 2",
            epochPassphrase: FolderVectors.text(key.subkey(for: "files").withUnsafeBytes { Array($0) }),
            epochSalt: FolderVectors.text(epoch.fileSalt), heads: try heads(),
            statementFiles: try statementFiles())
    }

    // MARK: Heads

    private func head(_ replica: ReplicaID = replica, isMembers: Bool = true) -> FolderHead {
        var known = VersionVector()
        known[replica] = 12
        var head = FolderHead(Greeting(store: store, replica: replica, vector: known, ownSequence: 12))
        head.generation = 3
        head.bundles = [
            FolderHead.File(
                name: "0001700000000000-00112233445566ff.bundle", base: [:],
                target: [replica.description: 12], byteCount: 4711,
                sha256: isMembers ? String(repeating: "0a", count: 32) : nil)
        ]
        head.points = [ChainPoint(sequence: 12, previous: 0, hash: Identifier128(high: 3, low: 4))]
        return head
    }

    /// The bytes of a head, with the signature of a device.
    private func content(
        _ head: FolderHead, by device: String?, claiming claimed: String? = nil
    ) throws -> (content: Data, signature: String) {
        var head = head
        let keys = try device.map(members.keys)
        head.prepare(for: try (claimed ?? device).map { try members.keys($0).card.id })
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(head)
        guard let keys, let replica = head.replica else { return (data, "") }
        return (
            data, HeadSignature.text(try HeadSignature.sign(data, store: store, replica: replica, by: keys))
        )
    }

    private func seal(
        _ data: Data, _ kind: SealedFileKind, _ lock: ArchiveLock,
        padding: SealedFilePadding = .none
    ) throws -> String {
        let path = folder.path("file")
        let writer = try SealedFileWriter(
            path: path, kind: kind, lock: lock,
            now: Date(timeIntervalSince1970: 1_700_000_000), padding: padding)
        try data.withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        defer { try? FileManager.default.removeItem(atPath: path) }
        return FolderVectors.text(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func vector(
        _ name: String, _ outcome: String, _ head: FolderHead? = nil, by device: String? = "phone",
        claiming claimed: String? = nil, state: String? = "a line", padding: SealedFilePadding = .none,
        changed change: (Data, String) -> Data = { content, signature in
            signature.isEmpty ? content : content + Data(("\n" + signature).utf8)
        }
    ) throws -> FolderVectors.Head {
        let head = head ?? self.head()
        let (content, signature) = try content(head, by: device, claiming: claimed)
        let replica = try #require(head.replica)
        let isReadable = outcome != "invalid" && outcome != "newerFormat"
        return FolderVectors.Head(
            name: name, replica: replica.description, state: state,
            file: try seal(
                change(content, signature), FolderHead.kind, state == nil ? plain : sealed, padding: padding),
            outcome: outcome, generation: isReadable ? head.generation : nil,
            vector: isReadable ? head.vector : nil, bundles: isReadable ? head.bundles.map(\.name) : nil,
            device: isReadable
                ? try (claimed ?? device).map { try members.keys($0).card.id.description } : nil)
    }

    /// The bytes of a head of a later format that a device has signed.
    private func later(by device: String) throws -> Data {
        let data = try self.content(head(), by: device).content
        let text = String(decoding: data, as: UTF8.self)
            .replacingOccurrences(of: "\"format\":2", with: "\"format\":3")
        let signature = try HeadSignature.sign(
            Data(text.utf8), store: store, replica: Self.replica, by: members.keys(device))
        return Data((text + "\n" + HeadSignature.text(signature)).utf8)
    }

    private func heads() throws -> [FolderVectors.Head] {
        let other = head(Identifier128(high: 9, low: 9))
        func replacing(_ text: String, _ replacement: String) -> (Data, String) -> Data {
            { content, signature in
                let changed = String(decoding: content, as: UTF8.self)
                    .replacingOccurrences(of: text, with: replacement)
                return Data((changed + "\n" + signature).utf8)
            }
        }
        let later = try self.later(by: "phone")
        var changed = try vector(
            "of another format, changed after it was signed", "signatureWrong",
            changed: replacing("\"format\":2", "\"format\":3"))
        var removed = try vector(
            "of another format, by a removed member", "removed", state: "a removal",
            changed: { _, _ in later })
        // Nobody can say what else is in them.
        (changed.generation, changed.vector, changed.bundles, changed.device) = (nil, nil, nil, nil)
        (removed.generation, removed.vector, removed.bundles, removed.device) = (nil, nil, nil, nil)
        return [
            try vector("without members", "taken", head(isMembers: false), by: nil, state: nil),
            try vector(
                "without members, padded", "taken", head(isMembers: false), by: nil, state: nil,
                padding: .padme),
            try vector("signed", "taken"),
            try vector("signed, padded", "taken", padding: .padme),
            try vector("not signed", "unsigned", by: nil),
            try vector("by another device", "otherDevice", by: "ada"),
            try vector("by a device that was not added", "deviceUnknown", by: "puppet"),
            try vector("in the name of another device", "signatureWrong", by: "ada", claiming: "phone"),
            try vector(
                "changed after it was signed", "signatureWrong",
                changed: replacing("\"byteCount\":4711", "\"byteCount\":4712")),
            try vector("of a replica that nobody writes", "replicaUnknown", other),
            try vector("by a removed member", "removed", state: "a removal"),
            try vector("with a signature in upper case", "invalid") { content, signature in
                content + Data(("\n" + signature.uppercased()).utf8)
            },
            try vector("with a signature that is cut off", "invalid") { content, signature in
                content + Data(("\n" + signature.dropLast(2)).utf8)
            },
            try vector("of another format", "newerFormat", changed: { _, _ in later }), changed, removed,
            try vector(
                "of no replica", "invalid", changed: replacing("\"replicaID\":\"0", "\"replicaID\":\"Z")),
        ]
    }

    // MARK: Statements

    private func statementFiles() throws -> [FolderVectors.StatementFile] {
        let names = try #require(members.states.first { $0.name == "a line" }).statements
        let found = try members.statement("found").bytes
        let newer = FolderVectors.bytes(
            try #require(members.refused.first { $0.why == "another version" }).bytes)
        let all = try names.flatMap { framed(try members.statement($0).bytes) }
        func file(
            _ name: String, _ content: [UInt8], _ statements: [String]?, leftOut: Int? = 0
        ) throws -> FolderVectors.StatementFile {
            FolderVectors.StatementFile(
                name: name, file: try seal(Data(content), StatementFile.kind, plain), statements: statements,
                leftOut: leftOut)
        }
        return [
            try file("all of a state", all, names),
            try file(
                "one of a newer program between", framed(found) + framed(newer) + framed(found),
                ["found", "found"], leftOut: 1),
            try file("an empty one", framed(found) + framed([]), ["found"], leftOut: 1),
            try file("cut off", Array(all.dropLast()), nil, leftOut: nil),
            try file("cut off in a length", all + [1, 0], nil, leftOut: nil),
            try file("longer than a statement may be", [1, 0, 16, 0] + found, nil, leftOut: nil),
        ]
    }

    private func framed(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) } + bytes
    }
}
