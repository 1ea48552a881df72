/// The file format of an encrypted database.
///
/// The numbers are those of SQLCipher's manual
/// (<https://www.zetetic.net/sqlcipher/sqlcipher-api/>).
public struct CipherSettings: Equatable, Sendable {
    /// The major version of SQLCipher that made the format.
    ///
    /// Files of versions 3 and 4 are recognised. Those of 1 and 2 open on request: see
    /// ``Database/usePassphrase(_:settings:)-(String,_)``.
    public enum Format: Int, Sendable, CaseIterable {
        /// PBKDF2-HMAC-SHA1 with 4,000 rounds; pages carry no MAC, so that damage shows as wrong data.
        case version1 = 1
        /// HMAC-SHA1, PBKDF2-HMAC-SHA1 with 4,000 rounds.
        case version2 = 2
        /// HMAC-SHA1, PBKDF2-HMAC-SHA1 with 64,000 rounds.
        case version3 = 3
        /// HMAC-SHA512, PBKDF2-HMAC-SHA512 with 256,000 rounds.
        case version4 = 4

        /// The formats that new files have, and that are recognised.
        static let current: [Format] = [.version3, .version4]

        /// Whether only SQLCipher 4 can read and write it.
        var needsVersion4: Bool { self == .version4 }

        /// Whether each page carries a MAC.
        var hasPageMACs: Bool { self != .version1 }

        /// The rounds of the key derivation.
        package var standardIterationCount: Int {
            switch self {
            case .version1, .version2: 4_000
            case .version3: 64_000
            case .version4: 256_000
            }
        }
    }

    /// The file format.
    public var format: Format

    /// The size of a page in bytes.
    public var pageSize: Int

    /// The rounds of the key derivation; the format's own number when nil.
    public var kdfIterations: Int?

    /// Makes settings.
    ///
    /// - parameters:
    ///     - format: The file format.
    ///     - pageSize: The size of a page in bytes: a power of two from 512 to 65536.
    ///     - kdfIterations: The rounds of the key derivation; the format's own number when nil.
    public init(format: Format, pageSize: Int = 4096, kdfIterations: Int? = nil) {
        self.format = format
        self.pageSize = pageSize
        self.kdfIterations = kdfIterations
    }

    /// The settings of the files that SQLCipher of a major version made unless it was told otherwise:
    /// what `PRAGMA cipher_compatibility` stands for.
    ///
    /// - parameter version: From 1 to 4; nil for another number.
    public init?(compatibility version: Int) {
        guard let format = Format(rawValue: version) else { return nil }
        self.init(format: format, pageSize: format == .version4 ? 4096 : 1024)
    }

    /// The rounds of the key derivation.
    package var iterationCount: Int { kdfIterations ?? format.standardIterationCount }

    /// Whether pages can be copied as they are between files of two settings,
    /// each under its own key.
    func hasPagesLike(_ other: CipherSettings) -> Bool {
        format == other.format && pageSize == other.pageSize
    }

    /// The page size of new files.
    static let defaultPageSize = 4096

    /// The settings of new files: the newest format that the library writes,
    /// with pages of 4096 bytes.
    public static var `default`: CipherSettings {
        CipherSettings(
            format: EngineFeatures.current.supportsFormat4 ? .version4 : .version3, pageSize: defaultPageSize)
    }

    /// The page sizes that SQLite allows, likely ones first.
    static let pageSizes = [4096, 1024, 8192, 16384, 2048, 32768, 65536, 512]

    /// The bytes at the end of each page that hold its IV and its MAC.
    var reservedByteCount: Int {
        switch format {
        case .version1: 16
        case .version2, .version3: 48
        case .version4: 80
        }
    }

    /// The bytes of the salt at the start of the file.
    static let saltByteCount = 16
}
