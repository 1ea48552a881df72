import RawLoops

#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

private let playersOfTeam = 50

private struct Team: Codable, FetchableRecord, TableRecord {
    static let players = hasMany(Player.self)

    var id: Int64
    var name: String
    var city: String
}

private struct Player: Codable, FetchableRecord, TableRecord {
    var id: Int64
    var teamId: Int64
    var name: String
    var score: Double
}

/// A team with its players.
private struct TeamTree: Decodable, FetchableRecord {
    var team: Team
    var players: [Player]
}

/// Teams with 50 players each into trees of `Codable` records, against two C loops: one for the teams, one for all players.
func measureRecordTree(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = max(1, options.rowCount(.recordTree) / playersOfTeam) * playersOfTeam
    let path = folder.newPath("teams.db")
    let raw = try RawConnection(path)
    try raw.makeTeams(count: count / playersOfTeam, playersOfTeam)
    let queue = try openQueue(path)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "two C loops") { try raw.fetchTeams(expecting: count) },
            Contestant(name: "including(all:), Codable") {
                var trees: [TeamTree] = []
                let elapsed = try measure {
                    trees = try queue.read { db in
                        let trees = try Team.including(all: Team.players).asRequest(of: TeamTree.self)
                            .fetchAll(db)
                        try endRead(db)
                        return trees
                    }
                }
                guard trees.reduce(0, { $0 + $1.players.count }) == count else {
                    throw BenchmarkError(description: "the library missed rows")
                }
                return elapsed
            },
        ])
    return [Comparison(.recordTree, rowCount: count, timings[1], against: timings[0], bar: 2)]
}

extension RawConnection {
    fileprivate func makeTeams(count: Int, _ playerCount: Int) throws {
        try check { raw_teams_make($0, Int64(count), Int64(playerCount)) }
    }

    /// Fetches the teams with their players and returns how long it took, without their release.
    fileprivate func fetchTeams(expecting count: Int) throws -> Elapsed {
        var teams = RawTeams()
        defer { raw_teams_free(&teams) }
        let elapsed = try measure { try check { raw_teams_fetch($0, &teams) } }
        let found = UnsafeBufferPointer(start: teams.items, count: teams.count).reduce(0) { $0 + $1.count }
        guard found == count else { throw BenchmarkError(description: "the C loop missed rows") }
        return elapsed
    }
}
