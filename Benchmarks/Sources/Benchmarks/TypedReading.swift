import Foundation
import TypedQueries

/// A row of the table that is measured, as its macro would make a typed table of it.
struct TypedReading: PrimaryKeyedTable {
    typealias PrimaryKey = UUID.BytesRepresentation

    var id: UUID
    var station: Int
    var sensor: Int
    var sequence: Int
    var flags: Int
    var value: Double
    var deviation: Double
    var unit: String
    var place: String
    var note: String

    struct TableColumns: PrimaryKeyedTableDefinition {
        typealias QueryValue = TypedReading
        var id: TableColumn<TypedReading, UUID.BytesRepresentation> { .init("id") }
        var primaryKey: TableColumn<TypedReading, UUID.BytesRepresentation> { id }
        var station: TableColumn<TypedReading, Int> { .init("station") }
        var sensor: TableColumn<TypedReading, Int> { .init("sensor") }
        var sequence: TableColumn<TypedReading, Int> { .init("sequence") }
        var flags: TableColumn<TypedReading, Int> { .init("flags") }
        var value: TableColumn<TypedReading, Double> { .init("value") }
        var deviation: TableColumn<TypedReading, Double> { .init("deviation") }
        var unit: TableColumn<TypedReading, String> { .init("unit") }
        var place: TableColumn<TypedReading, String> { .init("place") }
        var note: TableColumn<TypedReading, String> { .init("note") }
        static var columnList: ColumnList {
            let columns = Self()
            return .init(
                columns.id, columns.station, columns.sensor, columns.sequence, columns.flags, columns.value,
                columns.deviation, columns.unit, columns.place, columns.note)
        }
    }

    static var tableName: String { "reading" }
    static var columnWidth: Int { 10 }

    init(_ reading: Reading) {
        id = reading.id
        (station, sensor, sequence, flags) = (
            reading.station, reading.sensor, reading.sequence, reading.flags
        )
        (value, deviation) = (reading.value, reading.deviation)
        (unit, place, note) = (reading.unit, reading.place, reading.note)
    }

    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(UUID.BytesRepresentation.self)
        station = try decoder.value(Int.self)
        sensor = try decoder.value(Int.self)
        sequence = try decoder.value(Int.self)
        flags = try decoder.value(Int.self)
        value = try decoder.value(Double.self)
        deviation = try decoder.value(Double.self)
        unit = try decoder.value(String.self)
        place = try decoder.value(String.self)
        note = try decoder.value(String.self)
    }

    func writeValues(to row: inout RowWriter) {
        row.write(id, as: UUID.BytesRepresentation.self)
        row.write(station, as: Int.self)
        row.write(sensor, as: Int.self)
        row.write(sequence, as: Int.self)
        row.write(flags, as: Int.self)
        row.write(value, as: Double.self)
        row.write(deviation, as: Double.self)
        row.write(unit, as: String.self)
        row.write(place, as: String.self)
        row.write(note, as: String.self)
    }

    /// A row that may have no key; here it always has one.
    struct Draft: TableDraft {
        typealias PrimaryTable = TypedReading
        var row: TypedReading

        struct TableColumns: TableDefinition {
            typealias QueryValue = Draft
            static var columnList: ColumnList { TypedReading.TableColumns.columnList }
        }
        static var tableName: String { TypedReading.tableName }
        static var columnWidth: Int { TypedReading.columnWidth }
        init(_ other: TypedReading) { row = other }
        init(decoder: inout some QueryDecoder) throws { row = try TypedReading(decoder: &decoder) }
        func writeValues(to row: inout RowWriter) { self.row.writeValues(to: &row) }
    }
}
