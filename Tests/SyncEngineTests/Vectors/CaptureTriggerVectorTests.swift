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

    /// Where this fails, the number has to be another one, or stores keep the triggers that they have.
    @Test func anotherTextHasAnotherVersion() throws {
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for vector in try MetadataVectorFile<Vector>.load("triggers") {
            for statement in vector.statements {
                for byte in statement.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            }
        }
        #expect(hash == 0xC1E1_031F_67CA_B098 && CaptureTriggers.version == 4)
    }
}
