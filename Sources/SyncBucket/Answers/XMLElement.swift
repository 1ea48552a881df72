import Foundation

/// An element of an answer: its name, its text and the elements in it. Attributes are left out.
///
/// The reader takes the XML that storage servers write, and nothing that makes XML dangerous: no document types,
/// entities of documents, processing instructions or marked sections. It goes over the bytes once, and what it makes
/// is bounded.
struct XMLElement: Equatable {
    /// The name, without a prefix of a namespace.
    let name: String
    /// The text between the tags, entities resolved.
    fileprivate(set) var text = ""
    /// The elements in it.
    fileprivate(set) var children: [XMLElement] = []

    /// The first child of a name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the first child of a name.
    func text(_ name: String) -> String? { child(name)?.text }

    /// Reads a document; nil for what is none, or more than a reader takes.
    init?(document: Data, byteCountMax: Int = 8 << 20) {
        guard document.count <= byteCountMax else { return nil }
        var reader = XMLReader(Array(document))
        guard let root = reader.document() else { return nil }
        self = root
    }

    fileprivate init(name: String) { self.name = name }
}

/// Goes over the bytes of a document.
private struct XMLReader {
    private static let depthMax = 8
    private static let elementCountMax = 50_000
    private static let nameByteCountMax = 128

    private let bytes: [UInt8]
    private var index = 0
    private var elementCount = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The one element of the document.
    mutating func document() -> XMLElement? {
        // A mark of the order of bytes, which some servers write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        skipSpace()
        if takes("<?xml") {
            guard skip(past: "?>") else { return nil }
            skipSpace()
        }
        guard skipComments(), takes("<"), let root = element() else { return nil }
        skipSpace()
        guard skipComments() else { return nil }
        return index == bytes.count ? root : nil
    }

    /// An element whose `<` was read, with all that is in it. Without recursion, so depth costs no stack.
    private mutating func element() -> XMLElement? {
        var open: [XMLElement] = []
        var isTag = true
        while true {
            if isTag {
                guard let (element, isClosed) = startTag() else { return nil }
                if !isClosed {
                    open.append(element)
                    guard open.count <= Self.depthMax else { return nil }
                } else if open.isEmpty {
                    return element
                } else {
                    open[open.count - 1].children.append(element)
                }
            }
            guard let text = text() else { return nil }
            open[open.count - 1].text += text
            guard skipComments(keepingSpace: true), index < bytes.count else { return nil }
            guard bytes[index] == 0x3C else {
                // After a comment, text goes on.
                isTag = false
                continue
            }
            if takes("</") {
                guard let closed = open.popLast(), name() == closed.name else { return nil }
                skipSpace()
                guard takes(">") else { return nil }
                guard !open.isEmpty else { return closed }
                open[open.count - 1].children.append(closed)
                isTag = false
            } else {
                index += 1
                isTag = true
            }
        }
    }

    /// A tag whose `<` was read, and whether it is closed in itself.
    private mutating func startTag() -> (XMLElement, Bool)? {
        elementCount += 1
        guard elementCount <= Self.elementCountMax, let name = name() else { return nil }
        while true {
            skipSpace()
            if takes("/>") { return (XMLElement(name: name), true) }
            if takes(">") { return (XMLElement(name: name), false) }
            guard self.name() != nil else { return nil }
            skipSpace()
            guard takes("=") else { return nil }
            skipSpace()
            guard index < bytes.count, bytes[index] == 0x22 || bytes[index] == 0x27 else { return nil }
            let quote = bytes[index]
            index += 1
            while index < bytes.count && bytes[index] != quote {
                if bytes[index] == 0x3C { return nil }
                index += 1
            }
            guard index < bytes.count else { return nil }
            index += 1
        }
    }

    /// The local part of a name.
    private mutating func name() -> String? {
        let start = index
        while index < bytes.count, Self.isNameByte(bytes[index]) { index += 1 }
        guard index > start, index - start <= Self.nameByteCountMax else { return nil }
        let parts = bytes[start..<index].split(separator: 0x3A, omittingEmptySubsequences: false)
        guard parts.count <= 2, let last = parts.last, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        return String(decoding: last, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// The text before the next tag.
    private mutating func text() -> String? {
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != 0x3C {
            if bytes[index] == 0x26 {
                guard let character = entity() else { return nil }
                text += Array(String(character).utf8)
            } else {
                text.append(bytes[index])
                index += 1
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    /// One of the five entities that all documents have, or a character by its number.
    private mutating func entity() -> Character? {
        for (word, character) in [
            ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        ] as [(String, Character)] where takes(word) {
            return character
        }
        guard takes("&#") else { return nil }
        let radix = takes("x") ? 16 : 10
        let start = index
        while index < bytes.count, bytes[index] != 0x3B, index - start <= 8 { index += 1 }
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        guard takes(";"), digits.utf8.first != 0x2B, digits.utf8.first != 0x2D,
            let number = UInt32(digits, radix: radix), number > 0, let scalar = Unicode.Scalar(number)
        else { return nil }
        return Character(scalar)
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    /// - returns: False for a comment without an end, and for a declaration that is no comment.
    private mutating func skipComments(keepingSpace: Bool = false) -> Bool {
        while takes("<!") {
            guard takes("--"), skip(past: "-->") else { return false }
            if !keepingSpace { skipSpace() }
        }
        return true
    }

    private mutating func takes(_ word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func skip(past word: String) -> Bool {
        while index < bytes.count {
            if takes(word) { return true }
            index += 1
        }
        return false
    }
}
