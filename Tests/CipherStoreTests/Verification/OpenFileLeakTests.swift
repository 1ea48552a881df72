#if os(Linux)
    import Foundation
    import Glibc
    import Synchronization
    import Testing

    @testable import CipherStore

    /// Files that have no name can only be seen through the descriptors of the process: SQLite removes
    /// its temporary files as soon as they are open.
    @Suite struct OpenFileLeakTests {
        static let row = "bittern-5190-row"

        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The open files of the process, and what is in its folders for temporary files, where a text
        /// stands.
        ///
        /// Descriptors are read in place: closing another one would drop the locks of the file.
        private static func leaks(_ text: String) -> [String] {
            let wanted = Data(text.utf8)
            var found: [String] = []
            for descriptor in Int32(0)..<1024 {
                var information = stat()
                guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
                    (1..<100_000_000).contains(information.st_size)
                else { continue }
                var content = Data(count: Int(information.st_size))
                let count = content.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
                guard count > 0, content.prefix(count).range(of: wanted) != nil else { continue }
                let link = "/proc/self/fd/\(descriptor)"
                found.append((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? link)
            }
            for folder in ["/tmp", "/var/tmp", NSTemporaryDirectory()] {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                where name.hasPrefix("etilqs_") || name.hasPrefix("sqlite") {
                    guard let content = FileManager.default.contents(atPath: folder + "/" + name) else {
                        continue
                    }
                    if content.range(of: wanted) != nil { found.append(folder + "/" + name) }
                }
            }
            return found
        }

        private func makeStore(_ configuration: Configuration) throws -> DatabaseQueue {
            var configuration = configuration
            configuration.cacheKibibytes = 16
            let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
                for number in 0..<4000 {
                    try db.execute(
                        sql: "INSERT INTO t (a) VALUES (?)",
                        arguments: [
                            "\(number * 7919 % 4000) " + Self.row + String(repeating: "x", count: 500)
                        ])
                }
            }
            return queue
        }

        /// Sorts more than the cache holds, and looks at the open files in the middle of it.
        private func leaksWhileSorting(_ queue: DatabaseQueue) throws -> (looks: Int, leaks: Set<String>) {
            let state = LockedBox((looks: 0, leaks: Set<String>()))
            try queue.writeWithoutTransaction { db in
                db.add(
                    function: DatabaseFunction("look", argumentCount: 1) { values in
                        state.change { state in
                            state.looks += 1
                            if state.looks % 500 == 1 { state.leaks.formUnion(Self.leaks(Self.row)) }
                        }
                        return values[0]
                    })
                try db.execute(sql: "CREATE TEMP TABLE s AS SELECT a || 'y' AS a FROM t ORDER BY a || 'z'")
                _ = try Int.fetchOne(
                    db, sql: "SELECT sum(length(look(a))) FROM (SELECT a FROM s ORDER BY a || 'z' LIMIT -1)")
            }
            return state.value
        }

        @Test func aLargeSortLeavesNothingInOpenFiles() throws {
            let queue = try makeStore(.keyed("secret"))
            let (looks, leaks) = try leaksWhileSorting(queue)
            #expect(looks == 4000)
            #expect(leaks == [])
        }

        /// That the test above can see what it looks for.
        @Test func temporaryFilesOfAnUnprotectedConnectionAreSeen() throws {
            let queue = try DatabaseQueue(path: folder.file("plain.db"))
            try queue.write {
                try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('curlew-5190-row')")
            }
            #expect(
                try queue.read { _ in Self.leaks("curlew-5190-row") }.contains { $0.hasSuffix("plain.db") })
        }

        @Test func aVacuumAndAnIndexLeaveNothingInOpenFiles() throws {
            let queue = try makeStore(.keyed("secret"))
            let state = LockedBox((isEnded: false, looks: 0, leaks: Set<String>()))
            let begun = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                repeat {
                    let leaks = Self.leaks(Self.row)
                    state.change { state in
                        state.looks += 1
                        state.leaks.formUnion(leaks)
                    }
                    begun.signal()
                } while !state.value.isEnded
                ended.signal()
            }
            begun.wait()
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE INDEX i ON t (a); VACUUM; DROP INDEX i; VACUUM")
            }
            state.change { $0.isEnded = true }
            ended.wait()
            #expect(state.value.looks > 1)
            #expect(state.value.leaks == [])
        }
    }
#endif
