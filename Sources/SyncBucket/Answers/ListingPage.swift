import Foundation

/// A page of the listing of a bucket: the answer to `ListObjectsV2`.
struct ListingPage {
    /// A file of the bucket.
    struct Entry: Equatable {
        let key: String
        let byteCount: Int
        /// What tells its versions apart, without quotes; nil when the server gives none.
        let tag: String?
    }

    /// The files.
    let entries: [Entry]
    /// What the next page is asked for with; nil on the last one.
    let continuation: String?

    /// Reads an answer; nil for what is none. Entries that are not sound are left out, as if they were not there yet.
    init?(_ document: Data) {
        guard let root = XMLElement(document: document), root.name == "ListBucketResult" else { return nil }
        let isEncoded = root.text("EncodingType") == "url"
        entries = root.children.filter { $0.name == "Contents" }.compactMap { element in
            guard let text = element.text("Key"),
                let key = isEncoded ? CanonicalText.decode(text, plusIsSpace: true) : text,
                let byteCount = element.text("Size").flatMap({ Int($0) }), byteCount >= 0
            else { return nil }
            return Entry(key: key, byteCount: byteCount, tag: EntityTag.read(element.text("ETag")))
        }
        let isCut = root.text("IsTruncated") == "true"
        let token = root.text("NextContinuationToken")
        guard !isCut || token?.isEmpty == false else { return nil }
        continuation = isCut ? token : nil
    }
}

/// What a server calls a version of a file.
enum EntityTag {
    /// Reads a tag, with its quotes or without; nil for none, for a weak one, which does not tell versions apart byte by
    /// byte, and for one that no header can hold.
    static func read(_ text: String?) -> String? {
        guard var tag = text.map({ Substring($0) }), !tag.hasPrefix("W/") else { return nil }
        if tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") { tag = tag.dropFirst().dropLast() }
        guard (1...256).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        return String(tag)
    }
}
