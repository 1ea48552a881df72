import Testing

@testable import CipherStore
@testable import SyncctlCommands

@Suite struct OutputFileTests {
    @Test func theNameOfAFinishedFileIsWrittenToTheDisk() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("people.csv")
        let named = Lock<[Bool]>([])
        // Says whether the file has its name when the folder is written to the disk.
        let synchronization = FolderSynchronization(synchronize: { _ in
            named.withLock { $0.append(FileIdentity(path: path) != nil) }
            return true
        })
        try FolderSynchronization.$current.withValue(synchronization) {
            let file = try OutputFile(path, Terminal(streams: Terminal.Streams()))
            try file.write("id,name\n")
            try file.finish()
        }
        #expect(named.withLock { $0 } == [true])
    }
}
