/// The rows of a cursor of `json_each`.
final class JSONElementRows {
    /// The JSON, nil when it is NULL.
    private(set) var json: JSONText?
    /// The path of what the elements are of.
    private(set) var root = "$"
    /// How many rows came before.
    var position = 0
    /// The elements, or the names of the members.
    private var children: [Int] = []
    private var isObject = false
    /// Whether the only row is a value that has no elements.
    private var isSingle = false

    var isAtEnd: Bool { position >= children.count }

    /// The value of the row.
    var node: Int { isObject ? children[position] + 1 : children[position] }

    /// Forgets all rows.
    func clear() {
        json = nil
        root = "$"
        position = 0
        children = []
        isObject = false
        isSingle = false
    }

    /// Reads the JSON and the path.
    ///
    /// - throws: A ``DatabaseError`` when one of them is malformed.
    func read(_ call: FunctionCall) throws {
        guard let json = try JSONFunctions.parse(call, 0) else { return }
        var node = 0
        if call.argumentCount > 1 {
            guard let path = JSONFunctions.path(call, 1), let found = try path.find(in: json) else { return }
            node = found
            root = call[1].string
        }
        self.json = json
        switch json.nodes[node].kind {
        case .array: children = json.children(of: node)
        case .object:
            isObject = true
            children = json.children(of: node)
        default:
            isSingle = true
            children = [node]
        }
    }

    /// The name of the member, or the position of the element.
    func giveKey(to call: FunctionCall) {
        guard let json, !isSingle else { return call.returnNull() }
        guard isObject else { return call.returnInt64(Int64(position)) }
        name(in: json).withUnsafeBytes { call.returnText($0) }
    }

    private func name(in json: JSONText) -> [UInt8] {
        JSONString.unescaped(json.text(of: children[position]).dropFirst().dropLast())
    }

    /// The path of the row.
    var fullKey: String {
        guard let json, !isSingle else { return root }
        guard isObject else { return "\(root)[\(position)]" }
        let quoted = json.text(of: children[position])
        let isPlain = quoted.dropFirst().dropLast().allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        let name = isPlain && quoted.count > 2 ? quoted.dropFirst().dropLast() : quoted
        return root + "." + String(decoding: name, as: UTF8.self)
    }
}
