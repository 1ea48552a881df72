import Foundation

extension JSONFunctions {
    /// Bytes as `Codable` has them in JSON, which SQLite refuses there: `Data` is a text in Base64, `[UInt8]` an array
    /// of numbers. And back again.
    static let ofBytes: [DatabaseFunction] = [
        DatabaseFunction("cipherstore_json_base64", argumentCount: 1, traits: traits) { call in
            guard call[0].storageClass != RawColumn.nullClass else { return }
            call.returnText(Data(call[0].blob).base64EncodedString())
        },
        DatabaseFunction("cipherstore_json_bytes", argumentCount: 1, traits: traits) { call in
            guard call[0].storageClass != RawColumn.nullClass else { return }
            var text = [UInt8(ascii: "[")]
            for (index, byte) in call[0].blob.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text.append(contentsOf: String(byte).utf8)
            }
            text.append(UInt8(ascii: "]"))
            try JSONFunctions.returnJSON(text[...], call)
        },
        DatabaseFunction("cipherstore_json_unbase64", argumentCount: 1, traits: traits) { call in
            returnBytes(JSONByteForms.bytes(ofBase64:), call)
        },
        DatabaseFunction("cipherstore_json_unbytes", argumentCount: 1, traits: traits) { call in
            returnBytes(JSONByteForms.bytes(ofArray:), call)
        },
    ]

    /// Returns the bytes of a text. What has none stays as it is, for who reads it to say so.
    private static func returnBytes(_ bytes: (Data) -> Data?, _ call: FunctionCall) {
        guard call[0].storageClass == RawColumn.textClass, let bytes = bytes(Data(call[0].blob)) else {
            return call.returnArgument(0)
        }
        bytes.withUnsafeBytes { call.returnBlob($0) }
    }
}

/// What bytes are in JSON.
package enum JSONByteForms {
    /// The bytes of a text in Base64, the form of `Data`; nil for another text.
    package static func bytes(ofBase64 text: Data) -> Data? { Data(base64Encoded: text) }

    /// The bytes of an array of numbers, the form of `[UInt8]`; nil for another text.
    package static func bytes(ofArray json: Data) -> Data? {
        (try? JSONDecoder().decode([UInt8].self, from: json)).map { Data($0) }
    }
}
