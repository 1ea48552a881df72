import Crypto
import Foundation
import Testing

@testable import SyncctlCommands

/// QR codes, compared with those of another encoder (segno 1.6.6; level M, byte mode).
@Suite struct QRCodeTests {
    /// The number of bytes that fill each version.
    private static let capacities = [
        14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
    ]

    /// The mask that the other encoder chose, and the SHA-256 of its modules, for each version.
    private static let vectors = [
        (2, "44a325991e5e0db3a616b05139f7ea7cca85e02e458066cbf0a99ff60b47a323"),
        (2, "00f87e231623610e842d33f997d00376bddfd29b62024668e5fc98c7c5731596"),
        (5, "8142ed37bd906aa98869a27e1f1f768f5fbb02ea4fcf1cae7dd8f85e915bf8a8"),
        (1, "26b9723fd7a965f3c902d7aeeb7df33b47647151a3cae01834dc9b9b87c7addf"),
        (0, "3a24c1f6b8b8bf64b04e4f9a1c22562a54318df00605ff47a2fc813209cf26d5"),
        (6, "5573ee24dfcc92258a4fe3a6d99d2b255b7e01e967fdff4ddb24f444ac280f46"),
        (0, "80c507ff536ff8e7d60a182f859cec48ad5b8fb08eba4359b8b5c297d177bda9"),
        (2, "4140980c814fd92cade4959b4ab62854240dee71ed7e7d7c2abc1b5429ffc2b6"),
        (6, "4bac8d5427d2c7d5f20572ebdc1e8c5ddd21046769d0e115b6f9484931cd499f"),
        (4, "9d098546446c35ec72a962908017c25391bd96bc0f6d782b0a4a9cdacf0fe154"),
        (2, "ab0551ed544051055da6ec394d8403546cfeeebb7299736664d664735602a114"),
        (6, "cfd96f8299dde6537dd431e40c8ce315ff7b54f3f154d152c6c6da0cac6ea442"),
        (4, "8c04d905db2964e3fd2594e61c21dbe5553945bf03e64b7769bd62fa2c116ced"),
        (4, "36a115de7f7de61a9521534307452f7457588977d0469d44313dadd5259e2370"),
        (7, "bfa9fbbc8c02fdaabeb22f22e7cf4a74df1e9cc3401817350a5ec6d4d74feabe"),
        (1, "2a02da5b17dce3b1a0064f187c5646c421b1d7b15929877110d887731a76774f"),
        (6, "2b9ef5e0ef9c183e8d95bda357b1d78e01dd8bb789572534330d3e27d4d6e8f3"),
        (2, "a1e0e2553ad2e3a21f1d21231086fce2cd917e584b68e6427967bd18f7a558d0"),
        (2, "9e55d10c67166b8c178e2a6343326d4dcb24e7af5061d1999276c92391e74ffd"),
        (6, "d1242214df1be1ca2069957ee550e0da2ec54a9a400348cf5d927b32329f197f"),
    ]

    /// The code of "syncctl" under mask 5, by python-qrcode 8: segno pads otherwise.
    private static let word = """
        #######...#...#######
        #.....#.#..#..#.....#
        #.###.#.#.##..#.###.#
        #.###.#.##.#..#.###.#
        #.###.#.....#.#.###.#
        #.....#..###..#.....#
        #######.#.#.#.#######
        ........#.#..........
        #.....#.#.##.##..###.
        ..###..#.#.###..#..#.
        .#...###.##.#.##.###.
        ...#.#.....####..####
        .##..##########..#.##
        ........#...#...##.##
        #######...##.#.....#.
        #.....#..##...#.####.
        #.###.#..###.#.....#.
        #.###.#....######.#..
        #.###.#..#####..#..##
        #.....#...#########..
        #######.###.#..#...#.
        """

    private func text(_ code: QRCode) -> String {
        code.modules.map { row in row.map { $0 ? "#" : "." }.joined() }.joined(separator: "\n")
    }

    @Test(arguments: 1...20) func eachVersionIsWhatAnotherEncoderMakes(version: Int) throws {
        let count = Self.capacities[version - 1]
        let bytes = (0..<count).map { UInt8(33 + ($0 * 37 + version) % 90) }
        let (mask, hash) = Self.vectors[version - 1]
        let code = try #require(QRCode(String(decoding: bytes, as: UTF8.self), mask: mask))
        #expect(code.size == 17 + 4 * version)
        let digest = SHA256.hash(data: Data(text(code).utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(digest.joined() == hash)
    }

    @Test func aShortWordIsWhatAnotherEncoderMakes() throws {
        #expect(text(try #require(QRCode("syncctl", mask: 5))) == Self.word)
    }

    @Test func theSmallestVersionIsTakenAndTooMuchIsRefused() throws {
        #expect(QRCode(String(repeating: "a", count: 14))?.size == 21)
        #expect(QRCode(String(repeating: "a", count: 15))?.size == 25)
        #expect(QRCode.byteCountMax == 666)
        #expect(QRCode(String(repeating: "a", count: 667)) == nil)
    }

    @Test func itIsDrawnWithAQuietZoneTwoRowsALine() throws {
        let code = try #require(QRCode("syncctl"))
        let lines = code.text.split(separator: "\n")
        #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
        #expect(lines[0].allSatisfy { $0 == "█" } && lines[1].allSatisfy { $0 == "█" })
        // The upper edge of a finder pattern is dark, and so is the row below at its ends.
        #expect(lines[2].hasPrefix("████ ▄▄▄▄▄ "))
    }
}
