import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What is wrong with a database file or its key.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    ///
    /// New kinds may be added, so a `switch` over them needs a default.
    public enum Code: String, Sendable {
        /// There is no file at the path.
        case missing
        /// There is a file where a new one should be made.
        case exists
        /// The path is that of a file that SQLite or a keyring keeps beside another file.
        case reservedName
        /// The file has no bytes where a database is expected.
        case empty
        /// The file is an SQLite database that is not encrypted.
        case plaintext
        /// The passphrase does not open the file, or its first page is damaged.
        case wrongPassphrase
        /// A page has a wrong MAC, or a check failed.
        case damaged
        /// The file needs a newer SQLCipher than the linked one, or a newer version of this library:
        /// ``StoreError/needsNewerLibrary``.
        case formatTooNew
        /// Another process or connection has the file in use.
        case busy
        /// The file was replaced by another one while it was open.
        case replaced
        /// The disk is full.
        case full
        /// A file that SQLite keeps beside the database is a symbolic link.
        case linkedCompanion
        /// The file can't be read.
        case cannotRead
        /// The file or its folder can't be written.
        case cannotWrite
        /// An operation was asked for that would write plaintext, or mix formats, or a connection that would write
        /// pages as no store has them.
        case encryptionMismatch
        /// The connection has no key where one is required.
        case keyRequired
        /// The passphrase is empty.
        case emptyPassphrase
        /// The passphrase is too long.
        case passphraseTooLong
        /// A raw key has another length, or other characters, than it may have.
        case rawKeyInvalid
        /// There is no keyring beside the store.
        case keyringMissing
        /// The file of the keyring is not what was written.
        case keyringDamaged
        /// The keyring belongs to another file.
        case keyringMismatch
        /// The keyring has no such slot.
        case noSuchSlot
        /// The only slot of a keyring can't be removed.
        case lastSlot
        /// The operation would end slots of the keyring that the caller did not name.
        case otherSlots
        /// The slot that was just used can't be removed, or is none of a passphrase that could be changed.
        case slotInUse
        /// The keyring has as many slots as it can have.
        case tooManySlots
        /// The label of a slot is too long, or has control characters.
        case labelInvalid
        /// The text is no recovery key, or has a typing error.
        case recoveryKeyInvalid
        /// The file is no key file, or others can read it.
        case keyFileInvalid
        /// The file is no archive, or not what was written.
        case archiveDamaged
        /// The parameters of a key derivation are out of range.
        case costOutOfRange
        /// There is no memory for a key.
        case outOfMemory
        /// The operation was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code

    /// What happened, without the path.
    public let message: String

    /// The file concerned.
    public let path: String?

    /// Whether a newer version of this library could read the file: a format of this library, not of
    /// SQLCipher, is too new.
    public let needsNewerLibrary: Bool

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, path: String? = nil, needsNewerLibrary: Bool = false
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.needsNewerLibrary = needsNewerLibrary
    }

    /// The message and the file. Never a key.
    public var description: String {
        path.map { "\($0): \(message)" } ?? message
    }

    /// The text of the last failed system call, as the middle of a sentence.
    package static var systemText: String {
        let text = String(cString: strerror(errno))
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// The text of an `errno` and its number, as the middle of a sentence.
    static func systemText(_ errorNumber: CInt) -> String {
        let text = String(cString: strerror(errorNumber))
        return text.prefix(1).lowercased() + text.dropFirst() + " (errno \(errorNumber))"
    }
}

extension StoreError {
    /// Makes the store error that an error is, or that a ``DatabaseError`` carries.
    ///
    /// ```swift
    /// do {
    ///     let dbQueue = try DatabaseQueue(path: path, configuration: configuration)
    /// } catch let error where StoreError(error)?.code == .cannotWrite {
    ///     …
    /// } catch DatabaseError.SQLITE_CANTOPEN {
    ///     …
    /// }
    /// ```
    ///
    /// - parameter error: Any error of the library.
    public init?(_ error: any Error) {
        guard let found = (error as? StoreError) ?? (error as? DatabaseError)?.storeError else { return nil }
        self = found
    }
}
