import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// An open that the file system refuses is a DatabaseError of code SQLITE_CANTOPEN, as in GRDB. Its
// `storeError` names the path and what the system said.

extension Database {
    /// Makes the file that is to be opened, or checks that it is there.
    ///
    /// - throws: A ``StoreError`` when a file is required that has no content; a
    ///   ``DatabaseError`` of code `SQLITE_CANTOPEN` when it can't be made, when its name is that of a file beside
    ///   another one, when somebody else's file has the name of one beside it, or when that is a symbolic link; a
    ///   ``StoreError`` of code `keyringMismatch` when a missing file may have either key of an interrupted rotation.
    static func prepareFile(_ path: String, _ configuration: Configuration) throws {
        do {
            try StoreFile.refuseLinkedCompanions(of: path)
        } catch let error as StoreError {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "unable to open database file", storeError: error)
        }
        if configuration.requiresExistingFile { return try StoreFile.requireDatabase(path) }
        guard !configuration.readonly else { return }
        let place = StoreFile.place(of: path)
        let isMissing = FileIdentity(path: place) == nil
        if isMissing { try Keyring(store: place).requireNoRotation() }
        do {
            // What has the name already is opened: it was made by somebody who knows better, or must be saved from there.
            if isMissing {
                try FileReplacement.requireNoOwner(of: place)
                try SideFileOrigin.requireOwn(of: place)
            }
            try StoreFile.createPrivately(place)
        } catch let error as StoreError {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "unable to open database file", storeError: error)
        }
    }

    /// The error with what the system says about the file, when SQLite says no more than that it
    /// can't be written.
    ///
    /// A connection that must not write is told so by the program, not by the system.
    func withReasonNotToWrite(_ error: DatabaseError) -> DatabaseError {
        guard error.resultCode == .SQLITE_READONLY, error.storeError == nil, !isReadOnly,
            DatabasePath(path).isFile, let storeError = StoreError.unwritable(path)
        else { return error }
        return error.with(storeError: storeError)
    }

    /// The error with what the system says about the file, when SQLite says no more than that it
    /// can't be opened.
    private func withReasonNotToOpen(_ error: DatabaseError) -> DatabaseError {
        // What the set-up functions attach is another file.
        guard error.resultCode == .SQLITE_CANTOPEN, error.storeError == nil, DatabasePath(path).isFile,
            error.sql.flatMap(SQLText.firstWord) != "attach"
        else { return error }
        return error.with(storeError: .unopened(path, errorNumber: SQLiteHandle.systemError(handle)))
    }

    /// The key did not open the file, because it was replaced meanwhile: another attempt may.
    static func replacedBeforeKeyError(path: String) -> StoreError {
        StoreError(.replaced, "the file was replaced while it was opened; open it again", path: path)
    }

    /// Closes a connection whose set-up failed, and removes what it made beside the file in vain.
    ///
    /// - returns: What is to be thrown.
    func failedToOpen(_ error: any Error, _ sideFiles: MissingSideFiles?) -> any Error {
        let failure = openFailure(error)
        dispose()
        sideFiles?.removeUnused()
        return failure
    }

    /// What is thrown when the set-up of a connection failed.
    private func openFailure(_ error: any Error) -> any Error {
        // A file that was replaced has another key than its keyring says, or no first page any more.
        let isReplaced =
            DatabasePath(path).isFile && error.isAboutKey && SQLiteHandle.hasMoved(handle)
            && FileIdentity(path: path) != nil
        if isReplaced { return Self.replacedBeforeKeyError(path: path) }
        return (error as? DatabaseError).map(withReasonNotToOpen) ?? error
    }
}

extension Error {
    /// Whether the key of a file is what failed.
    fileprivate var isAboutKey: Bool {
        guard let code = StoreError(self)?.code else { return false }
        return [.wrongPassphrase, .keyringMismatch, .damaged, .plaintext].contains(code)
    }
}

extension StoreError {
    /// The error of a file that can't be opened.
    ///
    /// - parameter errorNumber: The system's `errno`, 0 when there is none.
    static func unopened(_ path: String, errorNumber: CInt) -> StoreError {
        switch errorNumber {
        case 0: StoreError(.cannotRead, "cannot open the file", path: path)
        case ENOENT where FileIdentity(path: path) == nil:
            StoreError(.missing, "there is no such file", path: path)
        // What is missing is a file beside it, which can't be made.
        case ENOENT where unwritable(path) != nil:
            unwritable(path) ?? StoreError(.cannotWrite, "cannot write", path: path)
        default: StoreError(.cannotRead, "cannot open: \(systemText(errorNumber))", path: path)
        }
    }

    /// The error of a file that this process may not write, or whose folder it may not.
    ///
    /// - returns: nil when the system allows both.
    static func unwritable(_ path: String) -> StoreError? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for place in [path, folder] where access(place, W_OK) != 0 {
            return StoreError(.cannotWrite, "cannot write: \(systemText(errno))", path: place)
        }
        return nil
    }
}
