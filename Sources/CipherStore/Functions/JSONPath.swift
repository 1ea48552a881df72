/// The paths of the JSON functions: `$.name`, `$."a name"`, `$[0]`, `$[#-1]`.
///
/// A path is read while it is followed, so that what comes after a value that
/// is not there is not looked at, as in SQLite.
///
/// Source: "JSON Functions And Operators", section 3.3,
/// <https://www.sqlite.org/json1.html#path_arguments>
struct JSONPath {
    private let path: [UInt8]

    init(_ path: UnsafeRawBufferPointer) { self.path = Array(path) }

    /// What an edit does with a value that is there, and with one that is not.
    enum Edit {
        case insert
        case replace
        case set
        case remove

        var creates: Bool { self == .insert || self == .set }
    }

    /// Where a path leads.
    enum Place {
        /// To a value.
        case node(Int)
        /// To a new member or element: the node that will hold it, its name
        /// with quotes if it is a member, and where the path goes on.
        case missing(in: Int, name: [UInt8]?, rest: Int)
        /// To nothing.
        case nowhere
    }

    private enum Step {
        case member(name: [UInt8], quoted: [UInt8])
        case element(Int)
        case elementFromEnd(Int)
    }

    /// Finds a value.
    ///
    /// - throws: A ``DatabaseError`` when the path is malformed.
    func find(in json: JSONText) throws -> Int? {
        if case .node(let node) = try place(in: json, from: 1) { return node }
        return nil
    }

    /// Changes a text, or returns nil when all of it is removed.
    ///
    /// - throws: A ``DatabaseError`` when the path is malformed.
    func apply(_ edit: Edit, value: [UInt8], to json: JSONText) throws -> [UInt8]? {
        try apply(edit, value: value, to: json, from: 1, depth: 0)
    }

    /// - parameter depth: How many arrays and objects the path has made so far.
    private func apply(
        _ edit: Edit, value: [UInt8], to json: JSONText, from start: Int, depth: Int
    ) throws -> [UInt8]? {
        switch try place(in: json, from: start) {
        case .node(let node):
            switch edit {
            case .insert: return json.bytes
            case .replace, .set: return json.replacing(node, with: value)
            case .remove: return json.removing(node)
            }
        case .missing(let parent, let name, let rest):
            guard edit.creates, let value = try substructure(edit, value: value, from: rest, depth: depth)
            else { return json.bytes }
            return json.appending(value, name: name, to: parent)
        case .nowhere: return json.bytes
        }
    }

    /// Returns the value with the arrays and objects around it that the rest
    /// of the path names, or nil when they can't be made.
    private func substructure(
        _ edit: Edit, value: [UInt8], from start: Int, depth: Int
    ) throws -> [UInt8]? {
        guard start < path.count else { return value }
        // A hostile path can't exhaust the stack, nor make what can't be parsed.
        guard depth < JSONText.maximumDepth else { throw error }
        let empty = try JSONText(parsing: Array((path[start] == UInt8(ascii: ".") ? "{}" : "[]").utf8))
        let result = try apply(edit, value: value, to: empty, from: start, depth: depth + 1)
        return result == empty.bytes ? nil : result
    }

    // MARK: Steps

    private var error: DatabaseError {
        DatabaseError(message: "bad JSON path: '\(String(decoding: path, as: UTF8.self))'")
    }

    /// Follows the path from the root.
    private func place(in json: JSONText, from start: Int) throws -> Place {
        guard start > 1 || path.first == UInt8(ascii: "$") else { throw error }
        var node = 0
        var position = start
        while position < path.count {
            let kind = json.nodes[node].kind
            switch path[position] {
            case UInt8(ascii: "."):
                guard case .member(let name, let quoted) = try parseMember(&position) else { return .nowhere }
                guard kind == .object else { return .nowhere }
                guard let member = json.member(named: name, of: node) else {
                    return .missing(in: node, name: quoted, rest: position)
                }
                node = member
            case UInt8(ascii: "["):
                guard kind == .array else { return .nowhere }
                let count = json.nodes[node].count
                var index = 0
                switch try parseElement(&position) {
                case .element(let position): index = position
                case .elementFromEnd(let distance): index = count - distance
                case .member: return .nowhere
                }
                guard index >= 0, index <= count else { return .nowhere }
                if index == count { return .missing(in: node, name: nil, rest: position) }
                node = json.element(index, of: node)
            default: throw error
            }
        }
        return .node(node)
    }

    private func parseMember(_ position: inout Int) throws -> Step {
        position += 1
        let start = position
        guard position < path.count, path[position] == UInt8(ascii: "\"") else {
            while position < path.count, path[position] != UInt8(ascii: "."),
                path[position] != UInt8(ascii: "[")
            {
                position += 1
            }
            guard position > start else { throw error }
            var quoted: [UInt8] = []
            path[start..<position].withUnsafeBytes { JSONString.append($0, to: &quoted) }
            return .member(name: Array(path[start..<position]), quoted: quoted)
        }
        repeat {
            position += path[position] == UInt8(ascii: "\\") ? 2 : 1
        } while position < path.count && path[position] != UInt8(ascii: "\"")
        guard position < path.count else { throw error }
        position += 1
        let quoted = Array(path[start..<position])
        // It gets into the text as it is, so it must be JSON.
        guard (try? JSONText(parsing: quoted)) != nil else { throw error }
        return .member(name: JSONString.unescaped(quoted.dropFirst().dropLast()), quoted: quoted)
    }

    private func parseElement(_ position: inout Int) throws -> Step {
        position += 1
        let isFromEnd = position < path.count && path[position] == UInt8(ascii: "#")
        var number = 0
        if isFromEnd {
            position += 1
            if position < path.count, path[position] == UInt8(ascii: "-") {
                position += 1
                number = try parseNumber(&position)
            }
        } else {
            number = try parseNumber(&position)
        }
        guard position < path.count, path[position] == UInt8(ascii: "]") else { throw error }
        position += 1
        return isFromEnd ? .elementFromEnd(number) : .element(number)
    }

    private func parseNumber(_ position: inout Int) throws -> Int {
        var number = 0
        let start = position
        while position < path.count, let digit = Self.digit(path[position]) {
            // No array is as long.
            number = min(number * 10 + digit, Int(Int32.max))
            position += 1
        }
        guard position > start else { throw error }
        return number
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}

extension JSONText {
    /// The value of the first member of a name.
    func member(named name: [UInt8], of object: Int) -> Int? {
        var label = object + 1
        for _ in 0..<nodes[object].count {
            if isName(name, label) { return label + 1 }
            label = nodes[label + 1].next
        }
        return nil
    }

    private func isName(_ name: [UInt8], _ label: Int) -> Bool {
        let content = bytes[(nodes[label].start + 1)..<(nodes[label].end - 1)]
        if content.elementsEqual(name) { return true }
        return content.contains(UInt8(ascii: "\\")) && JSONString.unescaped(content) == name
    }

    /// An element of an array that has so many.
    func element(_ index: Int, of array: Int) -> Int {
        var node = array + 1
        for _ in 0..<index { node = nodes[node].next }
        return node
    }

    func replacing(_ node: Int, with value: [UInt8]) -> [UInt8] {
        bytes[..<nodes[node].start] + value + bytes[nodes[node].end...]
    }

    /// Returns nil for the root.
    func removing(_ node: Int) -> [UInt8]? {
        guard node > 0 else { return nil }
        var range = nodes[node].range
        if bytes[range.lowerBound - 1] == UInt8(ascii: ":") {
            range = nodes[node - 1].start..<range.upperBound
        }
        // One comma goes with it: the one before it, or after the first.
        if bytes[range.lowerBound - 1] == UInt8(ascii: ",") {
            range = (range.lowerBound - 1)..<range.upperBound
        } else if bytes[range.upperBound] == UInt8(ascii: ",") {
            range = range.lowerBound..<(range.upperBound + 1)
        }
        return Array(bytes[..<range.lowerBound] + bytes[range.upperBound...])
    }

    func appending(_ value: [UInt8], name: [UInt8]?, to parent: Int) -> [UInt8] {
        let end = nodes[parent].end - 1
        var output = Array(bytes[..<end])
        if nodes[parent].count > 0 { output.append(UInt8(ascii: ",")) }
        if let name { output += name + [UInt8(ascii: ":")] }
        output += value
        output += bytes[end...]
        return output
    }
}
