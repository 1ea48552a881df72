import Foundation

extension JSONFunctions {
    /// Bytes as `Codable` has them in JSON, which SQLite refuses there: `Data` is a text in Base64, `[UInt8]` an array
    /// of numbers.
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
    ]
}
