import Foundation
import SyncEngine

/// A mailbox as a process sees it that dies in the midst of a call when that is due.
///
/// It dies before a call, between the bytes of a file that it writes or reads, and after a call before it knows what came
/// of it. Nothing that it does then reaches the mailbox.
protocol MortalPlace: Mailbox {
    /// The mailbox.
    var inner: any Mailbox { get }
    /// The process.
    var life: ProcessLife { get }
}

extension MortalPlace {
    var name: String { inner.name }
    var location: String { inner.location }

    func folders() throws -> [String] {
        try life.step()
        return try inner.folders()
    }

    func files(in folder: String) throws -> [MailboxFile] {
        try life.step()
        return try inner.files(in: folder)
    }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        try life.step()
        return MortalReader(try inner.open(path), life)
    }

    func write(
        _ path: MailboxPath, replacing: Bool, _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try life.step()
        try inner.write(path, replacing: replacing) { sink in
            try body { data in
                try life.step()
                try sink(data)
            }
        }
        try life.step()
    }

    func remove(_ path: MailboxPath) throws {
        try life.step()
        try inner.remove(path)
        try life.step()
    }

    func remove(_ paths: [MailboxPath]) throws {
        try life.step()
        try inner.remove(paths)
        try life.step()
    }
}

/// One over a mailbox that makes each change at once.
struct MortalMailbox: MortalPlace {
    let inner: any Mailbox
    let life: ProcessLife
}

/// One over a mailbox that can make several changes at once.
struct MortalBatchingMailbox: MortalPlace, BatchingMailbox {
    let batching: any BatchingMailbox
    let life: ProcessLife

    var inner: any Mailbox { batching }

    func batch() -> any MailboxBatch { MortalBatch(changes: batching.batch(), life: life) }
}

/// Changes that wait in one.
private struct MortalBatch: MortalPlace, MailboxBatch {
    let changes: any MailboxBatch
    let life: ProcessLife

    var inner: any Mailbox { changes }

    func commit() throws {
        try life.step()
        try changes.commit()
        try life.step()
    }
}

private final class MortalReader: MailboxReader {
    private let inner: any MailboxReader
    private let life: ProcessLife

    init(_ inner: any MailboxReader, _ life: ProcessLife) { (self.inner, self.life) = (inner, life) }

    var byteCount: Int { inner.byteCount }

    func read(upTo count: Int) throws -> Data {
        try life.step()
        return try inner.read(upTo: count)
    }
}
