import Testing

@testable import SyncEngine

@Suite struct LocalFolderTests {
    /// Whoever may write a file of the folder chooses its time.
    @Test(arguments: [9.3e15, -9.3e15, 1e300, .infinity, -.infinity, .nan])
    func aTimeThatIsNoNumberOfMillisecondsIsNone(seconds: Double) {
        #expect(LocalFolder.milliseconds(seconds) == nil)
    }

    @Test func timesAreWholeMilliseconds() {
        #expect(LocalFolder.milliseconds(1.5009) == 1500)
        #expect(LocalFolder.milliseconds(0) == 0)
        #expect(LocalFolder.milliseconds(-1) == -1000)
    }
}
