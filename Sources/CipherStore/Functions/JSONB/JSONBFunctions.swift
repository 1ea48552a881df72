/// SQLite's functions that return binary JSON, and what new versions have more, for engines that lack them.
extension JSONFunctions {
    /// The functions whose result is JSON, each with a twin for the binary form.
    private static let makingJSON: Set<String> = [
        "", "_array", "_object", "_extract", "_patch", "_remove", "_insert", "_replace", "_set",
        "_group_array", "_group_object",
    ]

    /// `jsonb` and the functions whose names begin so.
    static var binary: [DatabaseFunction] {
        all(prefix: "jsonb", isBinary: true).filter { makingJSON.contains(String($0.name.dropFirst(5))) }
    }

    /// `json_array_insert` and its twin, which SQLite 3.46 lacks.
    static let arrayInsertion = ["json_array_insert", "jsonb_array_insert"].map { name in
        DatabaseFunction(name, argumentCount: nil, traits: traits) { call in
            try insertIntoArrays(call.returning(name.hasPrefix("jsonb")), name)
        }
    }

    /// Puts values before the elements that paths lead to.
    private static func insertIntoArrays(_ call: FunctionCall, _ name: String) throws {
        guard call.argumentCount > 0 else { return }
        guard call.argumentCount % 2 == 1 else {
            throw DatabaseError(message: "\(name)() needs an odd number of arguments")
        }
        guard var json = try parse(call, 0) else { return }
        for index in stride(from: 1, to: call.argumentCount, by: 2) {
            guard let path = path(call, index) else { continue }
            guard call[index].text.last == UInt8(ascii: "]") else {
                throw DatabaseError(message: "not an array element: the path of \(name)() has to end with ]")
            }
            var value: [UInt8] = []
            try appendValue(call, index + 1, infinity: "9e999", to: &value)
            if let node = try path.find(in: json) {
                let start = json.nodes[node].start
                json = try parseText(
                    Array(json.bytes[..<start] + value + [UInt8(ascii: ",")] + json.bytes[start...]))
            } else if let bytes = try path.apply(.insert, value: value, to: json) {
                json = try parseText(bytes)
            }
        }
        try returnJSON(json.bytes[...], call)
    }
}

extension FunctionCall {
    /// The call, of a function that returns JSON in a form.
    func returning(_ isBinary: Bool) -> FunctionCall {
        var call = self
        call.returnsJSONB = isBinary
        return call
    }
}
