/// The part of a file that a request asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    case all
    case part(Range<Int64>)
    /// None of it is there.
    case outside

    /// Reads the header `Range`. One that is not of bytes, has several parts or can't be read counts as none, as the
    /// standard has it.
    init(_ header: String?, of byteCount: Int64) {
        guard let header, header.hasPrefix("bytes=") else {
            self = .all
            return
        }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self = .all
            return
        }
        let (first, last) = (RelayNumber.natural(parts[0]), RelayNumber.natural(parts[1]))
        switch (first, last) {
        case (let first?, let last?): self.init(from: first, through: last, of: byteCount)
        case (let first?, nil) where parts[1].isEmpty: self.init(from: first, through: .max, of: byteCount)
        case (nil, let count?) where parts[0].isEmpty:
            self = count == 0 || byteCount == 0 ? .outside : .part(max(0, byteCount - count)..<byteCount)
        default: self = .all
        }
    }

    private init(from first: Int64, through last: Int64, of byteCount: Int64) {
        guard last >= first else {
            self = .all
            return
        }
        self = first < byteCount ? .part(first..<(min(last, byteCount - 1) + 1)) : .outside
    }
}
