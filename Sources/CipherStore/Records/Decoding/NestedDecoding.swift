import Foundation

// Nested containers of columns that hold JSON.

extension RecordDecoder {
    /// A decoder of the JSON in a property's column, or nil when there is no such column.
    func json(_ property: Int) throws -> (any Decoder)? {
        let column = Int(properties.column(at: property))
        guard column >= 0 else { return nil }
        return try jsonDecoder(property)
            .decode(DecoderOfJSON.self, from: row.decode(Data.self, atIndex: column)).decoder
    }
}

/// Keeps the decoder that it is decoded from.
private struct DecoderOfJSON: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
}
