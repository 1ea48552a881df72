import Hummingbird
import HummingbirdCore
import NIOCore
import SyncEngine
import SyncWire

/// The stream of positions that a device holds open.
extension HubResponder {
    func live(_ store: HubStore, _ device: Device, _ channel: any Channel) throws -> Response {
        let feed = store.feed
        let (number, signals) = try feed.open(device)
        metrics.count(.streamsOpened)
        channel.closeFuture.whenComplete { _ in feed.close(number) }
        let seconds = limits.silenceSeconds
        let body = ResponseBody { writer in
            defer { feed.close(number) }
            var told: VersionVector?
            for await signal in signals {
                let frame: PositionFrame
                switch signal {
                case .position:
                    let position = feed.position
                    guard let new = PositionFrame(from: told, to: position) else { continue }
                    told = position
                    frame = new
                case .heartbeat: frame = .heartbeat
                case .end(let error): frame = PositionFrame(problem: ProblemCoding.problem(error))
                }
                // A device that does not read on must not hold the stream for ever.
                let deadline = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
                    channel.close(promise: nil)
                }
                defer { deadline.cancel() }
                try await writer.write(ByteBuffer(bytes: try frame.line()))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: body)
    }
}
