import CipherStore
import SyncMembers
import SyncWire

/// How one file of statements is read.
extension FolderStatements {
    /// What was found in a file.
    struct Content {
        var statements: [SignedStatement] = []
        /// Whether something can't be read.
        let isDamaged: Bool
        /// Whether the passphrase has opened it.
        var isOpened = false
    }

    /// Reads a file.
    ///
    /// - returns: What is in it; nil when it may be otherwise the next time.
    mutating func content(of file: Listed, _ store: StoreID?) throws -> Content? {
        let location = folder.place.location(of: file.path)
        do {
            let (statements, leftOut) = try open(file, location, store)
            isOpened = true
            if leftOut > 0 {
                remarks.append("\(location): \(leftOut) statements can't be read; a newer program may")
            }
            return Content(statements: statements, isDamaged: leftOut > 0, isOpened: true)
        } catch let error as StoreError {
            if error.code != .missing { remarks.append(error.description) }
            if [.missing, .cannotRead, .empty].contains(error.code) { withheld.insert(file.path) }
            guard isLasting(error, file) else { return nil }
            return Content(isDamaged: true)
        } catch let error as SyncError where error.code == .invalidBundle {
            remarks.append(error.description)
            return Content(isDamaged: true)
        }
    }

    private func open(
        _ file: Listed, _ location: String, _ store: StoreID?
    ) throws -> (statements: [SignedStatement], leftOut: Int) {
        let source = try folder.place.open(file.path)
        guard source.byteCount == file.byteCount else {
            throw StoreError(.cannotRead, "not complete yet", path: location)
        }
        let salt = try SealedFileReader.salt(of: source)
        if let store, !folder.isOwn(salt, store) {
            throw SyncError(.invalidBundle, "\(location): belongs to another database")
        }
        return try StatementFile.read(source, path: location, opening: folder.secret)
    }

    /// Whether an error is about what is in a file. Any other one may be gone the next time, such as that of a place that
    /// can't be read now, or for want of memory.
    private func isLasting(_ error: StoreError, _ file: Listed) -> Bool {
        switch error.code {
        case .archiveDamaged, .formatTooNew, .encryptionMismatch, .costOutOfRange: true
        case .empty: file.byteCount == 0
        case .wrongPassphrase: isOpened || opensOthers(than: file)
        default: false
        }
    }

    /// Whether the passphrase has opened other files before. Of a file that it has opened, too, that does not say that it is
    /// another one by now: the passphrase may be.
    private func opensOthers(than file: Listed) -> Bool {
        entries[file.path.description]?.isOpened != true && entries.values.contains(where: \.isOpened)
    }
}
