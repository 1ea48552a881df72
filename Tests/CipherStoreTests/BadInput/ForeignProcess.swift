#if compiler(>=6.3)
    import Foundation
    import Testing

    @testable import CipherStore

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// Another process, on the same SQLCipher, that changes databases when it is told to.
    struct ForeignProcess: Sendable {
        private struct Order: Codable {
            var path: String
            var passphrase: String?
            var sql: String
        }

        struct Problem: Error, CustomStringConvertible {
            let description: String
        }

        private let orders: Int32
        private let answers: Int32

        /// Runs a block beside a process, which ends with the block.
        static func run(
            _ folder: TemporaryFolder, _ body: @escaping @Sendable (ForeignProcess) throws -> Void
        ) async throws {
            let names = (folder.file("orders"), folder.file("answers"))
            guard mkfifo(names.0, 0o600) == 0, mkfifo(names.1, 0o600) == 0 else {
                throw Problem(description: "cannot make a pipe")
            }
            // Open in both directions, so that it need not wait for the process.
            let process = ForeignProcess(
                orders: open(names.0, O_RDWR | O_CLOEXEC), answers: open(names.1, O_RDWR | O_CLOEXEC))
            let path = folder.path
            async let child: Void = serving(path)
            // On a thread of its own: a block that waits would keep the child from being started.
            let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
                Thread {
                    let result = Result { try body(process) }
                    // Here, because all threads of tasks may wait for the ends of processes.
                    let end = Result { try process.write("end\n") }
                    continuation.resume(returning: result.flatMap { end })
                }.start()
            }
            await child
            close(process.orders)
            close(process.answers)
            try result.get()
        }

        private static func serving(_ path: String) async {
            await #expect(processExitsWith: .success) { [path = path as String] in
                try ForeignProcess.serve(path)
            }
        }

        // MARK: This process

        /// Executes SQL in one transaction of the other process.
        func execute(_ sql: String, _ path: String, _ kind: StoreKind) throws {
            let order = Order(path: path, passphrase: kind.passphrase, sql: sql)
            try write(String(decoding: JSONEncoder().encode(order), as: UTF8.self) + "\n")
            let answer = try Self.readLine(answers, seconds: 120)
            guard answer == "done" else { throw Problem(description: answer) }
        }

        private func write(_ text: String) throws {
            let bytes = Array(text.utf8)
            var count = 0
            while count < bytes.count {
                let written = bytes[count...].withUnsafeBytes {
                    #if canImport(Glibc)
                        Glibc.write(orders, $0.baseAddress, $0.count)
                    #elseif canImport(Musl)
                        Musl.write(orders, $0.baseAddress, $0.count)
                    #else
                        Darwin.write(orders, $0.baseAddress, $0.count)
                    #endif
                }
                guard written > 0 else { throw Problem(description: "cannot write to the process") }
                count += written
            }
        }

        private static func readLine(_ descriptor: Int32, seconds: Int32) throws -> String {
            var line: [UInt8] = []
            while true {
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&wait, 1, seconds < 0 ? -1 : seconds * 1000) > 0 else {
                    throw Problem(description: "the other process does not answer")
                }
                var byte: UInt8 = 0
                guard read(descriptor, &byte, 1) == 1 else { return String(decoding: line, as: UTF8.self) }
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
        }

        // MARK: The other process

        static func serve(_ folder: String) throws {
            let orders = open(folder + "/orders", O_RDONLY)
            guard let answers = FileHandle(forWritingAtPath: folder + "/answers") else { return }
            var queues: [String: DatabaseQueue] = [:]
            while true {
                let line = try readLine(orders, seconds: -1)
                guard line.hasPrefix("{") else { return }
                let order = try JSONDecoder().decode(Order.self, from: Data(line.utf8))
                do {
                    let queue =
                        try queues[order.path]
                        ?? DatabaseQueue(
                            path: order.path,
                            configuration: order.passphrase.map(Configuration.keyed) ?? Configuration())
                    queues[order.path] = queue
                    try queue.write { try $0.execute(sql: order.sql) }
                    try answers.write(contentsOf: Data("done\n".utf8))
                } catch {
                    let text = "\(error)".replacingOccurrences(of: "\n", with: " ")
                    try answers.write(contentsOf: Data("\(text)\n".utf8))
                }
            }
        }
    }
#endif
