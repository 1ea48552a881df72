/// SQLite's JSON functions, for a library that was built without them.
///
/// They do what those of SQLite 3.46 do, except that they don't know JSON5. The
/// operators `->` and `->>` are part of SQLite's grammar and
/// can't be added. ``JSONTable`` is `json_each`; `json_tree` is missing.
///
/// Source: <https://www.sqlite.org/json1.html>
enum JSONFunctions {
    /// The mark that SQLite's JSON functions leave on text that is JSON.
    static let subtype = CUnsignedInt(UInt8(ascii: "J"))

    /// Returns the functions, under names that start with `prefix`.
    ///
    /// - parameter isBinary: Whether they return JSON in its binary form.
    static func all(prefix: String, isBinary: Bool = false) -> [DatabaseFunction] {
        func function(
            _ name: String, _ argumentCount: Int?, _ body: @escaping FunctionRegistration.Function
        ) -> DatabaseFunction {
            DatabaseFunction(prefix + name, argumentCount: argumentCount, traits: traits) { call in
                var call = call
                call.returnsJSONB = isBinary
                try body(call)
            }
        }
        return [
            function("", 1, minify), function("_array", nil, array), function("_object", nil, object),
            function("_array_length", 1, arrayLength), function("_array_length", 2, arrayLength),
            function("_extract", nil, extract), function("_patch", 2, patch), function("_quote", 1, quote),
            function("_type", 1, type), function("_type", 2, type), function("_valid", 1, valid),
            function("_error_position", 1, errorPosition), function("_remove", nil, remove),
            function("_insert", nil) { try edit($0, .insert, "\(prefix)_insert") },
            function("_replace", nil) { try edit($0, .replace, "\(prefix)_replace") },
            function("_set", nil) { try edit($0, .set, "\(prefix)_set") },
            DatabaseFunction(prefix + "_group_array", argumentCount: 1, traits: traits) {
                JSONGroupArray(isBinary)
            },
            DatabaseFunction(prefix + "_group_object", argumentCount: 2, traits: traits) {
                JSONGroupObject(isBinary)
            },
        ]
    }

    static let traits: FunctionRegistration.Traits = [
        .deterministic, .innocuous, .readsSubtypes, .marksResult,
    ]

    // MARK: Making JSON

    private static func minify(_ call: FunctionCall) throws {
        guard let json = try parse(call, 0) else { return }
        try returnJSON(json.bytes[...], call)
    }

    private static func array(_ call: FunctionCall) throws {
        var output = [UInt8(ascii: "[")]
        for index in 0..<call.argumentCount {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            try appendValue(call, index, to: &output)
        }
        output.append(UInt8(ascii: "]"))
        try returnJSON(output[...], call)
    }

    private static func object(_ call: FunctionCall) throws {
        guard call.argumentCount % 2 == 0 else {
            throw DatabaseError(message: "json_object() requires an even number of arguments")
        }
        var output = [UInt8(ascii: "{")]
        for index in stride(from: 0, to: call.argumentCount, by: 2) {
            guard call[index].storageClass == RawColumn.textClass else {
                throw DatabaseError(message: "json_object() labels must be TEXT")
            }
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONString.append(call[index].text, to: &output)
            output.append(UInt8(ascii: ":"))
            try appendValue(call, index + 1, to: &output)
        }
        output.append(UInt8(ascii: "}"))
        try returnJSON(output[...], call)
    }

    private static func quote(_ call: FunctionCall) throws {
        var output: [UInt8] = []
        try appendValue(call, 0, to: &output)
        try returnJSON(output[...], call)
    }

    // MARK: Reading JSON

    private static func arrayLength(_ call: FunctionCall) throws {
        guard let json = try parse(call, 0), let node = try find(json, call) else { return }
        call.returnInt64(json.nodes[node].kind == .array ? Int64(json.nodes[node].count) : 0)
    }

    private static func type(_ call: FunctionCall) throws {
        guard let json = try parse(call, 0), let node = try find(json, call) else { return }
        call.returnText(json.nodes[node].kind.rawValue)
    }

    /// The root, or what the path of the second argument leads to.
    private static func find(_ json: JSONText, _ call: FunctionCall) throws -> Int? {
        guard call.argumentCount > 1 else { return 0 }
        return try path(call, 1)?.find(in: json)
    }

    private static func extract(_ call: FunctionCall) throws {
        guard call.argumentCount > 1, let json = try parse(call, 0) else { return }
        if call.argumentCount == 2 {
            guard let node = try find(json, call) else { return }
            return try returnSQLValue(json, node, call)
        }
        var output = [UInt8(ascii: "[")]
        for index in 1..<call.argumentCount {
            guard let path = path(call, index) else { return }
            if index > 1 { output.append(UInt8(ascii: ",")) }
            if let node = try path.find(in: json) {
                output += json.text(of: node)
            } else {
                output += "null".utf8
            }
        }
        output.append(UInt8(ascii: "]"))
        try returnJSON(output[...], call)
    }

    /// `json -> path` where there is no such operator: what is at a path in full, as it is written there.
    static let part = DatabaseFunction("cipherstore_json_part", argumentCount: 2, traits: traits) { call in
        guard let json = try JSONFunctions.parse(call, 0),
            let node = try JSONFunctions.path(call, 1)?.find(in: json)
        else { return }
        try JSONFunctions.returnJSON(json.text(of: node), call)
    }

    private static func valid(_ call: FunctionCall) {
        guard call[0].storageClass != RawColumn.nullClass else { return }
        let isText = call[0].storageClass != RawColumn.blobClass
        call.returnInt64(isText && (try? JSONText(parsing: call[0].text)) != nil ? 1 : 0)
    }

    private static func errorPosition(_ call: FunctionCall) {
        guard call[0].storageClass != RawColumn.nullClass else { return }
        let text = call[0].text
        do throws(JSONSyntaxError) {
            _ = try JSONText(parsing: text)
            call.returnInt64(0)
        } catch {
            // The position is counted in characters, from 1.
            let before = text.prefix(error.offset)
            call.returnInt64(Int64(before.count { $0 & 0xC0 != 0x80 }) + 1)
        }
    }

    // MARK: Changing JSON

    private static func edit(_ call: FunctionCall, _ edit: JSONPath.Edit, _ name: String) throws {
        guard call.argumentCount > 0 else { return }
        guard call.argumentCount % 2 == 1 else {
            throw DatabaseError(message: "\(name)() needs an odd number of arguments")
        }
        guard var json = try parse(call, 0) else { return }
        for index in stride(from: 1, to: call.argumentCount, by: 2) {
            guard let path = path(call, index) else { continue }
            var value: [UInt8] = []
            try appendValue(call, index + 1, infinity: "9e999", to: &value)
            if call.subtype(index + 1) == subtype { value = try parseText(value).bytes }
            guard let bytes = try path.apply(edit, value: value, to: json) else { return }
            // Of the text that was put together, the depth may be too much.
            json = try parseText(bytes)
        }
        try returnJSON(json.bytes[...], call)
    }

    private static func remove(_ call: FunctionCall) throws {
        guard call.argumentCount > 0, var json = try parse(call, 0) else { return }
        for index in 1..<max(call.argumentCount, 1) {
            guard let path = path(call, index),
                let bytes = try path.apply(.remove, value: [], to: json)
            else { return }
            if bytes.count != json.bytes.count { json = try parseText(bytes) }
        }
        try returnJSON(json.bytes[...], call)
    }

    private static func patch(_ call: FunctionCall) throws {
        guard let target = try parse(call, 0), let patch = try parse(call, 1) else { return }
        try returnJSON(JSONMergePatch.apply(patch, to: target)[...], call)
    }

    // MARK: Values

    /// Parses an argument, or returns nil when it is NULL.
    static func parse(_ call: FunctionCall, _ index: Int) throws -> JSONText? {
        switch call[index].storageClass {
        case RawColumn.nullClass: return nil
        case RawColumn.blobClass:
            guard let text = JSONBReader.text(of: call[index].blob), let json = try? JSONText(parsing: text)
            else {
                return try parseText(call[index].blob)
            }
            return json
        default: return try parseText(call[index].text)
        }
    }

    static func parseText(_ bytes: [UInt8]) throws -> JSONText {
        try bytes.withUnsafeBytes { try parseText($0) }
    }

    private static func parseText(_ bytes: UnsafeRawBufferPointer) throws -> JSONText {
        do throws(JSONSyntaxError) {
            return try JSONText(parsing: bytes)
        } catch {
            throw DatabaseError(message: "malformed JSON")
        }
    }

    /// A path, or nil when it is NULL.
    static func path(_ call: FunctionCall, _ index: Int) -> JSONPath? {
        call[index].storageClass == RawColumn.nullClass ? nil : JSONPath(call[index].text)
    }

    /// Returns JSON, marked for other functions, or in its binary form.
    static func returnJSON(_ bytes: ArraySlice<UInt8>, _ call: FunctionCall) throws {
        guard !call.returnsJSONB else {
            return try JSONBWriter.blob(of: parseText(Array(bytes))).withUnsafeBytes { call.returnBlob($0) }
        }
        bytes.withUnsafeBytes { call.returnText($0) }
        call.markResult(subtype: subtype)
    }

    /// Returns a JSON value as the value of SQL that it stands for.
    static func returnSQLValue(_ json: JSONText, _ node: Int, _ call: FunctionCall) throws {
        let bytes = json.text(of: node)
        switch json.nodes[node].kind {
        case .null: call.returnNull()
        case .true: call.returnInt64(1)
        case .false: call.returnInt64(0)
        case .integer, .real:
            let text = String(decoding: bytes, as: UTF8.self)
            // An integer that does not fit becomes a floating-point number.
            if json.nodes[node].kind == .integer, let integer = Int64(text) {
                call.returnInt64(integer)
            } else {
                call.returnDouble(Double(text) ?? 0)
            }
        case .text:
            JSONString.unescaped(bytes.dropFirst().dropLast()).withUnsafeBytes { call.returnText($0) }
        case .array, .object: try returnJSON(bytes, call)
        }
    }

    /// Appends an argument as JSON. Text is JSON already when another function says so.
    ///
    /// - parameter infinity: How a number is written that is too large; SQLite does it in two ways.
    static func appendValue(
        _ call: FunctionCall, _ index: Int, infinity: String = "9.0e+999", to output: inout [UInt8]
    ) throws {
        switch call[index].storageClass {
        case RawColumn.nullClass: output += "null".utf8
        case RawColumn.textClass where call.subtype(index) == subtype:
            output.append(contentsOf: call[index].text)
        case RawColumn.textClass: JSONString.append(call[index].text, to: &output)
        case RawColumn.blobClass:
            guard let text = JSONBReader.text(of: call[index].blob), (try? JSONText(parsing: text)) != nil
            else {
                throw DatabaseError(message: "JSON cannot hold BLOB values")
            }
            output += text
        case RawColumn.realClass where call[index].double.isInfinite:
            output += ((call[index].double < 0 ? "-" : "") + infinity).utf8
        default: output.append(contentsOf: call[index].text)
        }
    }
}

extension Database {
    /// Adds the JSON functions, under names that start with `prefix`.
    package func addJSONFunctions(prefix: String = "json") {
        for function in JSONFunctions.all(prefix: prefix) { add(function: function, nil) }
    }
}
