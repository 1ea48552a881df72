/// The decoders that the row of a statement keeps.
final class RecordDecoders {
    /// The decoder of the last record: mostly that of the next one too.
    @exclusivity(unchecked) private(set) var last: RecordDecoder
    private var decoders: [RecordDecoder]

    init(_ decoder: RecordDecoder) {
        last = decoder
        decoders = [decoder]
    }

    deinit {
        for decoder in decoders { decoder.releaseContainer() }
    }

    /// A decoder of a type that is not in use: a record may contain another of its type.
    func decoder(of type: ObjectIdentifier) -> RecordDecoder? {
        guard let decoder = decoders.first(where: { $0.isFree(for: type) }) else { return nil }
        last = decoder
        return decoder
    }

    func append(_ decoder: RecordDecoder) {
        decoders.append(decoder)
        last = decoder
    }
}

extension Row {
    /// Returns a decoder for a record of the row.
    @inline(__always)
    func recordDecoder<Record: FetchableRecord & Decodable>(for type: Record.Type) -> RecordDecoder {
        if let recordDecoders, recordDecoders.last.isFree(for: ObjectIdentifier(type)) {
            return recordDecoders.last
        }
        return otherRecordDecoder(for: type)
    }

    @inline(never)
    private func otherRecordDecoder<Record: FetchableRecord & Decodable>(
        for type: Record.Type
    ) -> RecordDecoder {
        // A copied row is decoded once, and may be read by several threads; one that moves is of one thread.
        let isKept = statement != nil || isMoving
        if isKept, let decoder = recordDecoders?.decoder(of: ObjectIdentifier(type)) { return decoder }
        let decoder = RecordDecoder(
            type, row: self, recordType: type, codingPath: [], userInfo: type.databaseDecodingUserInfo,
            isKept: isKept)
        guard isKept else { return decoder }
        if let recordDecoders {
            recordDecoders.append(decoder)
        } else {
            recordDecoders = RecordDecoders(decoder)
        }
        return decoder
    }
}
