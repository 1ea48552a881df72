import Foundation
import SyncBucket
import SyncEngine

/// Changes a channel: writes and removes files.
struct RelayChange: Sendable {
    /// A file to be written.
    struct Write: Sendable {
        let path: MailboxPath
        let isReplacing: Bool
        let spool: Spool
    }

    let state: RelayMailboxState
    let check: @Sendable () throws -> Void

    /// Writes files and removes others: others see all of it or nothing.
    ///
    /// In its document the removals come first. So a channel that is full has room for what takes the place of other files.
    ///
    /// - parameters:
    ///     - writes: At most `RelayBatch.byteCountMax` bytes, and with what is removed at most
    ///       `RelayBounds.changeCountMax` files.
    ///     - removed: None of those that are written. Those that are not there are no problem.
    func make(_ writes: [Write], removing removed: [MailboxPath]) throws {
        guard writes.count + removed.count > 1 else {
            for write in writes { try self.write(write.spool, write.path, replacing: write.isReplacing) }
            for path in removed { try remove(path) }
            return
        }
        var list: [RelayChanges.Change] = try removed.map { .remove(try state.name(of: $0)) }
        for write in writes {
            let content = try write.spool.read(at: 0, upTo: write.spool.byteCount)
            list.append(
                .write(try state.name(of: write.path), replacing: write.isReplacing, content: content))
        }
        let changes = try RelayChanges(list)
        var request = state.request(writes.isEmpty ? .remove : .put, "POST", "/changes")
        request.body = .document(Data(try RelayJSON.encode(changes)))
        request.accepted = [412]
        let answer = try sending(request)
        guard answer.status != 412 else {
            state.doubt()
            throw MailboxError(.exists, "there is a file already")
        }
        let written = writes.map { (path: $0.path, byteCount: $0.spool.byteCount) }
        guard let versions = state.note(written: written, removed: removed, upTo: try position(answer)) else {
            return
        }
        for (write, version) in zip(writes, versions) { try keep(write.spool, write.path, version) }
    }

    /// Writes a file: others see the whole of it or nothing.
    func write(_ spool: Spool, _ path: MailboxPath, replacing: Bool) throws {
        guard spool.byteCount <= RelayBounds.fileByteCountMax else {
            throw MailboxError(.full, "a file of a relay has at most 4 GiB")
        }
        var request = state.request(.put, "PUT", try state.suffix(of: path))
        request.headers = [
            ("content-type", "application/octet-stream"),
            ("content-digest", RelayDigest(spool.hash).contentDigest),
        ]
        if !replacing { request.headers.append(("if-none-match", "*")) }
        // The connection says itself how long what it has at once is.
        request.body = .file(spool)
        request.accepted = [412]
        let answer = try sending(request)
        guard answer.status != 412 else {
            state.doubt()
            throw MailboxError(.exists, "there is a file already")
        }
        let position = try position(answer)
        state.note(
            RelayDirectory.File(byteCount: spool.byteCount, position: position, milliseconds: nil), at: path)
        guard let epoch = state.directory?.moment.epoch else { return }
        try keep(spool, path, RelayMoment(epoch: epoch, position: position))
    }

    /// Keeps a head that was written here, so that it need not be read.
    private func keep(_ spool: Spool, _ path: MailboxPath, _ version: RelayMoment) throws {
        guard SealedFileCache.keeps(path, spool.byteCount), path.name == "head" else { return }
        state.cache.keep(
            try spool.read(at: 0, upTo: spool.byteCount), of: path,
            tag: "\(version.epoch)-\(version.position)")
    }

    func remove(_ path: MailboxPath) throws {
        _ = try position(sending(state.request(.remove, "DELETE", state.suffix(of: path))))
        state.noteRemoval(of: path)
    }

    func remove(_ paths: [MailboxPath]) throws {
        var rest = paths[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(RelayBounds.changeCountMax))
            rest = rest.dropFirst(some.count)
            try make([], removing: some)
        }
    }

    private func sending(_ request: RelayRequest) throws -> RelayAnswer {
        do {
            return try state.send(request, check: check).answer
        } catch {
            // It may have been carried out all the same.
            state.doubt()
            throw error
        }
    }

    private func position(_ answer: RelayAnswer) throws -> RelayPosition {
        do {
            return try answer.document(RelayPlace.self).position
        } catch let error as RelayError {
            state.doubt()
            throw MailboxError(.failed, error.message)
        }
    }
}
