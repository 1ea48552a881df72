import CipherStore
import Testing

@testable import SyncEngine

/// The triggers of `Schemas/metadata/triggers.json`, which other programs make too.
@Suite struct CaptureTriggerVectorTests {
    private struct Vector: Decodable {
        struct Column: Decodable {
            let number: Int
            let name: String
            let type: String
        }

        let number: Int64
        let name: String
        let key: String
        let columns: [Column]
        let statements: [String]
    }

    @Test func theTriggersAreThoseOfTheContract() throws {
        for vector in try MetadataVectorFile<Vector>.load("triggers") {
            let table = SyncedTable(
                number: vector.number, name: vector.name, key: vector.key, place: .tracked,
                columns: vector.columns.map { .init(number: $0.number, name: $0.name, place: .table) })
            var affinities = Dictionary(
                vector.columns.map { ($0.name.identifierKey, ColumnAffinity(type: $0.type)) },
                uniquingKeysWith: { first, _ in first })
            // Keys are compared by type whatever they are.
            affinities[vector.key.identifierKey] = .text
            let triggers = CaptureTriggers(table: table, affinities: affinities)
            #expect(triggers.statements == vector.statements, "\(vector.name)")
        }
    }
}
