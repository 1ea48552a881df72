import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The lines that a client reads while it waits for changes.
extension RelayResponder {
    func watch(
        _ channel: RelayChannelID, _ request: Request, _ context: RelayContext
    ) async throws -> Response {
        let known = try moment(of: request)
        let (number, watch) = try watches.open(for: .init(address: context.address, channel: channel))
        let observation = storage.observe(channel) { moment in
            if let moment { watch.tell(moment) } else { watch.end() }
        }
        let close: @Sendable () -> Void = { [watches] in
            observation.cancel()
            watches.close(number)
        }
        do {
            // Looked at after the observation began: no change is between the two.
            let state = try await storage.state(of: channel)
            watch.begin(at: RelayMoment(epoch: state.epoch, position: state.position))
        } catch {
            close()
            throw error
        }
        metrics.count(.watchesOpened)
        context.channel.closeFuture.whenComplete { _ in close() }
        let body = ResponseBody { [self] writer in
            defer { close() }
            var told = known
            for await _ in watch.wakes {
                let news = watch.take()
                if let moment = news.moment, moment != told {
                    told = moment
                    let line = try RelayJSON.encode(moment) + Array("\n".utf8)
                    try await whileProgressing(context) { try await writer.write(ByteBuffer(bytes: line)) }
                } else if news.isBeat {
                    try await whileProgressing(context) { try await writer.write(ByteBuffer(string: "\n")) }
                }
                if news.isEnd { break }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: body)
    }

    /// Ends the connection when its client does not read on for too long: it must not hold the answer for ever.
    private func whileProgressing(
        _ context: RelayContext, _ body: () async throws -> Void
    ) async throws {
        let channel = context.channel
        let deadline = channel.eventLoop.scheduleTask(
            in: .milliseconds(Int64(limits.silenceSeconds * 1000))
        ) { () -> Void in
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        try await body()
    }
}
