import Foundation
import SyncRelay
import SyncRelayPostgres

/// A server of `Scripts/postgres-server` that writes to the disk what it commits.
final class MeasuredServer {
    struct Greeting: Decodable {
        let address: String
        let folder: String
        let tools: String
    }

    let greeting: Greeting
    private let input = Pipe()

    init(_ script: String) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: script)
        process.arguments = ["--durable", "--seconds", "3600"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
            line.append(byte)
        }
        greeting = try JSONDecoder().decode(Greeting.self, from: line)
    }

    func address(of database: String) -> String { "postgresql://relay@/\(database)?host=\(greeting.folder)" }

    @discardableResult func run(_ tool: String, _ words: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: greeting.tools + "/" + tool)
        process.arguments = words
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(tool) failed: \(text)") }
        return text
    }

    func makeDatabase(_ name: String) throws -> PostgresAddress {
        try run("psql", ["-X", "-q", "-d", greeting.address, "-c", "CREATE DATABASE \(name)"])
        return try PostgresAddress(address(of: name))
    }

    deinit { try? input.fileHandleForWriting.close() }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// What pgbench does with the same statements as the storage, each client in a channel of its own.
enum PGBench {
    /// The statements of one append: those of `ChannelCommit`, in their order.
    static func script(pieceByteCount: Int) -> String {
        """
        \\set name random(1, 1000000000000000)
        \\set body random(1, 1000000000000000000)
        BEGIN ISOLATION LEVEL READ COMMITTED;
        SELECT channel.number, channel.birth, channel.position, channel.byte_count, channel.file_count, channel.removal_count, channel.forgotten, channel.tickets, pg_postmaster_start_time() AS started, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()), pg_relation_filenode('cipherstore_relay.channel'::regclass) AS node, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM cipherstore_relay.channel AS channel WHERE channel.id = decode(lpad(to_hex(:client_id + 1), 32, '0'), 'hex') FOR UPDATE \\gset c_
        SELECT file.folder, file.name, file.position, file.byte_count, file.digest, file.body FROM unnest(ARRAY['00000000000000000000000000000000'], ARRAY['f' || :name]) AS wanted (folder, name) JOIN cipherstore_relay.file AS file ON file.channel = :c_number AND file.folder = wanted.folder AND file.name = wanted.name;
        WITH blocks AS (INSERT INTO cipherstore_relay.block (body, number, bytes) SELECT * FROM unnest(ARRAY[:body::bigint], ARRAY[0::bigint], ARRAY[decode(repeat('ab', \(pieceByteCount)), 'hex')])), files AS (INSERT INTO cipherstore_relay.file AS old (channel, folder, name, position, byte_count, digest, body, milliseconds) SELECT :c_number, new.*, :c_now FROM unnest(ARRAY['00000000000000000000000000000000'], ARRAY['f' || :name], ARRAY[:c_position::bigint + 1], ARRAY[\(pieceByteCount)::bigint], ARRAY[decode(repeat('cd', 32), 'hex')], ARRAY[:body::bigint]) AS new ON CONFLICT (channel, folder, name) DO UPDATE SET position = excluded.position, byte_count = excluded.byte_count, digest = excluded.digest, body = excluded.body, milliseconds = excluded.milliseconds) UPDATE cipherstore_relay.channel SET position = :c_position::bigint + 1, byte_count = :c_byte_count::bigint + \(pieceByteCount), file_count = :c_file_count::bigint + 1, removal_count = :c_removal_count, tickets = decode(repeat('ef', 128), 'hex') WHERE number = :c_number;
        COMMIT;
        """
    }

    /// Makes as many appends as are wanted. Its own bound of time needs a signal that children of this process don't get.
    ///
    /// - returns: How many it made a second.
    static func run(
        _ server: MeasuredServer, _ database: String, clientCount: Int, count: Int, pieceByteCount: Int
    ) throws -> Double {
        let path = NSTemporaryDirectory() + "append-\(getpid()).sql"
        try script(pieceByteCount: pieceByteCount).write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = try server.run(
            "pgbench",
            [
                "-n", "-M", "prepared", "-c", "\(clientCount)", "-j", "2", "-t",
                "\(max(1, count / clientCount))",
                "-f", path,
                server.address(of: database),
            ])
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("tps = ") }),
            let figure = line.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
        else { throw BenchmarkError("pgbench said: \(text)") }
        return figure
    }
}
