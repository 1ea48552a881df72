import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// How a head is read and written. One that a device has signed ends with a newline and the digits of the signature of all
/// bytes before: no JSON of ours has newlines.
extension FolderHead {
    /// Says that no passphrase here opens a head.
    struct Closed: Error {
        let error: StoreError
        /// The salt of its file, which tells the epoch.
        let salt: [UInt8]?
    }

    /// Says that a head is of a format that this program does not know.
    struct Newer: Error {
        let error: SyncError
        /// What can be read of it, for whoever asks who has signed it.
        let head: FolderHead
    }

    /// Reads a head.
    ///
    /// - throws: ``StoreError`` for the file; ``SyncError`` of code `invalidBundle` for its content, `metadataTooNew` for its
    ///   format.
    static func read(_ file: MailboxPath, _ folder: MailboxTransport) throws -> FolderHead {
        do {
            return try open(file, folder)
        } catch let closed as Closed {
            throw closed.error
        } catch let newer as Newer {
            throw newer.error
        }
    }

    /// Reads a head.
    ///
    /// - throws: As ``read(_:_:)``, but ``Closed`` in the place of `wrongPassphrase`, and ``Newer`` of `metadataTooNew`.
    static func open(_ file: MailboxPath, _ folder: MailboxTransport) throws -> FolderHead {
        let path = folder.place.location(of: file)
        let source = try folder.place.open(file)
        let salt = try SealedFileReader.salt(of: source)
        let reader: SealedFileReader
        do {
            reader = try SealedFileReader(source, path: path, kind: kind, opening: folder.secret)
        } catch let error as StoreError where error.code == .wrongPassphrase {
            throw Closed(error: error, salt: salt)
        }
        let tooLong = SyncError(.invalidBundle, "\(path): longer than \(byteCountMax) bytes")
        guard reader.byteCount <= byteCountMax + byteCountMax / 8 else { throw tooLong }
        var data = Data()
        while let piece = try reader.next() { data.append(piece) }
        guard data.count <= byteCountMax else { throw tooLong }
        return try decode(data, path, createdMilliseconds: reader.createdMilliseconds ?? 0, salt)
    }

    private static func decode(
        _ data: Data, _ path: String, createdMilliseconds: Int64, _ salt: [UInt8]?
    ) throws -> FolderHead {
        do {
            let (content, signature) = split(data)
            var head = try JSONDecoder().decode(FolderHead.self, from: content)
            head.note(
                writtenMilliseconds: createdMilliseconds,
                signed: signature.map { Signed(content: content, signature: $0) }, salt: salt)
            guard head.format == version || head.format == signedVersion else {
                let error = SyncError(
                    .metadataTooNew,
                    "\(path): the folder has format \(head.format), and this program knows \(signedVersion)")
                throw Newer(error: error, head: head)
            }
            guard head.store != nil, head.replica != nil else {
                throw SyncError(.invalidBundle, "\(path): names no replica")
            }
            return head
        } catch let error as SyncError {
            throw error
        } catch let newer as Newer {
            throw newer
        } catch {
            throw SyncError(.invalidBundle, "\(path): its content is not that of a head")
        }
    }

    /// What was signed, and the signature, of a head that has one.
    private static func split(_ data: Data) -> (content: Data, signature: [UInt8]?) {
        let tail = data.suffix(2 * HeadSignature.byteCount)
        let content = data.dropLast(2 * HeadSignature.byteCount)
        guard content.last == UInt8(ascii: "\n"),
            let signature = HeadSignature.bytes(String(decoding: tail, as: UTF8.self))
        else { return (data, nil) }
        return (Data(content.dropLast()), signature)
    }

    /// Writes the head in the place of the one before.
    ///
    /// - parameter device: The keys of the device that it was prepared for.
    /// - throws: ``SyncError`` of code `capacityExceeded` when nobody would read it.
    func write(
        _ file: MailboxPath, _ folder: MailboxTransport, store: StoreID, by device: MemberDeviceKeys? = nil,
        now: Int64
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var data = try encoder.encode(self)
        if let device, let replica {
            assert(deviceID == device.card.id && !data.contains(UInt8(ascii: "\n")))
            let signature = try HeadSignature.sign(data, store: store, replica: replica, by: device)
            data.append(UInt8(ascii: "\n"))
            data.append(contentsOf: HeadSignature.text(signature).utf8)
        }
        guard data.count <= Self.byteCountMax else {
            throw SyncError(
                .capacityExceeded,
                """
                \(folder.place.location(of: file)): it would have over \(Self.byteCountMax) bytes, which others do not read, \
                because very many replicas are known here; retire those that are gone
                """)
        }
        let content = data
        _ = try folder.place.write(file, replacing: true) { sink in
            let file = try SealedFileWriter(
                kind: Self.kind, lock: folder.lock(store),
                now: Date(timeIntervalSince1970: Double(now) / 1000), padding: folder.padding, output: sink)
            try content.withUnsafeBytes { try file.write($0) }
            try file.end()
        }
    }
}
