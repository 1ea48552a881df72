/// A page of what a channel has, or of what changed in it.
///
/// The pages of one listing come in the order of positions. What a later page says of a file counts.
public struct RelayListing: Hashable, Sendable, Codable {
    /// A file that is there.
    public struct Entry: Hashable, Sendable, Codable {
        /// Where it is.
        public let file: RelayFileName
        /// How many bytes it has.
        public let byteCount: Int64
        /// At which position this version of it was written.
        public let position: RelayPosition
        /// When it was written by the relay's clock, in milliseconds since 1970.
        public let milliseconds: Int64

        /// Makes an entry.
        public init(file: RelayFileName, byteCount: Int64, position: RelayPosition, milliseconds: Int64) {
            self.file = file
            self.byteCount = byteCount
            self.position = position
            self.milliseconds = milliseconds
        }

        private enum CodingKeys: String, CodingKey {
            case folder, name, byteCount, position, milliseconds
        }

        /// Reads and checks an entry.
        ///
        /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            file = try RelayFileName(from: decoder)
            byteCount = try container.natural(.byteCount)
            position = try container.natural(.position)
            milliseconds = try container.natural(.milliseconds)
        }

        /// Writes the members of the name and of the entry side by side.
        public func encode(to encoder: any Encoder) throws {
            try file.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(byteCount, forKey: .byteCount)
            try container.encode(position, forKey: .position)
            try container.encode(milliseconds, forKey: .milliseconds)
        }
    }

    /// The time in which the positions mean something.
    public let epoch: RelayEpoch
    /// The position of the channel when the page was made. That of the last page is where the next listing begins.
    public let position: RelayPosition
    /// Whether it lists everything: what it doesn't name is not there.
    public let isComplete: Bool
    /// The files that are there.
    public let files: [Entry]
    /// The files that were removed.
    public let removed: [RelayFileName]
    /// What to give back for the next page; nil on the last one.
    public let next: String?

    /// Makes a page.
    public init(
        epoch: RelayEpoch, position: RelayPosition, isComplete: Bool, files: [Entry],
        removed: [RelayFileName], next: String? = nil
    ) {
        self.epoch = epoch
        self.position = position
        self.isComplete = isComplete
        self.files = files
        self.removed = removed
        self.next = next
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, position, files, removed, next
        case isComplete = "complete"
    }

    /// The most characters of ``next``.
    static let nextCharacterCountMax = 256

    /// Reads and checks a page.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        epoch = try container.decode(RelayEpoch.self, forKey: .epoch)
        position = try container.natural(.position)
        isComplete = try container.decode(Bool.self, forKey: .isComplete)
        files = try container.decode([Entry].self, forKey: .files)
        removed = try container.decode([RelayFileName].self, forKey: .removed)
        next = try container.decodeIfPresent(String.self, forKey: .next)
        guard files.count + removed.count <= RelayBounds.pageEntryCountMax else {
            throw RelayProblem(
                .malformed, "a page of a listing has over \(RelayBounds.pageEntryCountMax) entries")
        }
        guard next?.utf8.count ?? 0 <= Self.nextCharacterCountMax else {
            throw RelayProblem(.malformed, "the name of a page is too long")
        }
    }
}
