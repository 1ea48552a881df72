/// `json_group_array`.
final class JSONGroupArray: AggregateState {
    private var output = [UInt8(ascii: "[")]
    private let isBinary: Bool

    init(_ isBinary: Bool) { self.isBinary = isBinary }

    func step(_ call: FunctionCall) throws {
        if output.count > 1 { output.append(UInt8(ascii: ",")) }
        try JSONFunctions.appendValue(call, 0, to: &output)
    }

    func finalize(_ call: FunctionCall) throws {
        output.append(UInt8(ascii: "]"))
        try JSONFunctions.returnJSON(output[...], call.returning(isBinary))
    }
}

/// `json_group_object`. A row whose name is NULL is left out.
final class JSONGroupObject: AggregateState {
    private var output = [UInt8(ascii: "{")]
    private let isBinary: Bool

    init(_ isBinary: Bool) { self.isBinary = isBinary }

    func step(_ call: FunctionCall) throws {
        guard call[0].storageClass != RawColumn.nullClass else { return }
        if output.count > 1 { output.append(UInt8(ascii: ",")) }
        JSONString.append(call[0].text, to: &output)
        output.append(UInt8(ascii: ":"))
        try JSONFunctions.appendValue(call, 1, to: &output)
    }

    func finalize(_ call: FunctionCall) throws {
        output.append(UInt8(ascii: "}"))
        try JSONFunctions.returnJSON(output[...], call.returning(isBinary))
    }
}
