/// The file format of an encrypted database.
///
/// The numbers are those of SQLCipher's manual
/// (<https://www.zetetic.net/sqlcipher/sqlcipher-api/>).
public struct CipherSettings: Equatable, Sendable {
    /// The major version of SQLCipher that made the format.
    public enum Format: Int, Sendable, CaseIterable {
        /// HMAC-SHA1, PBKDF2-HMAC-SHA1 with 64,000 rounds.
        case version3 = 3
        /// HMAC-SHA512, PBKDF2-HMAC-SHA512 with 256,000 rounds.
        case version4 = 4
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

    /// The rounds of the key derivation.
    var effectiveIterations: Int {
        kdfIterations ?? (format == .version3 ? 64_000 : 256_000)
    }

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
    var reservedByteCount: Int { format == .version3 ? 48 : 80 }

    /// The bytes of the salt at the start of the file.
    static let saltByteCount = 16
}
