// swift-format-ignore-file

/// `Schemas/openapi.yaml`, which the server hands out. Made by `Scripts/embed-openapi`; a test compares.
enum OpenAPIDocument {
    static let text = ##"""
openapi: 3.1.0
info:
  title: CipherStore server
  version: "1"
  description: >
    Serves encrypted stores to enrolled devices. docs/decisions/0012-remote-peers.md says why it is as it is;
    Schemas/remote/v1.md says what an invitation holds, what is signed, in which order a device asks for what, and
    which limits there are. Bytes in JSON are base64 with - and _ and without padding, where nothing else is said;
    identifiers are 32 lower-case hexadecimal digits, and vectors are objects of identifiers and sequences.
    Frames are those of Schemas/wire/v1.md, and so are the bytes of states, questions, answers and rows (section 16.1).
    A body without a limit of its own has at most 4 MiB, one that holds frames or lists names 17 MiB.
paths:
  /health:
    get: { summary: The process answers., responses: { "204": { description: It does. } } }
  /ready:
    get: { summary: The stores can be read., responses: { "204": { description: They can. }, "500": { $ref: "#/components/responses/Problem" } } }
  /metrics:
    get: { summary: "Metrics of the server as text, for programs on its own machine; 404 for others.", responses: { "200": { description: The text that Prometheus reads., content: { text/plain: {} } }, "404": { $ref: "#/components/responses/Problem" } } }
  /openapi.yaml:
    get: { summary: This document., responses: { "200": { description: The document., content: { application/yaml: {} } } } }
  /:
    get: { summary: The page for people., responses: { "200": { description: The page., content: { text/html: {} } } } }
  /console:
    get: { summary: "The same. Answers to browsers have a Content-Security-Policy.", responses: { "200": { description: The page., content: { text/html: {} } } } }
  /console/page.css:
    get: { summary: How the page looks., responses: { "200": { description: A style sheet., content: { text/css: {} } } } }
  /console/page.js:
    get: { summary: What the page does., responses: { "200": { description: A script., content: { text/javascript: {} } } } }
  /console/sessions:
    get:
      summary: The stores of which a browser has a session.
      responses: { "200": { description: Stores., content: { application/json: { schema: { type: object, required: [stores], properties: { stores: { type: array, items: { $ref: "#/components/schemas/ConsoleStore" } } } } } } }, default: { $ref: "#/components/responses/Problem" } }
    post:
      summary: Open a session by a link of syncctl console, once. Not from another site's page.
      description: >
        The cookie of the session is __Host-cipherstore- and the start of the store's identifier, or, without TLS, the same without __Host-.
        A session lasts 12 hours, one hour without a request, and until the server ends.
      requestBody: { content: { application/json: { schema: { type: object, required: [secret], properties: { secret: { description: The 16 bytes behind the link's hash sign., type: string } } } } } }
      responses: { "201": { description: "A session, as a cookie.", content: { application/json: { schema: { $ref: "#/components/schemas/ConsoleStore" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /console/stores/{store}/data:
    parameters: [{ $ref: "#/components/parameters/store" }]
    get:
      security: [{ console: [] }]
      summary: What the page shows of a store. Its members may change with the page.
      responses: { "200": { description: Devices and other replicas with what they have not acknowledged; conflicts; rows that wait; tables., content: { application/json: { schema: { type: object, required: [now, store, devices, peers, remotes, conflicts, parked] } } } }, default: { $ref: "#/components/responses/Problem" } }
  /console/stores/{store}/events:
    parameters: [{ $ref: "#/components/parameters/store" }]
    get:
      security: [{ console: [] }]
      summary: The same as a stream, at most once a second, which ends with the session or the server.
      description: "Server-sent events: state has the document, traffic what devices sent and got in the last seconds and minutes, alive nothing."
      responses: { "200": { description: Events., content: { text/event-stream: {} } }, default: { $ref: "#/components/responses/Problem" } }
  /console/stores/{store}/conflicts/{conflict}:
    parameters: [{ $ref: "#/components/parameters/store" }, { name: conflict, in: path, required: true, description: The number of a conflict., schema: { type: integer, minimum: 1 } }]
    get:
      security: [{ console: [] }]
      summary: A conflict with both values, and what happened to its row. Its members may change with the page.
      responses: { "200": { description: The conflict., content: { application/json: { schema: { type: object, required: [id, table, key, column, reason, found, open, lost, writer, winner, rowExists, others, state, history] } } } }, default: { $ref: "#/components/responses/Problem" } }
    post:
      security: [{ console: [] }]
      summary: Close a conflict, or write the value again that lost, as an edit of the server's store. Not from another site's page.
      requestBody: { content: { application/json: { schema: { type: object, required: [choice], properties: { choice: { type: string, enum: [keep, restore] }, state: { description: That of the conflict as it was read; another one is refused., type: string } } } } } }
      responses: { "200": { description: What was done., content: { application/json: { schema: { type: object, required: [resolved, restoredValues, restoredRows, remaining], properties: { resolved: { type: integer }, restoredValues: { type: integer }, restoredRows: { type: integer }, remaining: { type: integer } } } } } }, default: { $ref: "#/components/responses/Problem" } }
  /console/stores/{store}/session:
    parameters: [{ $ref: "#/components/parameters/store" }]
    delete:
      security: [{ console: [] }]
      summary: End the session.
      responses: { "204": { description: It has ended. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/hello:
    get:
      summary: The versions of the protocol.
      responses:
        "200": { description: Versions., content: { application/json: { schema: { type: object, required: [versions, software], properties: { versions: { type: array, items: { type: integer } }, software: { type: string } } } } } }
  /v1/challenges:
    post:
      summary: What a device has to sign, within a minute and once.
      responses:
        "201": { description: A challenge of 56 bytes., content: { application/json: { schema: { type: object, required: [challenge], properties: { challenge: { type: string } } } } } }
        "503": { $ref: "#/components/responses/Problem" }
  /v1/stores/{store}/devices:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      summary: Enrol a device by an invitation.
      description: >
        The signature is Ed25519 over "cipherstore enrolment 1", a zero byte, and, each after its length as a big-endian 32-bit
        number: challenge; SHA-256 of "cipherstore invite secret 1", a zero byte and the secret; key; store (16 bytes); SHA-256 of
        the server's certificate, or nothing when it is not pinned. A body has at most 4 KiB. The same key may repeat it, with
        another challenge. Until the device has sent its first greeting, another key takes its place when it took itself back
        (DELETE devices/self), or 10 minutes after it was enrolled.
      requestBody: { content: { application/json: { schema: { type: object, required: [invite, key, challenge, signature], properties: { invite: { description: "The 16 bytes of the invitation's secret itself; what is signed holds its hash.", type: string }, key: { description: "The device's public key, 32 bytes.", type: string }, challenge: { description: The 56 bytes that were given., type: string }, signature: { description: 64 bytes., type: string } } } } } }
      responses:
        "201": { description: Enrolled., content: { application/json: { schema: { type: object, required: [label, readOnly], properties: { label: { type: string }, readOnly: { type: boolean }, scope: { $ref: "#/components/schemas/Scope" } } } } } }
        default: { $ref: "#/components/responses/Problem" }
  /v1/stores/{store}/devices/self:
    parameters: [{ $ref: "#/components/parameters/store" }]
    delete:
      security: [{ device: [] }]
      summary: Take the enrolment back that the device was just given, so that the invitation enrols another key.
      description: For a join that failed. Once the device has sent its first greeting, this is refused (400).
      responses: { "204": { description: The device is forgotten. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/sessions:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      summary: Open a session.
      description: >
        As for devices, over "cipherstore session 1", a zero byte, and, each after its length, challenge, key, store, certificate.
        A body has at most 4 KiB.
      requestBody: { content: { application/json: { schema: { type: object, required: [key, challenge, signature], properties: { key: { type: string }, challenge: { type: string }, signature: { type: string } } } } } }
      responses:
        "201": { description: A session. It ends after 15 minutes without a request., content: { application/json: { schema: { type: object, required: [session, label, readOnly], properties: { session: { description: 32 bytes., type: string }, label: { type: string }, readOnly: { type: boolean }, scope: { $ref: "#/components/schemas/Scope" }, codecs: { type: array, items: { type: string }, description: "The codecs of chunks that uploads may have besides plain ones (Schemas/wire/v1.md, section 5)." } } } } } }
        default: { $ref: "#/components/responses/Problem" }
  /v1/stores/{store}/greeting:
    parameters: [{ $ref: "#/components/parameters/store" }]
    get:
      security: [{ device: [] }]
      summary: What the server's replica says of itself.
      responses: { "200": { description: A greeting's frame., content: { application/octet-stream: {} } }, default: { $ref: "#/components/responses/Problem" } }
    post:
      security: [{ device: [] }]
      summary: What the device's replica says of itself; the answer are the forks that the server sees.
      description: The body is a greeting's frame. The first one says which replica the device is, and uses its invitation up.
      requestBody: { content: { application/octet-stream: {} } }
      responses: { "200": { description: Forks., content: { application/json: { schema: { $ref: "#/components/schemas/Forks" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/definitions:
    parameters: [{ $ref: "#/components/parameters/store" }]
    get:
      security: [{ device: [] }]
      summary: How the tables are made that the device may exchange, for a new replica that gets no snapshot.
      responses: { "200": { description: Statements., content: { application/json: { schema: { type: object, required: [tables], properties: { tables: { type: array, items: { type: object, required: [name, statements], properties: { name: { type: string }, statements: { type: array, items: { type: string } }, otherNames: { description: "Names that the table had, or has at other replicas; absent for none. A replica that has a table of one of them does not make it.", type: array, items: { type: string } } } } } } } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/live:
    parameters: [{ $ref: "#/components/parameters/store" }]
    get:
      security: [{ device: [] }]
      summary: A stream of positions, which ends when the device is revoked, its scope changes, or the server ends.
      description: >
        Each line is a document. The first one has the position of the store, for each replica the number of its last change; the next
        ones what is new. A document without members, `{}`, says every 15 seconds that the stream is alive, and the last one why it ends. A device
        has up to four streams.
      responses: { "200": { description: Lines., content: { application/x-ndjson: { schema: { type: object, properties: { positions: { type: object, additionalProperties: { type: integer, minimum: 1 } }, problem: { $ref: "#/components/schemas/Problem" } } } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/identity:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Give the server's replica a new identity, if the device's last greeting shows a reason. Not for read-only devices.
      description: The request's identifier is random; a request that comes again with it changes nothing.
      requestBody: { content: { application/json: { schema: { type: object, required: [request, forks], properties: { request: { type: string, pattern: "^[0-9a-f]{32}$" }, forks: { type: array, maxItems: 1000, items: { $ref: "#/components/schemas/Fork" } } } } } } }
      responses: { "204": { description: Done. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/acknowledgement:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: What the device knows now.
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Knowledge" } } } }
      responses: { "204": { description: Noted. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/state:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: What the server's replica knows and holds, as digests (Schemas/wire/v1.md, section 16.1).
      description: kept, the sums as they are; recomputed, made anew of all versions, with tables and columns of which there is nothing.
      requestBody: { content: { application/json: { schema: { type: object, required: [kind], properties: { kind: { enum: [kept, recomputed] } } } } } }
      responses: { "200": { description: A state., content: { application/octet-stream: {} } }, "204": { description: It can't be told now. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/answers:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Answer a question about rows, to find those that differ. Question and answer are messages of Schemas/wire/v1.md, section 16.1.
      requestBody: { content: { application/octet-stream: {} } }
      responses: { "200": { description: An answer., content: { application/octet-stream: {} } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/repairs:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Make a bundle of all of some rows, as a download. The body is the message "rows" of Schemas/wire/v1.md, section 16.1.
      parameters: [{ $ref: "#/components/parameters/codec" }]
      requestBody: { content: { application/octet-stream: {} } }
      responses: { "201": { description: Ready., content: { application/json: { schema: { $ref: "#/components/schemas/Download" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/downloads:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Make a bundle of what the device does not know. It replaces the device's last download, and waits 10 minutes.
      parameters: [{ $ref: "#/components/parameters/codec" }]
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Transfer" } } } }
      responses: { "201": { description: Ready., content: { application/json: { schema: { $ref: "#/components/schemas/Download" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/snapshots:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Make an archive of the store for a recipient (Schemas/archive/v1.md), as a download. Not for devices with a scope.
      description: >
        The database in it has the server's replica identifier. Whoever makes a replica of it has to give it a new one before it
        writes or tells anything (Schemas/metadata/v3.md, section 5).
      requestBody: { content: { application/json: { schema: { type: object, required: [recipient], properties: { recipient: { description: "The text of the recipient: csr1- and hexadecimal digits, as Schemas/archive/v1.md has it.", type: string } } } } } }
      responses: { "201": { description: Ready., content: { application/json: { schema: { $ref: "#/components/schemas/Download" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/downloads/{download}:
    parameters: [{ $ref: "#/components/parameters/store" }, { name: download, in: path, required: true, schema: { type: string } }]
    get:
      security: [{ device: [] }]
      summary: The bytes from an offset, up to 8 MiB of them. Of a bundle that is still being made, those that are there; it waits for the first one. An offset beyond these is refused with 400.
      parameters: [{ name: offset, in: query, required: true, schema: { type: integer, minimum: 0 } }]
      responses: { "200": { description: Bytes., content: { application/octet-stream: {} } }, default: { $ref: "#/components/responses/Problem" } }
    delete:
      security: [{ device: [] }]
      summary: It is not needed any more.
      responses: { "204": { description: Gone. }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/uploads:
    parameters: [{ $ref: "#/components/parameters/store" }]
    post:
      security: [{ device: [] }]
      summary: Begin a bundle, or ask how far it came. The body is the header's frame and any that follow.
      description: An unfinished bundle of the same sender with another header is forgotten.
      parameters:
        - { name: apply, in: query, description: Whether it is applied if all of it is in the body., schema: { type: boolean } }
        - { $ref: "#/components/parameters/long" }
      requestBody: { content: { application/octet-stream: {} } }
      responses: { "200": { description: How far it came., content: { application/json: { schema: { $ref: "#/components/schemas/Upload" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/uploads/{bundle}:
    parameters: [{ $ref: "#/components/parameters/store" }, { $ref: "#/components/parameters/bundle" }]
    put:
      security: [{ device: [] }]
      summary: Add frames, chunks and the end, in any order. Those that are there change nothing.
      requestBody: { content: { application/octet-stream: {} } }
      responses: { "200": { description: How far it came., content: { application/json: { schema: { $ref: "#/components/schemas/Upload" } } } }, default: { $ref: "#/components/responses/Problem" } }
  /v1/stores/{store}/uploads/{bundle}/application:
    parameters: [{ $ref: "#/components/parameters/store" }, { $ref: "#/components/parameters/bundle" }]
    post:
      security: [{ device: [] }]
      summary: Apply a bundle that is complete, all of it or nothing. Asked again, it says what was done; 404 once that was forgotten.
      parameters: [{ $ref: "#/components/parameters/long" }]
      responses:
        "200": { description: What it did., content: { application/json: { schema: { $ref: "#/components/schemas/Application" } } } }
        default: { $ref: "#/components/responses/Problem" }
components:
  securitySchemes:
    device:
      type: apiKey
      in: header
      name: cipherstore-signature
      description: >
        Ed25519 over "cipherstore request 1", a zero byte, and, each after its length as a big-endian 32-bit number: session (its
        32 bytes); number (8 bytes, big-endian); method; path and query as they are sent; SHA-256 of the body, which may be
        empty. The header has the signature in base64, cipherstore-session the session in base64 as it was given, and
        cipherstore-number the number in decimal digits, which is higher than that of each request before. A repetition is
        another request, with a number of its own.
    console: { type: apiKey, in: cookie, name: __Host-cipherstore, description: "Its name goes on with the store, see /console/sessions." }
  parameters:
    store: { name: store, in: path, required: true, schema: { type: string, pattern: "^[0-9a-f]{32}$" } }
    long: { name: long, in: query, description: "Whether the device asks for more time than others are to wait, for a bundle that it can't divide. Granted to devices without bounds; others get it for what their changes do to other rows, and for their own rows twice the time after each refusal, up to 8 times and 16 seconds.", schema: { type: boolean } }
    codec: { name: codec, in: query, description: "A codec of chunks that the device reads besides plain ones (Schemas/wire/v1.md, section 5): deflate. Another one is not used.", schema: { type: string } }
    bundle: { name: bundle, in: path, required: true, description: "SHA-256 of the payload of the header's frame, without its type and length.", schema: { type: string, pattern: "^[0-9a-f]{64}$" } }
  schemas:
    ConsoleStore: { type: object, required: [store, name], properties: { store: { type: string }, name: { description: The name of its file., type: string } } }
    Knowledge: { type: object, required: [vector], properties: { replica: { description: "The replica that knows it. The server goes by the device; through a pipe it is needed.", type: string }, vector: { type: object, additionalProperties: { type: integer, minimum: 1 } } } }
    Scope:
      description: >
        What the device may exchange; absent for everything. The tables, absent for all, and those of which it may exchange the rows
        with some values in a column; tables and columns each by the name and the other names that the server knows.
      type: object
      properties:
        tables: { type: array, items: { type: array, minItems: 1, items: { type: string } } }
        rows: { type: array, items: { type: object, required: [table, column, values], properties: { table: { type: array, items: { type: string } }, column: { type: array, items: { type: string } }, values: { type: array, items: { $ref: "#/components/schemas/Value" } } } } }
    Transfer:
      description: >
        What the device knows of all tables; what it knows beyond that of some; the tables that it wants, each by its name and its
        other names, or all. Members that the server does not know are refused.
      type: object
      required: [vector]
      additionalProperties: false
      properties:
        vector: { type: object, additionalProperties: { type: integer, minimum: 1 } }
        parts: { type: array, maxItems: 10000, items: { type: object, required: [tables, known], properties: { tables: { type: array, maxItems: 10000, items: { type: array, items: { type: string } } }, known: { type: object, additionalProperties: { type: integer, minimum: 1 } } } } }
        tables: { type: array, maxItems: 10000, items: { type: array, minItems: 1, items: { type: string } } }
        rows: { description: Tables of which some rows only are wanted., type: array, maxItems: 10000, items: { $ref: "#/components/schemas/Rows" } }
        leftOut: { description: Tables of which the device holds some rows and wants nothing now., type: array, maxItems: 10000, items: { type: array, minItems: 1, items: { type: string } } }
        whole: { description: "Rows of which all is wanted, which are not here though their beginning counts as known: as the body of a request for repairs, in base64.", type: string }
    Rows:
      description: >
        The table and the column by all of their names; the changes that the rows of the device take into account, its own ones, and
        the last of these in rows that it holds no longer; the values whose rows it wants, absent for all, and those whose rows it
        holds; its replica, and a number that rises with each other choice, which come back in the bundle.
      type: object
      required: [names, since, own, dropped, whole, due, columns, held, receiver, revision]
      properties:
        names: { type: array, minItems: 1, items: { type: string } }
        since: { type: object, additionalProperties: { type: integer, minimum: 1 } }
        own: { type: object, additionalProperties: { type: integer, minimum: 1 } }
        dropped: { type: object, additionalProperties: { type: integer, minimum: 1 } }
        whole: { type: boolean }
        due: { type: boolean }
        columns: { type: array, minItems: 1, items: { type: string } }
        values: { type: array, items: { $ref: "#/components/schemas/Value" } }
        held: { type: array, items: { $ref: "#/components/schemas/Value" } }
        receiver: { type: string, pattern: "^[0-9a-f]{32}$" }
        revision: { type: integer, minimum: 0 }
    Value: { description: A value of SQLite; one member., type: object, minProperties: 1, maxProperties: 1, additionalProperties: false, properties: { "null": { type: boolean, enum: [true] }, integer: { type: integer }, text: { type: string }, blob: { type: string, pattern: "^([0-9a-f]{2})*$" } } }
    Fork: { description: "A replica under which two files made changes, and the last of these that both have.", type: object, required: [replica, common], properties: { replica: { type: string }, common: { type: integer } } }
    Forks: { type: object, required: [forks], properties: { forks: { type: array, items: { $ref: "#/components/schemas/Fork" } } } }
    Download: { type: object, required: [download, byteCount, rowCount], properties: { download: { description: "Its name, hexadecimal digits; 00 when content is there, and nothing waits.", type: string }, content: { description: "All of it in base64, up to 64 KiB; absent when it is larger.", type: string }, byteCount: { description: "How many bytes it has. While it is still being made, a guess by the number of rows, which is far off where rows differ much in size: for a progress bar only.", type: integer }, rowCount: { type: integer }, isOpen: { description: "Whether it is still being made: it ends with the first answer that has no bytes.", type: boolean } } }
    Upload:
      type: object
      required: [bundle, firstMissingChunk, isComplete, isKnown]
      properties:
        bundle: { description: "As in the path of uploads, 64 hexadecimal digits.", type: string }
        firstMissingChunk: { description: "The number of the first chunk that is not there; chunks beyond it may be.", type: integer }
        isComplete: { description: "Whether all chunks and the end are there, or nothing is needed.", type: boolean }
        isKnown: { description: "Whether the store knows all that the bundle brings, by this bundle or by others: nothing needs to be sent. Then there need not be an application.", type: boolean }
        application: { $ref: "#/components/schemas/Application" }
    Application: { description: "What was done. For devices with some rows of tables, parkedCount and unparkedCount are 0.", type: object, required: [rowCount, conflictCount, parkedCount, unparkedCount, skewMilliseconds], properties: { sharedConflictCount: { description: "Those of conflictCount that the device has found, too: edits that lost against a deletion of its, and that it knew when it sent the bundle. Older servers do not say.", type: integer } }, additionalProperties: { type: integer } }
    Problem: { description: "type is urn:cipherstore:problem: and remote:, sync: or wire: with the name of the error, which title repeats; detail is for people.", type: object, required: [type, title, status, detail], properties: { type: { type: string }, title: { type: string }, status: { type: integer }, detail: { type: string }, rows: { description: "Where rows of a bundle are not taken: these rows, as the body of /repairs, in base64.", type: string } } }
  responses:
    Problem: { description: A failure (RFC 9457)., content: { application/problem+json: { schema: { $ref: "#/components/schemas/Problem" } } } }

"""##
}
