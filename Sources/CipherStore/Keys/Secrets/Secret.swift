import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What opens a store: a passphrase, a recovery key or the content of a key file.
///
/// It is what configurations, connections and closures hold. Copies share one piece of memory, which
/// is locked, and zeroed when the last of them goes. Nothing that is printed shows the bytes, or how
/// many there are.
///
/// ```swift
/// let secret = Secret(try Passphrase("correct horse battery staple"))
/// configuration.useKeySlot(secret)
/// ```
public struct Secret: Sendable {
    /// What it is, and with that, which slots of a ``Keyring`` it can open.
    public let kind: KeySlot.Kind

    let bytes: SecretBytes

    /// The bytes of a passphrase as they were given, where they are not the normalised ones.
    private let givenBytes: SecretBytes?

    init(kind: KeySlot.Kind, bytes: SecretBytes, givenBytes: SecretBytes? = nil) {
        self.kind = kind
        self.bytes = bytes
        self.givenBytes = givenBytes
    }

    /// What a passphrase is to a file that exists. Normalised bytes come first: only other programs make files with
    /// others.
    var spellings: [SecretBytes] { [bytes] + (givenBytes.map { [$0] } ?? []) }

    /// A passphrase. Where a keyring has recovery keys, the text of one is taken for it.
    public init(_ passphrase: borrowing Passphrase) {
        self.init(kind: .passphrase, bytes: passphrase.bytes, givenBytes: passphrase.givenBytes)
    }

    /// A recovery key.
    public init(_ recoveryKey: borrowing RecoveryKey) {
        self.init(kind: .recoveryKey, bytes: recoveryKey.bytes)
    }

    /// The size of a key file in bytes.
    public static let keyFileByteCount = 32

    /// The bytes of a key file.
    ///
    /// - throws: A ``StoreError`` of code `missing`, `cannotRead` or `keyFileInvalid`: the file
    ///   has another size than 32 bytes, or others than its owner can read it.
    public init(keyFile path: String) throws {
        // Its size tells before it is opened: closing a descriptor of a database that this process has open would drop
        // the locks on it. Not blocking, for the name may be that of a pipe by then.
        var information = stat()
        if stat(path, &information) == 0 { try Self.requireKeyFile(information, path) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code: StoreError.Code = errno == ENOENT ? .missing : .cannotRead
            throw StoreError(code, "cannot open the key file: \(StoreError.systemText)", path: path)
        }
        defer { close(descriptor) }
        guard fstat(descriptor, &information) == 0 else {
            throw StoreError(
                .cannotRead, "cannot examine the key file: \(StoreError.systemText)", path: path)
        }
        try Self.requireKeyFile(information, path)
        guard information.st_mode & 0o077 == 0 else {
            throw StoreError(
                .keyFileInvalid,
                "others can read the key file; make it yours alone: chmod 600; where that changes nothing, as on a FAT stick, use a copy of it on another file system that has mode 600",
                path: path)
        }
        let bytes = try SecretBytes(capacity: Self.keyFileByteCount) { buffer in
            read(descriptor, buffer.baseAddress, buffer.count)
        }
        guard bytes.count == Self.keyFileByteCount else {
            throw StoreError(.cannotRead, "cannot read the key file", path: path)
        }
        self.init(kind: .keyFile, bytes: bytes)
    }

    /// Throws unless a file is a regular one of the size of a key file.
    private static func requireKeyFile(_ information: stat, _ path: String) throws {
        guard information.st_mode & S_IFMT == S_IFREG, information.st_size == keyFileByteCount else {
            throw StoreError(.keyFileInvalid, "a key file is a file of \(keyFileByteCount) bytes", path: path)
        }
    }

    /// Makes a new key file of random bytes, readable by its owner alone.
    ///
    /// The file is read back as it will be when it is used: some file systems, such as FAT, keep no file from others.
    ///
    /// - throws: A ``StoreError`` of code `exists`, `cannotWrite`, `keyFileInvalid` when others can read the file there, or
    ///   `reservedName` when the path is that of a file beside a database. No file is left then.
    public static func makeKeyFile(at path: String) throws -> Secret {
        try makeKeyFile(at: path) { try Secret(keyFile: $0) }
    }

    /// Makes a new key file.
    ///
    /// - parameter readBack: Reads the file; that of a test in the place of a file system that can't keep it private.
    static func makeKeyFile(at path: String, readBack: (String) throws -> Secret) throws -> Secret {
        var generator = SystemRandomNumberGenerator()
        let bytes = try SecretBytes(capacity: keyFileByteCount) { buffer in
            for index in buffer.indices { buffer[index] = generator.next() }
            return keyFileByteCount
        }
        let secret = Secret(kind: .keyFile, bytes: bytes)
        try bytes.withUnsafeBytes { try PrivateFile.create(path, content: $0) }
        do {
            guard try readBack(path).matches(secret) else {
                throw StoreError(
                    .cannotWrite, "the key file can't be read back as it was written", path: path)
            }
        } catch let error as StoreError {
            // It opens nothing yet.
            unlink(path)
            guard error.code == .keyFileInvalid else { throw error }
            throw StoreError(
                .keyFileInvalid,
                "others could read a key file there: the file system, such as FAT, can't keep it private, and it would be refused when it is used; make it on another one, such as that of your home folder, and copy it from there",
                path: path)
        }
        return secret
    }

    /// Returns whether two secrets are the same, in a time that does not depend on where they differ.
    public func matches(_ other: Secret) -> Bool { kind == other.kind && bytes.matches(other.bytes) }
}

/// The name that ``Secret`` had while it was used for key slots only.
public typealias KeySlotSecret = Secret

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it is, such as `secret (key file)`, and nothing of its content.
    public var description: String { "secret (\(kind.noun))" }

    /// The same as ``description``: a debugger's output ends in logs, too.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
