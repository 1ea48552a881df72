import Foundation
import RawLoops

#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

/// A row of the table that is measured, as an app would model it.
struct Reading {
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

    static let createTable = """
        CREATE TABLE reading (
            id BLOB PRIMARY KEY NOT NULL, station INTEGER NOT NULL, sensor INTEGER NOT NULL,
            sequence INTEGER NOT NULL, flags INTEGER NOT NULL, value REAL NOT NULL,
            deviation REAL NOT NULL, unit TEXT NOT NULL, place TEXT NOT NULL, note TEXT NOT NULL)
        """

    static let select = """
        SELECT id, station, sensor, sequence, flags, value, deviation, unit, place, note FROM reading
        """

    /// The statement that inserts a row; `verb` is `INSERT` with or without a conflict clause.
    static func insert(_ verb: String = "INSERT") -> String {
        "\(verb) INTO reading VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    }

    /// Copies a row of the C side.
    init(_ raw: RawReading) {
        id = UUID(uuid: raw.id)
        station = Int(raw.station)
        sensor = Int(raw.sensor)
        sequence = Int(raw.sequence)
        flags = Int(raw.flags)
        value = raw.value
        deviation = raw.deviation
        unit = String(cString: raw.unit)
        place = String(cString: raw.place)
        note = String(cString: raw.note)
    }

    /// Reads a row of `select` by position.
    init(positionsOf row: Row) {
        id = row[0]
        station = row[1]
        sensor = row[2]
        sequence = row[3]
        flags = row[4]
        value = row[5]
        deviation = row[6]
        unit = row[7]
        place = row[8]
        note = row[9]
    }

    /// Reads a row by the names of its columns.
    init(namesOf row: Row) {
        id = row["id"]
        station = row["station"]
        sensor = row["sensor"]
        sequence = row["sequence"]
        flags = row["flags"]
        value = row["value"]
        deviation = row["deviation"]
        unit = row["unit"]
        place = row["place"]
        note = row["note"]
    }

    /// The values for the statement of `insert`.
    var arguments: StatementArguments {
        [id, station, sensor, sequence, flags, value, deviation, unit, place, note]
    }
}

/// The same rows for both sides.
final class Samples {
    private(set) var raw: RawReadings
    let readings: [Reading]

    init(count: Int) {
        raw = raw_readings_make(count, 1)
        readings = UnsafeBufferPointer(start: raw.items, count: raw.count).map { Reading($0) }
    }

    deinit { raw_readings_free(&raw) }
}
