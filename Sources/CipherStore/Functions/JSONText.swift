/// A JSON text without blanks, and the positions of the values in it.
///
/// Numbers and strings stay as they were written, and the members of an object
/// in their order, because the SQL functions of JSON hand them out again. The
/// syntax is that of RFC 8259 and nothing more.
struct JSONText {
    /// The kinds of JSON values, by the names that `json_type` gives.
    enum Kind: String {
        case null
        case `true`
        case `false`
        case integer
        case real
        case text
        case array
        case object
    }

    /// A value in the text. Values are in the order of the text; a member of an
    /// object is a text, the name, and the value after it.
    struct Node {
        let kind: Kind
        /// Where its bytes are.
        let start: Int
        var end: Int
        /// The node after its last descendant.
        var next: Int
        /// The number of elements or of members.
        var count = 0

        var range: Range<Int> { start..<end }
    }

    /// Arrays and objects can be nested so deep, as in SQLite.
    static let maximumDepth = 1000

    /// The text in UTF-8.
    private(set) var bytes: [UInt8] = []

    /// The values; the first is the whole.
    private(set) var nodes: [Node] = []

    /// Parses a text in UTF-8.
    ///
    /// - throws: ``JSONSyntaxError``.
    init(parsing source: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        var parser = JSONParser(source: source)
        try parser.parse()
        bytes = parser.bytes
        nodes = parser.nodes
    }

    /// Parses bytes.
    ///
    /// - throws: ``JSONSyntaxError``.
    init(parsing source: [UInt8]) throws(JSONSyntaxError) {
        let result = source.withUnsafeBytes { source in
            Result { () throws(JSONSyntaxError) in try JSONText(parsing: source) }
        }
        self = try result.get()
    }

    /// The text of a value.
    func text(of node: Int) -> ArraySlice<UInt8> { bytes[nodes[node].range] }

    /// The nodes of the elements of an array, or of the names of an object's members.
    func children(of node: Int) -> [Int] {
        var children: [Int] = []
        children.reserveCapacity(nodes[node].count)
        let isObject = nodes[node].kind == .object
        var child = node + 1
        for _ in 0..<nodes[node].count {
            children.append(child)
            child = isObject ? nodes[child + 1].next : nodes[child].next
        }
        return children
    }
}

/// A text that is not JSON.
struct JSONSyntaxError: Error {
    /// The offset of the first byte that is wrong.
    let offset: Int
}

/// Parses without recursion, so that a hostile text can't exhaust the stack.
private struct JSONParser {
    let source: UnsafeRawBufferPointer
    var position = 0
    var bytes: [UInt8] = []
    var nodes: [JSONText.Node] = []
    /// The arrays and objects that are open.
    var open: [Int] = []

    init(source: UnsafeRawBufferPointer) {
        self.source = source
        bytes.reserveCapacity(source.count)
    }

    mutating func parse() throws(JSONSyntaxError) {
        repeat {
            try parseValue()
            try closeOrContinue()
        } while !open.isEmpty
        skipBlanks()
        guard position == source.count else { throw failure }
    }

    private var failure: JSONSyntaxError { JSONSyntaxError(offset: position) }

    /// The next byte, 0 at the end.
    private var byte: UInt8 { position < source.count ? source[position] : 0 }

    private mutating func skipBlanks() {
        while byte == 0x20 || (0x09...0x0D).contains(byte) && byte != 0x0B && byte != 0x0C { position += 1 }
    }

    /// Parses a value, or the start of one that holds others.
    private mutating func parseValue() throws(JSONSyntaxError) {
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): try begin(.object, end: UInt8(ascii: "}"))
        case UInt8(ascii: "["): try begin(.array, end: UInt8(ascii: "]"))
        case UInt8(ascii: "\""): try parseText()
        case UInt8(ascii: "t"): try parseWord("true", .true)
        case UInt8(ascii: "f"): try parseWord("false", .false)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        default: throw failure
        }
    }

    private mutating func begin(_ kind: JSONText.Kind, end: UInt8) throws(JSONSyntaxError) {
        guard open.count < JSONText.maximumDepth else { throw failure }
        open.append(nodes.count)
        nodes.append(JSONText.Node(kind: kind, start: bytes.count, end: 0, next: 0))
        copy()
        skipBlanks()
        // An end here is of an empty one, and is handled by the caller.
        if byte != end { try beginChild() }
    }

    /// Counts an element, and parses the name of a member.
    private mutating func beginChild() throws(JSONSyntaxError) {
        guard let parent = open.last else { return }
        nodes[parent].count += 1
        guard nodes[parent].kind == .object else { return try parseValue() }
        skipBlanks()
        guard byte == UInt8(ascii: "\"") else { throw failure }
        try parseText()
        skipBlanks()
        guard byte == UInt8(ascii: ":") else { throw failure }
        copy()
        try parseValue()
    }

    /// Ends the arrays and objects that end here, up to the next element.
    private mutating func closeOrContinue() throws(JSONSyntaxError) {
        while let parent = open.last {
            skipBlanks()
            let end = nodes[parent].kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
            if byte == end {
                copy()
                nodes[parent].end = bytes.count
                nodes[parent].next = nodes.count
                open.removeLast()
            } else if byte == UInt8(ascii: ","), nodes[parent].count > 0 {
                copy()
                try beginChild()
            } else {
                throw failure
            }
        }
    }

    private mutating func copy() {
        bytes.append(source[position])
        position += 1
    }

    private mutating func append(_ kind: JSONText.Kind, from start: Int) {
        let first = bytes.count
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[start..<position]))
        nodes.append(JSONText.Node(kind: kind, start: first, end: bytes.count, next: nodes.count + 1))
    }

    private mutating func parseWord(_ word: StaticString, _ kind: JSONText.Kind) throws(JSONSyntaxError) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard byte == word.utf8Start[index] else { throw failure }
            position += 1
        }
        append(kind, from: start)
    }

    private mutating func parseNumber() throws(JSONSyntaxError) {
        let start = position
        var kind = JSONText.Kind.integer
        if byte == UInt8(ascii: "-") { position += 1 }
        if byte == UInt8(ascii: "0") {
            position += 1
        } else {
            try parseDigits()
        }
        if byte == UInt8(ascii: ".") {
            kind = .real
            position += 1
            try parseDigits()
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            kind = .real
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            try parseDigits()
        }
        append(kind, from: start)
    }

    private mutating func parseDigits() throws(JSONSyntaxError) {
        guard isDigit(byte) else { throw failure }
        while isDigit(byte) { position += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func parseText() throws(JSONSyntaxError) {
        let start = position
        position += 1
        while byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw failure }
            if byte == UInt8(ascii: "\\") {
                position += 1
                try parseEscape()
            } else {
                position += 1
            }
        }
        position += 1
        append(.text, from: start)
    }

    private mutating func parseEscape() throws(JSONSyntaxError) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard JSONString.hexValue(byte) != nil else { throw failure }
                position += 1
            }
        default: throw failure
        }
    }
}
