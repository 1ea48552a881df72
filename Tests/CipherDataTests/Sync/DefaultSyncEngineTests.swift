import Testing

@testable import CipherData

/// The engine of a program.
@Suite(.timeLimit(.minutes(10))) struct DefaultSyncEngineTests {
    private final class Model {
        @Dependency(\.defaultSyncEngine) var syncEngine
    }

    @Test func aProgramSetsItsEngine() throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL)", ["note"])
        let model = withDependencies {
            $0.defaultSyncEngine = pair.engine
        } operation: {
            Model()
        }
        #expect(model.syncEngine === pair.engine)
    }

    @Test func oneThatIsNotSetReachesNobody() async {
        let engine = DependencyValues().defaultSyncEngine
        #expect(!engine.isRunning && engine.tableNames.isEmpty)
        await #expect(throws: NoDefaultSyncEngine.self) { try await engine.syncChanges() }
    }
}
